// SPDX-License-Identifier: Apache-2.0
// The launchers of the harness tests' .cu file by name, for the cpu device.
#pragma once

#include <map>
#include <string>

#include "harness/registry/kernel_declaration.hpp"

namespace gradverify::testing {

std::map<std::string, KernelDeclaration::Thunk>& launchers();

/// True, for a variable's initialiser.
bool add_launcher(const std::string& device, const std::string& name,
                  KernelDeclaration::Thunk thunk);

}  // namespace gradverify::testing
