// SPDX-License-Identifier: Apache-2.0
// Decides when a terminal's colours are used, and for which words.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gradverify {

/// Whether what is written there is shown in colour: on a terminal, unless NO_COLOR is set;
/// FORCE_COLOR wants it everywhere. Both count unless they are empty; NO_COLOR wins.
bool wants_colour(int descriptor);

/// Columns of the terminal that is written to there, 60 to 120 of them; nothing where there is
/// none.
std::optional<int> terminal_width(int descriptor);

/// The text with each of the words in bold red, where it stands for itself.
std::string with_alarms(std::string_view text);

}  // namespace gradverify
