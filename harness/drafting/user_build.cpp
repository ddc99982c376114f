// SPDX-License-Identifier: Apache-2.0
#include "harness/drafting/user_build.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "harness/base/errors.hpp"
#include "harness/base/files.hpp"
#include "harness/base/random.hpp"
#include "harness/base/text.hpp"
#include "harness/drafting/signature.hpp"
#include "harness/report/export/sources.hpp"

namespace gradverify {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

bool is_apart(const std::string& file, const UserFiles& given) {
    return std::ranges::find(given.apart, file) != given.apart.end();
}

/// What a file includes, looked for as compilers do: beside it, then where they are told to.
std::vector<fs::path> included_by(const fs::path& file, const UserFiles& given) {
    std::vector<fs::path> folders{file.parent_path()}, found;
    folders.insert(folders.end(), given.includes.begin(), given.includes.end());
    const std::string text = read_file(file.string()).value_or("");
    for (const std::string_view line : split(text, '\n')) {
        const std::string included = included_in(line).value_or("");
        if (included.empty()) continue;
        const auto folder = std::ranges::find_if(folders, [&](const fs::path& one) {
            return fs::is_regular_file(one / included.substr(1));
        });
        if (folder != folders.end()) found.push_back(*folder / included.substr(1));
    }
    return found;
}

/// Whether one of the other files, of those that are kept apart or of the others, includes this
/// one, so that it is not built by itself.
bool is_included(const fs::path& file, const UserFiles& given, bool by_apart) {
    return std::ranges::any_of(given.files, [&](const fs::path& other) {
        return is_apart(other, given) == by_apart &&
               std::ranges::any_of(included_by(other, given), [&](const fs::path& included) {
                   return fs::equivalent(included, file);
               });
    });
}

/// The linker would say that each function is defined twice.
void refuse_two_that_include_one(const UserFiles& given) {
    std::map<fs::path, std::string> by;
    for (const std::string& file : given.files)
        for (const fs::path& included : included_by(file, given)) {
            if (!is_source(included)) continue;
            const auto [first, is_new] = by.try_emplace(fs::canonical(included), file);
            if (!is_new && first->second != file)
                throw UsageError(fmt::format(
                    "{} and {} both include {}, which would be defined twice: put their "
                    "registrations into one file, as `gradverify new` does with `--output {}`",
                    first->second, file, included.string(), first->second));
        }
}

/// Names the files, below the folders of those that are given, that define what a linker misses.
std::string where_defined(const UserFiles& given, const std::string& said) {
    constexpr std::string_view mark = "undefined reference to `";
    std::set<std::string> missed, folders, known(given.files.begin(), given.files.end());
    for (const std::string_view line : split(said, '\n'))
        if (const std::size_t at = line.find(mark); at != std::string_view::npos) {
            const std::string_view name = line.substr(at + mark.size());
            missed.emplace(name.substr(0, name.find_first_of("(<'")));
        }
    if (missed.empty()) return {};
    for (const fs::path file : given.files) folders.insert(file.parent_path());
    std::string text;
    for (const std::string& folder : folders)
        for (const std::string& file : source_files(folder.empty() ? "." : folder)) {
            if (!known.insert(file).second) continue;
            const std::string source = read_file(file).value_or("");
            for (const std::string& name : missed)
                if (const auto found = signature_of(source, name); found && found->is_defined)
                    text += fmt::format("{} is defined in {}: name that file, too\n", name, file);
        }
    return text;
}

/// Whether the file is one of a PyTorch extension, which an operator of the user's is not.
bool is_of_extension(const std::string& file) {
    return includes_torch(read_file(file).value_or(""));
}

/// What CMake takes as one argument, whatever is in it.
std::string bracketed(const std::string& text) { return "[==[" + text + "]==]"; }

void add_command(std::string& text, std::string_view command, const std::string& target,
                 const std::vector<std::string>& words) {
    if (words.empty()) return;
    text += fmt::format("{}({} PRIVATE", command, target);
    for (const std::string& word : words) text += "\n    " + bracketed(word);
    text += ")\n";
}

std::vector<std::string> absolute(std::vector<std::string> paths) {
    for (std::string& path : paths) path = fs::absolute(path).lexically_normal();
    return paths;
}

bool is_cuda(const std::string& file) { return file.ends_with(".cu"); }

bool registers(const std::string& file) {
    const std::string text = read_file(file).value_or("");
    return text.find("GRADVERIFY_KERNEL") != std::string::npos ||
           text.find("GRADVERIFY_OPERATOR") != std::string::npos;
}

std::string project_of(const UserFiles& given) {
    std::vector<std::string> files, apart, both;
    for (const std::string& file : given.files) {
        const bool is_included_there = is_included(file, given, false);
        if (!is_apart(file, given)) {
            if (!is_included_there) files.push_back(file);
        } else if (is_included_there) {
            throw UsageError(file +
                             " is kept apart, and another file includes it: declare its "
                             "launchers there instead");
        } else if (!is_included(file, given, true)) {
            apart.push_back(file);
        }
    }
    std::string text =
        "cmake_minimum_required(VERSION 3.25)\n"
        "project(user_files LANGUAGES CXX)\n"
        "find_package(gradverify REQUIRED)\n"
        "gradverify_add_executable(gradverify";
    const auto extension = std::stable_partition(
        files.begin(), files.end(), [](const std::string& file) { return !is_of_extension(file); });
    const auto add = [&](auto begin, auto end) {
        for (const std::string& file : absolute({begin, end})) text += "\n    " + bracketed(file);
    };
    add(files.begin(), extension);
    if (extension != files.end()) text += "\n    KERNELS";
    add(extension, files.end());
    const bool has_extension =
        extension != files.end() || std::ranges::any_of(apart, is_of_extension);
    if (!apart.empty()) text += "\n    APART";
    add(apart.begin(), apart.end());
    text += has_extension ? "\n    TORCH)\n" : ")\n";
    const std::string launchers = apart.empty() ? "gradverify" : "gradverify-launchers";
    std::set<std::string> targets{"gradverify", launchers};
    for (const std::string& target : targets) {
        add_command(text, "target_include_directories", target, absolute(given.includes));
        add_command(text, "target_compile_definitions", target, given.definitions);
    }
    // What launchers may need of files that a user vouches for.
    std::copy_if(files.begin(), extension, std::back_inserter(both),
                 [](const std::string& file) { return !is_cuda(file) && !registers(file); });
    if (launchers != "gradverify") add_command(text, "target_sources", launchers, absolute(both));
    std::vector<std::string> libraries = given.libraries;
    for (std::string& library : libraries)
        if (fs::exists(library)) library = fs::absolute(library);
    add_command(text, "target_link_libraries", launchers, libraries);
    return text;
}

fs::path made_folder(const fs::path& folder) {
    std::error_code wrong;
    fs::create_directories(folder, wrong);
    if (wrong)
        throw EnvironmentError("can't make the folder " + folder.string() + ": " + wrong.message());
    return folder;
}

/// Of a folder, which is made. Its file's time tells when the folder was used last.
class Lock {
  public:
    explicit Lock(const fs::path& folder) {
        const fs::path file = folder / "lock";
        struct stat status{};
        do {
            made_folder(folder);
            if (fd_ >= 0) ::close(fd_);
            fd_ = ::open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
            if (fd_ < 0) refuse_write(file);
            ::flock(fd_, LOCK_EX);
            // Another process may have removed it meanwhile, with the folder.
        } while (::fstat(fd_, &status) == 0 && status.st_nlink == 0);
        ::futimens(fd_, nullptr);
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    ~Lock() { ::close(fd_); }

  private:
    int fd_ = -1;
};

/// Removes those builds that were used longest ago, but for what is or may still be in use.
void remove_old_builds(const fs::path& cache) {
    constexpr std::size_t builds_kept = 20;
    const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
    std::set<std::pair<fs::file_time_type, fs::path>> builds;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(cache))
        if (const auto used = fs::last_write_time(entry.path() / "lock", ignored);
            !ignored && fs::exists(entry.path() / "build"))
            builds.emplace(used, entry.path());
    for (; builds.size() > builds_kept && builds.begin()->first < old;
         builds.erase(builds.begin())) {
        const fs::path& oldest = builds.begin()->second;
        const int lock = ::open((oldest / "lock").c_str(), O_RDWR | O_CLOEXEC);
        if (lock >= 0 && ::flock(lock, LOCK_EX | LOCK_NB) == 0) fs::remove_all(oldest, ignored);
        if (lock >= 0) ::close(lock);
    }
}

std::string command_of(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += shell_quoted(word) + ' ';
    return text;
}

/// Runs a command, gives each line that it prints to `take`, and returns whether it succeeded.
template <class Take>
bool run(const std::vector<std::string>& words, const Take& take) {
    std::fflush(nullptr);
    std::FILE* const pipe = ::popen((command_of(words) + "2>&1 </dev/null").c_str(), "r");
    if (!pipe) throw EnvironmentError("can't run " + words.front());
    char* line = nullptr;
    std::size_t room = 0;
    for (ssize_t length; (length = ::getline(&line, &room, pipe)) > 0;) {
        std::string_view text(line, static_cast<std::size_t>(length));
        if (text.ends_with('\n')) text.remove_suffix(1);
        take(text);
    }
    std::free(line);
    return ::pclose(pipe) == 0;
}

/// What a command that must succeed prints, where it does not.
void run_or_throw(const std::vector<std::string>& words, const std::string& what) {
    std::string said;
    if (!run(words, [&](std::string_view line) { said += std::string(line) + '\n'; }))
        throw EnvironmentError(what + ":\n" + said);
}

/// The folder of the package's CMake files. A build tree has none: it is installed beside.
fs::path package_folder() {
    std::error_code wrong;
    const fs::path program = fs::read_symlink("/proc/self/exe", wrong);
    const fs::path folder = program.parent_path();
    fs::path prefix = folder;
    if (fs::exists(folder / "gradverify-config.cmake") && fs::exists(folder / "CMakeCache.txt")) {
        prefix = cache_folder() / fmt::format("package-{:016x}", mix_seed(0, folder.string()));
        const Lock lock(prefix);
        const fs::path installed = prefix / "bin" / program.filename();
        if (!fs::exists(installed) || fs::last_write_time(installed) < fs::last_write_time(program))
            run_or_throw({"cmake", "--install", folder, "--prefix", prefix},
                         "can't install the package that files are built with");
        prefix /= "bin";
    }
    fs::path package = (prefix / GRADVERIFY_PACKAGE_FROM_BIN).lexically_normal();
    if (!fs::exists(package / "gradverify-config.cmake"))
        throw EnvironmentError(
            "files are built with gradverify's CMake package, and there is none in " +
            package.string() + ": install gradverify as a whole");
    return package;
}

bool has_program(const std::string& name) {
    return run({"sh", "-c", "command -v " + name}, [](std::string_view) {});
}

/// The compiler would only say that the word is not declared.
void require_filled_in(const UserFiles& given) {
    for (const std::string& file : given.files) {
        const std::string text = read_file(file).value_or("");
        const auto left = registers(file) ? placeholder_in(text) : std::nullopt;
        if (left)
            throw UsageError(
                fmt::format("{}:{}: {} is yet to be filled in: it stands for what "
                            "`gradverify new` could not match",
                            file, left->line, left->word));
    }
}

/// Shows on a terminal how far the build is, and keeps what the compiler says.
class BuildOutput {
  public:
    void operator()(std::string_view line) {
        if (is_progress(line)) {
            show(line);
        } else if (is_of_the_tool(line)) {
            keep();
        } else {
            saying_ += std::string(line) + '\n';
        }
    }
    /// What the compiler said, once where it said the same of a file for several devices.
    const std::string& said() const { return said_; }
    void end() {
        keep();
        if (is_terminal_ && has_shown_) std::fputs("\r\033[K", stderr);
    }

