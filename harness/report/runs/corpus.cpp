// SPDX-License-Identifier: Apache-2.0
#include "harness/report/runs/corpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "harness/base/errors.hpp"
#include "harness/base/files.hpp"
#include "harness/base/random.hpp"

namespace gradverify {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t seed_of_names = 0;

/// `conv.grad_weight_x-matches_reference-8c2f60b1.case`
std::string file_name_of(const Case& failing) {
    std::string name = failing.kernel + "-" + failing.property;
    std::ranges::replace_if(
        name,
        [](unsigned char c) { return !(std::isalnum(c) || c == '.' || c == '-' || c == '_'); },
        '_');
    return fmt::format("{}-{:016x}.case", name, mix_seed(seed_of_names, failing.print()));
}

std::string without_newlines(std::string text) {
    std::ranges::replace(text, '\n', ' ');
    return text;
}

}  // namespace

using WhyNot = std::function<std::optional<std::string>(const Case&)>;

Corpus::Corpus(std::string folder, const Registry& registry, const WhyNot& why_not)
    : folder_(std::move(folder)) {
    std::error_code wrong;
    if (!fs::exists(folder_, wrong)) return;
    std::vector<std::string> paths;
    for (fs::directory_iterator at(folder_, wrong); !wrong && at != fs::directory_iterator();
         at.increment(wrong))
        if (at->path().extension() == ".case") paths.push_back(at->path().string());
    if (wrong) throw UsageError("--corpus: can't read " + folder_ + ": " + wrong.message());
    std::ranges::sort(paths);
    for (const std::string& path : paths) read(path, registry, why_not);
}

void Corpus::read(const std::string& path, const Registry& registry, const WhyNot& why_not) {
    std::ifstream file(path);
    std::string printed;
    for (std::string line; std::getline(file, line);) {
        line.erase(line.find_last_not_of(" \t\r") + 1);
        if (!line.empty() && line.front() != '#') printed = line;
    }
    try {
        Case one = Case::parse(printed, registry);
        const Kernel& kernel = *registry.find_kernel(one.kernel);
        std::optional<std::string> why = kernel.why_unsupported(one.problem);
        if (!why) why = why_unsupported(kernel, one.setting);
        if (why) throw std::invalid_argument(one.kernel + " " + *why);
        if (why_not) why = why_not(one);
        if (why) throw std::invalid_argument(*why);
        one.setting.is_strict = false;  // as the run says
        cases_.push_back(std::move(one));
    } catch (const std::invalid_argument& wrong) {
        stale_.push_back(path + ": " + (printed.empty() ? "it holds no case" : wrong.what()));
    }
}

void Corpus::keep(const Case& found, const std::string& message) {
    Case failing = found;
    failing.setting.is_strict = false;
    const std::string path = folder_ + "/" + file_name_of(failing);
    std::error_code wrong;
    if (fs::exists(path, wrong)) return;
    fs::create_directories(folder_, wrong);
    // Under another name first: a full disk must leave no half of a case.
    const std::string begun = path + ".new";
    write_file(begun, "# " + without_newlines(message) + "\n" + failing.print() + "\n");
    fs::rename(begun, path, wrong);
    if (wrong) throw EnvironmentError("can't write " + path + ": " + wrong.message());
    ++kept_;
}

}  // namespace gradverify
