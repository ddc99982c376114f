// SPDX-License-Identifier: Apache-2.0
// Decides how what can't be taken is refused, and how all that is wrong is collected.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace gradverify {

/// **Errors** std::invalid_argument, always, with this text.
template <class... Values>
[[noreturn]] void refuse(fmt::format_string<Values...> text, Values&&... values) {
    throw std::invalid_argument(fmt::format(text, std::forward<Values>(values)...));
}

using Mistakes = std::vector<std::string>;

template <class... Values>
void add(Mistakes& mistakes, fmt::format_string<Values...> text, Values&&... values) {
    mistakes.push_back(fmt::format(text, std::forward<Values>(values)...));
}

}  // namespace gradverify