  private:
    /// `[3/9] Building gradverify's /home/u/their.cu for cpu`
    static bool is_progress(std::string_view line) {
        const auto end = line.find(']');
        return line.starts_with('[') && end != std::string_view::npos &&
               line.substr(0, end).find_first_not_of("[/ 0123456789%") == std::string_view::npos;
    }
    /// The words of ninja and make about a command that failed, beside which its own stand.
    bool is_of_the_tool(std::string_view line) {
        const bool is_command = std::exchange(is_command_, line.starts_with("FAILED: "));
        return is_command || is_command_ || line.starts_with("ninja: ") ||
               line.starts_with("gmake") || line.starts_with("make[") ||
               line.starts_with("make:") ||
               line.starts_with("Consolidate compiler generated dependencies");
    }
    void keep() {
        // Each device has a folder of its own for the headers that files begin with.
        std::string same;
        for (const std::string_view line : split(saying_, '\n'))
            if (line.find("/gradverify_prefix/") == std::string_view::npos)
                same += std::string(line) + '\n';
        if (known_.insert(std::move(same)).second) said_ += saying_;
        saying_.clear();
    }
    void show(std::string_view line) {
        keep();
        if (is_terminal_) {
            std::fprintf(stderr, "\r\033[K%.*s", std::min(79, static_cast<int>(line.size())),
                         line.data());
        } else if (!has_shown_) {
            std::fputs("gradverify: building the files\n", stderr);
        }
        has_shown_ = true;
    }

