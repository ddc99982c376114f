// SPDX-License-Identifier: Apache-2.0
// Decides how a text that can't be read is refused.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace gradverify {

/// **Errors** std::invalid_argument, always, with this text.
template <class... Values>
[[noreturn]] void refuse(fmt::format_string<Values...> text, Values&&... values) {
    throw std::invalid_argument(fmt::format(text, std::forward<Values>(values)...));
}

}  // namespace gradverify
