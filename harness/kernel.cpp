// SPDX-License-Identifier: Apache-2.0
#include "harness/kernel.hpp"

#include "harness/registry/registry.hpp"

namespace gradverify::detail {

KernelDeclaration& add_kernel(const Registration& registration) {
    return Registry::instance().add(KernelDeclaration{.operator_name = registration.operator_name,
                                                      .pass_name = registration.pass_name,
                                                      .variant = registration.variant,
                                                      .device = registration.device,
                                                      .file = registration.file,
                                                      .line = registration.line,
                                                      .thunk = registration.thunk});
}

}  // namespace gradverify::detail