    std::string said_, saying_;
    std::set<std::string> known_;
    bool is_terminal_ = ::isatty(STDERR_FILENO) != 0, has_shown_ = false, is_command_ = false;
};

}  // namespace

fs::path cache_folder() {
    const auto set = [](const char* name) {
        const char* value = std::getenv(name);
        return fs::path(value && *value ? value : "");
    };
    // A relative one is to be ignored, as the XDG Base Directory Specification has it.
    if (const fs::path cache = set("XDG_CACHE_HOME"); cache.is_absolute())
        return cache / "gradverify";
    if (const fs::path home = set("HOME"); !home.empty()) return home / ".cache" / "gradverify";
    throw EnvironmentError("there is no folder for what is kept: set HOME or XDG_CACHE_HOME");
}

void keep_launchers_apart(UserFiles& files) {
    if (!files.apart.empty() || std::ranges::none_of(files.files, registers)) return;
    std::ranges::copy_if(files.files, std::back_inserter(files.apart), [](const auto& file) {
        return !registers(file) && (is_cuda(file) || is_of_extension(file));
    });
    // What the others include is theirs.
    const UserFiles all = files;
    std::erase_if(files.apart, [&](const auto& file) { return is_included(file, all, false); });
}

BuildError::BuildError(std::string compiler_said)
    : UsageError("the files can't be built" +
                 (compiler_said.empty() ? " in the time that is given" : '\n' + compiler_said)),
      said(std::move(compiler_said)) {
    // A linker says what it misses, and then that it has had an error.
    constexpr std::string_view mark = "error: ", missed = "undefined reference";
    for (const std::string_view line : split(said, '\n')) {
        const std::size_t at = std::min(line.find(mark), line.find(missed));
        if (at == std::string_view::npos) continue;
        first = line.substr(line.substr(at).starts_with(mark) ? at + mark.size() : at);
        // `their.cu:7:29: ` and `their.cu(7): `
        const std::string_view place = line.substr(0, at);
        const std::size_t begin = place.find_first_of(":(");
        const std::size_t end = place.find_first_not_of("0123456789", begin + 1);
        if (begin != std::string_view::npos && end > begin + 1)
            source = fmt::format("{}:{}", place.substr(0, begin),
                                 place.substr(begin + 1, end - begin - 1));
        return;
    }
}

