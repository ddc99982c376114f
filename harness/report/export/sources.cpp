// SPDX-License-Identifier: Apache-2.0
#include "harness/report/export/sources.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>

#include "harness/base/errors.hpp"
#include "harness/base/files.hpp"
#include "harness/base/text.hpp"

namespace gradverify {

namespace {

namespace fs = std::filesystem;

/// With what a unit was compiled; see gradverify_write_unit_flags.
struct UnitFlags {
    std::vector<fs::path> sources, includes;
    std::vector<std::string> definitions;

    explicit UnitFlags(const std::string& text) {
        for (const std::string_view line : split(text, '\n')) {
            const std::string value(line.substr(std::min(line.find(' ') + 1, line.size())));
            if (line.starts_with("source ")) sources.emplace_back(value);
            if (line.starts_with("definition ")) definitions.push_back(value);
            // The compiler looks there anyway.
            const bool is_systems = value == "/usr/include" || value == "/usr/local/include";
            if (line.starts_with("include ") && !is_systems &&
                std::ranges::find(includes, fs::path(value)) == includes.end())
                includes.emplace_back(value);
        }
    }
};

bool is_within(const fs::path& path, const fs::path& folder) {
    const fs::path rest = path.lexically_relative(folder);
    return !rest.empty() && *rest.begin() != "..";
}

/// Files, and the folders through which they are found.
class Closure {
  public:
    explicit Closure(const UnitFlags& flags) : flags_(flags) {}

    void add(const fs::path& file) {
        const fs::path path = file.lexically_normal();
        if (texts_.contains(path)) return;
        const auto text = read_file(path);
        if (!text) throw EnvironmentError("can't read " + path.string());
        texts_.emplace(path, *text);
        for (const std::string_view line : split(*text, '\n'))
            if (const auto name = included_in(line))
                add_included(path, name->substr(1), name->starts_with('"'));
    }

    const std::map<fs::path, std::string>& texts() const { return texts_; }
    const std::set<fs::path>& folders() const { return folders_; }
    /// The folder of gradverify's headers.
    const fs::path& own() const { return own_; }

  private:
    void add_included(const fs::path& from, const std::string& name, bool is_quoted) {
        if (is_quoted && fs::is_regular_file(from.parent_path() / name))
            return add(from.parent_path() / name);
        for (const fs::path& folder : flags_.includes) {
            if (!fs::is_regular_file(folder / name)) continue;
            folders_.insert(folder.lexically_normal());
            if (name == "harness/kernel.hpp") own_ = folder.lexically_normal();
            return add(folder / name);
        }
    }

    const UnitFlags& flags_;
    std::map<fs::path, std::string> texts_;
    std::set<fs::path> folders_;
    fs::path own_;
};

/// The folder that holds all of these, without those in `own`.
fs::path common_folder(const Closure& closure) {
    std::optional<fs::path> common;
    const auto widen = [&](const fs::path& folder) {
        if (is_within(folder, closure.own())) return;
        if (!common) common = folder;
        while (!is_within(folder, *common) && common->has_relative_path())
            common = common->parent_path();
    };
    for (const auto& [path, text] : closure.texts()) widen(path.parent_path());
    for (const fs::path& folder : closure.folders()) widen(folder);
    return common.value_or(fs::path());
}

}  // namespace

std::optional<std::string> included_in(std::string_view line) {
    const auto skip_blanks = [&] {
        line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    };
    const auto skip = [&](std::string_view word) {
        skip_blanks();
        if (!line.starts_with(word)) return false;
        line.remove_prefix(word.size());
        return true;
    };
    if (!skip("#") || !skip("include")) return std::nullopt;
    skip_blanks();
    if (!line.starts_with('"') && !line.starts_with('<')) return std::nullopt;
    const std::size_t end = line.find(line.front() == '"' ? '"' : '>', 1);
    if (end == std::string_view::npos) return std::nullopt;
    return std::string(line.substr(0, end));
}

SourceFolder sources_of(const KernelDeclaration& kernel) {
    const auto flags_text = read_file(kernel.unit_flags);
    if (kernel.unit_flags.empty() || !flags_text)
        throw EnvironmentError(kernel.full_name() + " was not built on this machine: it has no " +
                               (kernel.unit_flags.empty() ? "record of it" : kernel.unit_flags));
    const UnitFlags flags(*flags_text);
    Closure closure(flags);
    std::vector<fs::path> sources;
    for (const fs::path& source : flags.sources) {
        const auto text = read_file(source);
        const bool is_kernels = source == kernel.file;
        if (!is_kernels && text && text->find("GRADVERIFY_KERNEL") != std::string::npos) continue;
        closure.add(source);
        sources.push_back(source.lexically_normal());
    }
    const fs::path common = common_folder(closure);
    const auto place_of = [&](const fs::path& path) {
        const bool is_own = is_within(path, closure.own());
        const fs::path rest = path.lexically_relative(is_own ? closure.own() : common);
        std::string place =
            ((is_own ? "gradverify" : "kernel") / rest).lexically_normal().generic_string();
        if (place.ends_with('/')) place.pop_back();
        return place;
    };
    SourceFolder folder{.definitions = flags.definitions};
    for (const auto& [path, text] : closure.texts()) folder.texts.emplace(place_of(path), text);
    for (const fs::path& source : sources) folder.sources.push_back(place_of(source));
    for (const fs::path& include : flags.includes)
        if (closure.folders().contains(include.lexically_normal()))
            folder.includes.push_back(place_of(include.lexically_normal()));
    return folder;
}

}  // namespace gradverify
