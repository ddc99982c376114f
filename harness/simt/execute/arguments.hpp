// SPDX-License-Identifier: Apache-2.0
// Whether the arguments of a launch point to the call's buffers, as far as their bytes show it.
#pragma once

#include <cstddef>

namespace gradverify::simt {

/// What a launch's threads run: a function object that holds the arguments, or refers to variables
/// of its caller that do.
struct LaunchBody {
    const void* begin;
    std::size_t bytes;

    /// A pointer that is reached by two steps of indirection, or lies in other memory, is not seen.
    bool points_to_buffers() const;
};

}  // namespace gradverify::simt
