// SPDX-License-Identifier: Apache-2.0
// Decides how result lines become one HTML file, a page that draws itself from them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/checked_json.hpp"

namespace gradverify {

/// The page of lines as `check --json` writes them, and of notes: see `lines_of`.
std::string html_of(const std::vector<ordered_json>& lines);

namespace detail {
/// The page without results.
extern const std::string_view report_page;
}  // namespace detail

}  // namespace gradverify
