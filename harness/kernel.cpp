// SPDX-License-Identifier: Apache-2.0
// What kernel files call: their registration, and the tensors of a pass by name.
#include "harness/kernel.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/base/refuse.hpp"
#include "harness/pass.hpp"
#include "harness/registry/registry.hpp"

namespace gradverify::detail {

KernelDeclaration& add_kernel(const Registration& registration) {
    return Registry::instance().add(KernelDeclaration{.operator_name = registration.operator_name,
                                                      .pass_name = registration.pass_name,
                                                      .variant = registration.variant,
                                                      .device = registration.device,
                                                      .file = registration.file,
                                                      .line = registration.line,
                                                      .unit_flags = registration.unit_flags,
                                                      .thunk = registration.thunk});
}

std::size_t position_of(const PassCall& call, std::string_view operator_name,
                        std::string_view pass_name, std::string_view tensor) {
    const auto found = std::ranges::find(call.names, tensor);
    if (found != call.names.end()) return static_cast<std::size_t>(found - call.names.begin());
    refuse("the pass {}.{} has no tensor '{}'; it has {}", operator_name, pass_name, tensor,
           fmt::join(call.names, " "));
}

}  // namespace gradverify::detail
