// SPDX-License-Identifier: Apache-2.0
// Small functions on text: numbers, lists for messages, names close to a misspelt one, globs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gradverify {

/// The shortest text that reads back to the same double.
std::string print_exactly(double value);
/// Nothing when the whole text is not one number.
std::optional<double> parse_double(std::string_view text);
std::optional<std::int64_t> parse_int(std::string_view text);
std::optional<std::uint64_t> parse_uint(std::string_view text);

/// Three digits that count: `3.14`, `412`, `0.0123`, `4.9e+10`.
std::string print_rounded(double value);
/// Seconds as a person says them: `0.04 s`, `12 s`.
std::string print_seconds(double seconds);
/// `1,234,567`
std::string print_grouped(std::int64_t value);

/// `a, b, c`
std::string joined(std::span<const std::string> words, std::string_view separator = ", ");
/// `a, b, c`; `none` when there are no words.
std::string joined_or_none(std::span<const std::string> words);
/// The parts between separators, empty ones included; one part when there is no separator.
std::vector<std::string_view> split(std::string_view text, char separator);

/// `; did you mean A or B?`, with at most three names, the closest first; or nothing. A pattern
/// such as `A.*` is as close as `A`.
std::string did_you_mean(std::string_view name, std::span<const std::string> names);

/// `*` is any text, dots and slashes included, `?` one character, `[ab]` one of these.
bool glob_matches(const std::string& pattern, const std::string& name);

/// The text as one word of a POSIX shell, in single quotes.
std::string shell_quoted(std::string_view text);

/// The text with its paths below the current directory relative to that, as those in reports are.
std::string with_relative_paths(std::string text);

/// Columns of a line of prose: 100, until a terminal has others.
int text_width();
void set_text_width(int columns);

/// Words in lines of at most `width` columns, indented; the first line has its blanks already.
std::string wrapped(std::string_view words, int indent, int width = text_width());

}  // namespace gradverify
