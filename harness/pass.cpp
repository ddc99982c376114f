// SPDX-License-Identifier: Apache-2.0
#include "harness/pass.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace gradverify::detail {

std::size_t position_of(const PassCall& call, std::string_view operator_name,
                        std::string_view pass_name, std::string_view tensor) {
    const auto found = std::ranges::find(call.names, tensor);
    if (found != call.names.end()) return static_cast<std::size_t>(found - call.names.begin());
    std::string known;
    for (const std::string& one : call.names) known += " " + one;
    throw std::invalid_argument("the pass " + std::string(operator_name) + "." +
                                std::string(pass_name) + " has no tensor '" + std::string(tensor) +
                                "'; it has" + known);
}

}  // namespace gradverify::detail
