// SPDX-License-Identifier: Apache-2.0
#include "harness/report/files/html.hpp"

#include <stdexcept>

namespace gradverify {

namespace {

constexpr std::string_view place_of_results = "@RESULTS@";

/// JSON inside of a script element, which nothing in a text may end.
std::string embedded(const ordered_json& lines) {
    const std::string text = lines.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    std::string safe;
    safe.reserve(text.size());
    for (const char c : text)
        if (c == '<')
            safe += "\\u003c";
        else
            safe += c;
    return safe;
}

}  // namespace

std::string html_of(const std::vector<ordered_json>& lines) {
    std::string page(detail::report_page);
    const std::size_t place = page.find(place_of_results);
    if (place == std::string::npos) throw std::logic_error("the page has no place for results");
    ordered_json all = ordered_json::array();
    for (ordered_json line : lines) {
        line.erase("parts");
        line.erase("rows");
        all.push_back(std::move(line));
    }
    return page.replace(place, place_of_results.size(), embedded(all));
}

}  // namespace gradverify
