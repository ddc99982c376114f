// SPDX-License-Identifier: Apache-2.0
// Launches of the kernels that are there for the tests: tensors and sizes are given as the call has
// them.
#pragma once

#include <type_traits>

#include "harness/kernel.hpp"
#include "kernels/grids.cuh"

namespace gradverify {

/// What a kernel takes for an argument: a tensor's elements, or a number as one of its own type.
template <class Taken, class Given>
Taken argument(const Given& given) {
    if constexpr (std::is_same_v<Given, TensorView>)
        return given.template as<std::remove_pointer_t<Taken>>();
    else
        return static_cast<Taken>(given);
}

/// Launches a kernel in blocks of this size.
template <class... Taken, class... Given>
void launch_blocks(const Launch& on, void (*kernel)(Taken...), dim3 blocks, dim3 block,
                   const Given&... arguments) {
    kernel<<<blocks, block, 0, on.stream>>>(argument<Taken>(arguments)...);
}

/// Launches a kernel with so many threads, in blocks of 64.
template <class... Taken, class... Given>
void launch_threads(const Launch& on, void (*kernel)(Taken...), long long threads,
                    const Given&... arguments) {
    launch_blocks(on, kernel, blocks_of(threads, 64), 64, arguments...);
}

}  // namespace gradverify
