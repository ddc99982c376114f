// SPDX-License-Identifier: Apache-2.0
#include "harness/kernel.hpp"

#include <utility>

#include "harness/registry/registry.hpp"

namespace gradverify::detail {

KernelDeclaration& add_kernel(const Registration& registration) {
    KernelDeclaration declaration;
    declaration.operator_name = registration.operator_name;
    declaration.pass_name = registration.pass_name;
    declaration.variant = registration.variant;
    declaration.device = registration.device;
    declaration.file = registration.file;
    declaration.line = registration.line;
    declaration.thunk = registration.thunk;
    return Registry::instance().add(std::move(declaration));
}

}  // namespace gradverify::detail
