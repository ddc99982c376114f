// SPDX-License-Identifier: Apache-2.0
// The files that are the same in each exported reproducer; the build makes them of those here.
#pragma once

#include <string_view>

namespace gradverify {

extern const std::string_view standalone_cuh, standalone_py;

}  // namespace gradverify
