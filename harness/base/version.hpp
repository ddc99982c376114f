// SPDX-License-Identifier: Apache-2.0
// The version of this gradverify, as `--version` and the result files print it. The build sets it.
#pragma once

#include <string_view>

#ifndef GRADVERIFY_VERSION
#define GRADVERIFY_VERSION "0.1.0"
#endif

namespace gradverify {

inline constexpr std::string_view version = GRADVERIFY_VERSION;

}  // namespace gradverify
