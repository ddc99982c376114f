// SPDX-License-Identifier: Apache-2.0
#include "harness/base/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

namespace gradverify {

namespace {

constexpr std::array<std::string_view, 3> alarms{"FAILED", "ERRORED", "VACUOUS"};
constexpr std::string_view red = "\033[1;31m", plain = "\033[0m";

bool is_set(const char* name) {
    const char* const value = std::getenv(name);
    return value && *value != '\0';
}

bool is_letter_at(std::string_view text, std::size_t at) {
    return at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
}

}  // namespace

bool wants_colour(int descriptor) {
    if (is_set("NO_COLOR")) return false;
    // As Node reads it, 0 wants none.
    if (is_set("FORCE_COLOR")) return std::string_view(std::getenv("FORCE_COLOR")) != "0";
    return isatty(descriptor) != 0;
}

std::optional<int> terminal_width(int descriptor) {
    winsize size{};
    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
    return std::clamp<int>(size.ws_col, 60, 120);
}

std::string with_alarms(std::string_view text) {
    std::string shown;
    for (std::size_t at = 0; at < text.size();) {
        std::string_view found;
        for (const std::string_view word : alarms)
            if (text.substr(at).starts_with(word) && !is_letter_at(text, at + word.size()) &&
                (at == 0 || !is_letter_at(text, at - 1)))
                found = word;
        if (found.empty()) {
            shown += text[at++];
            continue;
        }
        shown.append(red).append(found).append(plain);
        at += found.size();
    }
    return shown;
}

}  // namespace gradverify
