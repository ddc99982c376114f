// SPDX-License-Identifier: Apache-2.0
#include "harness/drafting/user_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <utility>

#include "harness/base/errors.hpp"
#include "harness/base/text.hpp"

namespace gradverify {

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> source_endings{".cu", ".cpp", ".cc", ".cxx"};
constexpr std::array<std::string_view, 5> building_verbs{"list", "check", "judge", "repro",
                                                         "bench"};
/// Takes its first file as it is, and operators from C++ files.
constexpr std::string_view drafting_verb = "new";

/// Those of the files that the command has built.
std::vector<std::string_view> endings_built_for(const std::vector<std::string>& words) {
    for (const std::string& word : words) {
        if (word == drafting_verb) return {".cpp", ".cc", ".cxx"};
        if (std::ranges::find(building_verbs, word) != building_verbs.end())
            return {source_endings.begin(), source_endings.end()};
    }
    return {};
}

/// The place of the file to draft for; behind the end for other verbs. All options have values.
std::size_t place_of_draft(const std::vector<std::string>& words) {
    std::size_t at =
        static_cast<std::size_t>(std::ranges::find(words, drafting_verb) - words.begin()) + 1;
    while (at < words.size() && words[at].starts_with("-"))
        at += words[at].find('=') == std::string::npos ? 2 : 1;
    return at;
}

}  // namespace

bool is_source(const fs::path& file) {
    return std::ranges::find(source_endings, file.extension().string()) != source_endings.end();
}

std::vector<std::string> source_files(const std::string& folder) {
    std::vector<std::string> files;
    std::error_code wrong;
    for (auto at = fs::recursive_directory_iterator(folder, wrong); at != fs::end(at);
         at.increment(wrong)) {
        const fs::path name = at->path().filename();
        if (name.string().starts_with('.') && at->is_directory()) at.disable_recursion_pending();
        if ((is_source(name) || name.extension() == ".cuh") && at->is_regular_file())
            files.push_back(at->path().lexically_normal());
    }
    std::ranges::sort(files);
    return files;
}

std::string UserFiles::print() const {
    std::vector<std::string> words;
    std::ranges::copy_if(files, std::back_inserter(words), [&](const std::string& file) {
        return std::ranges::find(apart, file) == apart.end();
    });
    const auto add = [&](const char* option, const std::vector<std::string>& values) {
        for (const std::string& value : values) words.insert(words.end(), {option, value});
    };
    add("--apart", apart);
    add("--include", includes);
    add("--define", definitions);
    add("--link", libraries);
    if (!device.empty()) add("--device", {device});
    for (std::string& word : words)
        if (word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                   "._-/=+,:@%") != std::string::npos)
            word = shell_quoted(word);
    return joined(words, " ");
}

CommandWords::CommandWords(std::vector<std::string> all) {
    const std::vector<std::string_view> endings = endings_built_for(all);
    const auto is_file_name = [&](const std::string& word) {
        return !word.starts_with('-') && std::ranges::any_of(endings, [&](std::string_view ending) {
            return word.ends_with(ending);
        });
    };
    if (std::ranges::none_of(all, is_file_name)) {
        rest = std::move(all);
        return;
    }
    const std::array<std::pair<std::string_view, std::vector<std::string>*>, 4> options{
        {{"--apart", &files.apart},
         {"--include", &files.includes},
         {"--define", &files.definitions},
         {"--link", &files.libraries}}};
    const auto add_file = [&](const std::string& file) {
        if (!fs::is_regular_file(file)) throw UsageError("there is no file " + file);
        if (std::ranges::find(files.files, file) == files.files.end()) files.files.push_back(file);
    };
    const std::size_t draft = place_of_draft(all);
    const std::string device_option = "--device";
    bool is_behind_verb = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::string& word = all[i];
        const auto option = std::ranges::find_if(options, [&](const auto& known) {
            return word == known.first || word.starts_with(std::string(known.first) + '=');
        });
        if (option != options.end()) {
            const bool is_apart = word == option->first;
            if (is_apart && i + 1 == all.size()) throw UsageError(word + " needs a value");
            option->second->push_back(is_apart ? all[++i] : word.substr(option->first.size() + 1));
            if (option->second == &files.apart) add_file(files.apart.back());
            if (option->second == &files.includes && i + 1 < all.size() &&
                fs::is_directory(all[i + 1]))
                throw UsageError("each folder has its own --include: --include " + all[i + 1]);
        } else if (is_file_name(word) && i != draft) {
            add_file(word);
        } else if (word == device_option && i + 1 < all.size()) {
            files.device = all[++i];
            // Behind the verb it is the command's as well.
            if (is_behind_verb) rest.insert(rest.end(), {word, files.device});
        } else {
            if (word.starts_with(device_option + "="))
                files.device = word.substr(device_option.size() + 1);
            is_behind_verb = is_behind_verb || word == drafting_verb ||
                             std::ranges::find(building_verbs, word) != building_verbs.end();
            rest.push_back(word);
        }
    }
    if (files.device == "auto" || files.device == "all") files.device.clear();
}

}  // namespace gradverify
