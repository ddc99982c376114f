// SPDX-License-Identifier: Apache-2.0
// Whether NVIDIA's compute-sanitizer watches this process. If it does, every buffer is an
// allocation of its own, so that the tool knows where each ends.
#pragma once

#include <cstdlib>

namespace gradverify {

/// Names the tool's log, in the environment of a process that runs under it.
inline constexpr const char* compute_sanitizer_log_variable = "GRADVERIFY_SANITIZER_LOG";

inline bool is_under_compute_sanitizer() {
    return std::getenv(compute_sanitizer_log_variable) != nullptr;
}

}  // namespace gradverify
