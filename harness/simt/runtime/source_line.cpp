// SPDX-License-Identifier: Apache-2.0
// libdw is loaded when first needed: without it, as on another machine, only the lines are missing.
#include "harness/simt/runtime/source_line.hpp"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gradverify::simt {
namespace {

// clang-format off
#define GRADVERIFY_SIMT_LIBDW_FUNCTIONS(F) \
    F(dwfl_begin) F(dwfl_report_begin) F(dwfl_report_end) F(dwfl_linux_proc_report) \
    F(dwfl_linux_proc_find_elf) F(dwfl_addrmodule) F(dwfl_module_addrdie) F(dwfl_module_nextcu) \
    F(dwarf_haspc) F(dwarf_getsrc_die) F(dwarf_linesrc) F(dwarf_lineno) F(dwarf_child) \
    F(dwarf_siblingof) F(dwarf_tag) F(dwarf_getsrcfiles) F(dwarf_filesrc) F(dwarf_attr) \
    F(dwarf_formudata)
// clang-format on

struct Libdw {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declared name
#define GRADVERIFY_SIMT_DECLARE(NAME) decltype(&::NAME) NAME = nullptr;
    GRADVERIFY_SIMT_LIBDW_FUNCTIONS(GRADVERIFY_SIMT_DECLARE)
#undef GRADVERIFY_SIMT_DECLARE

    bool load() {
        void* library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) return false;
        bool complete = true;
#define GRADVERIFY_SIMT_FIND(NAME)                                  \
    NAME = reinterpret_cast<decltype(NAME)>(dlsym(library, #NAME)); \
    complete = complete && (NAME) != nullptr;
        GRADVERIFY_SIMT_LIBDW_FUNCTIONS(GRADVERIFY_SIMT_FIND)
#undef GRADVERIFY_SIMT_FIND
        return complete;
    }
};

/// Debug information is not looked for in other files, as libdw would ask servers for it.
int no_other_file(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*,
                  GElf_Word, char**) {
    return -1;
}

struct Line {
    std::string file;
    int line = 0;
};

bool is_of_users(const Line& at) { return at.line > 0 && simt::is_of_users(at.file); }

class DebugInformation {
  public:
    DebugInformation() {
        if (!dw_.load()) return;
        callbacks_.find_elf = dw_.dwfl_linux_proc_find_elf;
        callbacks_.find_debuginfo = &no_other_file;
        dwfl_ = dw_.dwfl_begin(&callbacks_);
        if (dwfl_ == nullptr) return;
        dw_.dwfl_report_begin(dwfl_);
        const bool reported = dw_.dwfl_linux_proc_report(dwfl_, getpid()) == 0;
        if (dw_.dwfl_report_end(dwfl_, nullptr, nullptr) != 0 || !reported) dwfl_ = nullptr;
    }

    std::string find(Dwarf_Addr pc) const {
        if (dwfl_ == nullptr) return "";
        Dwarf_Addr bias = 0;
        Dwarf_Die* unit = unit_of(pc, bias);
        if (unit == nullptr) return "";
        Dwarf_Line* at = dw_.dwarf_getsrc_die(unit, pc - bias);
        Line innermost;
        const char* file = at != nullptr ? dw_.dwarf_linesrc(at, nullptr, nullptr) : nullptr;
        if (file == nullptr || dw_.dwarf_lineno(at, &innermost.line) != 0) return "";
        innermost.file = file;
        if (!is_of_users(innermost)) innermost = inlining_line(unit, pc - bias).value_or(Line{});
        return innermost.line > 0 ? short_place(innermost.file, innermost.line) : "";
    }

  private:
    Dwarf_Die* unit_of(Dwarf_Addr pc, Dwarf_Addr& bias) const {
        Dwfl_Module* module = dw_.dwfl_addrmodule(dwfl_, pc);
        if (module == nullptr) return nullptr;
        if (Dwarf_Die* unit = dw_.dwfl_module_addrdie(module, pc, &bias)) return unit;
        // clang writes no index from addresses to units.
        Dwarf_Die* unit = nullptr;
        while ((unit = dw_.dwfl_module_nextcu(module, unit, &bias)) != nullptr)
            if (dw_.dwarf_haspc(unit, pc - bias) > 0) return unit;
        return nullptr;
    }

    /// The innermost of the user's lines that inlined the code at `address`.
    std::optional<Line> inlining_line(Dwarf_Die* unit, Dwarf_Addr address) const {
        std::vector<Dwarf_Die> inlined;
        find_inlined(*unit, address, inlined);
        Dwarf_Files* files = nullptr;
        std::size_t file_count = 0;
        if (dw_.dwarf_getsrcfiles(unit, &files, &file_count) != 0) return {};
        for (auto scope = inlined.rbegin(); scope != inlined.rend(); ++scope) {
            const auto file = number(*scope, DW_AT_call_file);
            const auto line = number(*scope, DW_AT_call_line);
            if (!file || !line) continue;
            const char* name = dw_.dwarf_filesrc(files, *file, nullptr, nullptr);
            if (name == nullptr) continue;
            const Line at{name, static_cast<int>(*line)};
            if (is_of_users(at)) return at;
        }
        return {};
    }

    /// The inlined calls there, the outermost first. dwarf_getscopes does not look into namespaces.
    void find_inlined(Dwarf_Die& parent, Dwarf_Addr address, std::vector<Dwarf_Die>& found) const {
        Dwarf_Die child;
        if (dw_.dwarf_child(&parent, &child) != 0) return;
        do {
            const int tag = dw_.dwarf_tag(&child);
            const bool has_no_code =
                tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type;
            if (!has_no_code && dw_.dwarf_haspc(&child, address) <= 0) continue;
            if (tag == DW_TAG_inlined_subroutine) found.push_back(child);
            find_inlined(child, address, found);
            if (!has_no_code) return;
        } while (dw_.dwarf_siblingof(&child, &child) == 0);
    }

    std::optional<Dwarf_Word> number(Dwarf_Die& die, unsigned attribute) const {
        Dwarf_Attribute found;
        Dwarf_Word value = 0;
        if (dw_.dwarf_attr(&die, attribute, &found) == nullptr) return {};
        if (dw_.dwarf_formudata(&found, &value) != 0) return {};
        return value;
    }

    Libdw dw_;
    Dwfl_Callbacks callbacks_{};
    Dwfl* dwfl_ = nullptr;
};

}  // namespace

bool is_of_users(std::string_view file) {
    for (const std::string_view ours : {"include/", "libraries/", "torch/", "execute/"})
        if (file.find("/harness/simt/" + std::string(ours)) != std::string_view::npos) return false;
    return !file.starts_with("/usr/");
}

std::string short_place(const std::string& file, int line) {
    std::error_code error;
    const auto here = std::filesystem::current_path(error);
    auto path = std::filesystem::path(file).lexically_normal();
    const auto inside = error ? std::filesystem::path() : path.lexically_relative(here);
    if (!inside.empty() && *inside.begin() != "..") path = inside;
    return path.string() + ":" + std::to_string(line);
}

std::string source_of(const void* pc) {
    // Never destroyed: the process may report while it ends.
    static auto& mutex = *new std::mutex;
    static auto& known = *new std::unordered_map<const void*, std::string>;
    const std::scoped_lock lock(mutex);
    if (const auto found = known.find(pc); found != known.end()) return found->second;
    static const auto& information = *new DebugInformation;
    return known[pc] = information.find(reinterpret_cast<std::uintptr_t>(pc));
}

}  // namespace gradverify::simt
