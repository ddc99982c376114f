// SPDX-License-Identifier: Apache-2.0
#include "harness/pass.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

namespace gradverify::detail {

std::size_t position_of(const PassCall& call, std::string_view operator_name,
                        std::string_view pass_name, std::string_view tensor) {
    const auto found = std::ranges::find(call.names, tensor);
    if (found != call.names.end()) return static_cast<std::size_t>(found - call.names.begin());
    throw std::invalid_argument(fmt::format("the pass {}.{} has no tensor '{}'; it has {}",
                                            operator_name, pass_name, tensor,
                                            fmt::join(call.names, " ")));
}

}  // namespace gradverify::detail