std::string program_over(const UserFiles& given, const std::string& device,
                         std::optional<double> seconds) {
    require_filled_in(given);
    refuse_two_that_include_one(given);
    for (const char* const tool : {"cmake", "c++"})
        if (!has_program(tool))
            throw EnvironmentError(
                fmt::format("files are built by CMake and a C++ compiler, and there "
                            "is no {} here",
                            tool));
    const fs::path package = package_folder();
    const std::string project = project_of(given);
    std::vector<std::string> configure{"-DCMAKE_BUILD_TYPE=Release",
                                       "-Dgradverify_DIR=" + package.string()};
    if (device == "cpu") configure.emplace_back("-DGRADVERIFY_CUDA=OFF");
    if (device == "cuda") configure.emplace_back("-DGRADVERIFY_CPU=OFF");
    if (has_program("ninja")) configure.insert(configure.end(), {"-G", "Ninja"});
    const fs::path folder =
        cache_folder() / fmt::format("{}-{:016x}", fs::path(given.files.front()).stem().string(),
                                     mix_seed(0, project + command_of(configure)));
    const Lock lock(folder);
    remove_old_builds(cache_folder());
    const fs::path build = folder / "build";
    if (!fs::exists(build / "CMakeCache.txt") || read_file(folder / "CMakeLists.txt") != project) {
        write_file(folder / "CMakeLists.txt", project);
        std::vector<std::string> words{"cmake", "-S", folder, "-B", build};
        words.insert(words.end(), configure.begin(), configure.end());
        run_or_throw(words, "CMake can't prepare the build");
    }
    BuildOutput output;
    std::vector<std::string> command{
        "env", "GRADVERIFY_FILES_OF_CHECK=1", "cmake", "--build", build, "--parallel"};
    // It ends the compilers as well.
    if (seconds)
        command.insert(command.begin(), {"timeout", "-k", "1", fmt::format("{:.3f}", *seconds)});
    const auto end = Clock::now() + std::chrono::duration<double>(seconds.value_or(0.0));
    const bool is_built = run(command, [&](std::string_view line) { output(line); });
    output.end();
    if (!is_built)
        throw BuildError(seconds && Clock::now() >= end
                             ? ""
                             : output.said() + where_defined(given, output.said()));
    std::fputs(output.said().c_str(), stderr);
    return build / "gradverify";
}

}  // namespace gradverify
