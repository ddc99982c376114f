// SPDX-License-Identifier: Apache-2.0
// The version of this gradverify, as `--version` and the result files print it.
#pragma once

#include <string_view>

namespace gradverify {

/// That of the project in CMakeLists.txt.
extern const std::string_view version;

}  // namespace gradverify
