// SPDX-License-Identifier: Apache-2.0
#include "harness/base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <numeric>

namespace gradverify {

namespace {
int columns_of_text = 100;
}

template <class T>
static std::optional<T> parse_number(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// Insertions, deletions and replacements that turn one text into the other.
static std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
        }
    }
    return row.back();
}

std::string print_exactly(double value) {
    char buffer[32];
    const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
    return {buffer, result.ptr};
}

std::string print_rounded(double value) {
    const double size = std::abs(value);
    if (size >= 1e6 || (size > 0.0 && size < 1e-3)) return fmt::format("{:.3g}", value);
    const int whole = size >= 1.0 ? static_cast<int>(std::floor(std::log10(size))) + 1 : 0;
    const int small = size > 0.0 && size < 0.1 ? (size < 0.01 ? 2 : 1) : 0;
    return fmt::format("{:.{}f}", value, std::max(0, 3 - whole) + small);
}

std::string print_seconds(double seconds) {
    return seconds >= 99.5 ? fmt::format("{:.0f} s", seconds) : fmt::format("{:.2g} s", seconds);
}

std::string print_grouped(std::int64_t value) {
    std::string text = std::to_string(value);
    const std::size_t first_digit = value < 0 ? 1 : 0;
    for (std::size_t at = text.size(); at > first_digit + 3;) text.insert(at -= 3, ",");
    return text;
}

std::optional<double> parse_double(std::string_view text) { return parse_number<double>(text); }
std::optional<std::int64_t> parse_int(std::string_view text) {
    return parse_number<std::int64_t>(text);
}
std::optional<std::uint64_t> parse_uint(std::string_view text) {
    return parse_number<std::uint64_t>(text);
}

std::string joined(std::span<const std::string> words, std::string_view separator) {
    return fmt::format("{}", fmt::join(words, separator));
}

std::string joined_or_none(std::span<const std::string> words) {
    return words.empty() ? "none" : joined(words);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (;;) {
        const std::size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::string did_you_mean(std::string_view name, std::span<const std::string> names) {
    const std::size_t tolerated = std::max<std::size_t>(2, name.size() / 4);
    std::vector<std::pair<std::size_t, std::string>> close;
    for (const std::string& candidate : names) {
        std::string_view word = candidate;
        if (word.ends_with(".*") || word.ends_with("/*")) word.remove_suffix(2);
        if (const std::size_t distance = edit_distance(name, word); distance <= tolerated)
            close.emplace_back(distance, candidate);
    }
    if (close.empty()) return {};
    std::ranges::sort(close);
    std::vector<std::string> nearest;
    for (const auto& [distance, candidate] : close)
        if (nearest.size() < 3) nearest.push_back(candidate);
    return fmt::format("; did you mean {}?", fmt::join(nearest, " or "));
}

bool glob_matches(const std::string& pattern, const std::string& name) {
    return fnmatch(pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0;
}

std::string shell_quoted(std::string_view text) {
    // A single quote can't stand inside single quotes: close, escape, open again.
    return fmt::format("'{}'", fmt::join(split(text, '\''), "'\\''"));
}

std::string with_relative_paths(std::string text) {
    std::error_code error;
    const std::string here = std::filesystem::current_path(error).string() + "/";
    if (error || here.size() < 3) return text;
    for (std::size_t at = 0; (at = text.find(here, at)) != std::string::npos;) {
        const char before = at == 0 ? ' ' : text[at - 1];
        const bool begins = std::isalnum(static_cast<unsigned char>(before)) == 0 &&
                            std::string_view("/._-").find(before) == std::string_view::npos;
        if (begins)
            text.erase(at, here.size());
        else
            at += here.size();
    }
    return text;
}

int text_width() { return columns_of_text; }
void set_text_width(int columns) { columns_of_text = columns; }

std::string wrapped(std::string_view words, int indent, int width) {
    const auto left = static_cast<std::size_t>(indent);
    std::string text;
    std::size_t column = left;
    for (const std::string_view word : split(words, ' ')) {
        if (!text.empty()) {
            const bool fits = column + 1 + word.size() <= static_cast<std::size_t>(width);
            text += fits ? " " : "\n" + std::string(left, ' ');
            column = fits ? column + 1 : left;
        }
        text += word;
        column += word.size();
    }
    return text;
}

}  // namespace gradverify
