// SPDX-License-Identifier: Apache-2.0
// Launches of the tests' kernels, with tensors and sizes as the call has them.
#pragma once

#include <type_traits>

#include "harness/kernel.hpp"
#include "harness/pass.hpp"
#include "kernels/grids.cuh"

namespace gradverify {

/// A kernel's argument: a tensor's elements, or a number in the type that the kernel takes.
template <class Taken, class Given>
Taken argument(const Given& given) {
    if constexpr (std::is_same_v<Given, TensorView>)
        return given.template as<std::remove_pointer_t<Taken>>();
    else
        return static_cast<Taken>(given);
}

template <class... Taken, class... Given>
void launch_blocks(const Launch& on, void (*kernel)(Taken...), dim3 blocks, dim3 block,
                   const Given&... arguments) {
    kernel<<<blocks, block, 0, on.stream>>>(argument<Taken>(arguments)...);
}

/// Begins to fill a tensor of floats with zeros.
inline void clear(const TensorView& tensor, const Launch& on) {
    cudaMemsetAsync(tensor.data, 0, static_cast<std::size_t>(tensor.elements()) * sizeof(float),
                    on.stream);
}

/// Calls a device function for each number below `count`, which is its first argument.
template <auto function, class Index, class... Taken>
__global__ void for_each_below(Index count, Taken... taken) {
    const Index i = static_cast<Index>(blockIdx.x) * static_cast<Index>(blockDim.x) +
                    static_cast<Index>(threadIdx.x);
    if (i < count) function(i, taken...);
}

template <auto function, class Index, class... Taken, class... Given>
void launch_each_of(std::type_identity<void (*)(Index, Taken...)>, const Launch& on,
                    long long count, const Given&... arguments) {
    launch_blocks(on, for_each_below<function, Index, Taken...>, blocks_of(count, 64), 64, count,
                  arguments...);
}
/// Launches a thread for each number below `count`, which calls a device function with it.
template <auto function, class... Given>
void launch_each(const Launch& on, long long count, const Given&... arguments) {
    launch_each_of<function>(std::type_identity<decltype(function)>{}, on, count, arguments...);
}

/// Calls a device function for each row of the first tensor with its number, its length and the
/// call's tensors of these names.
template <class Call, auto function, FixedText first, FixedText... others>
void launch_rows(const Call& call) {
    const TensorView tensor = call.tensor(first.text);
    const std::int64_t rows = tensor.size(0), length = rows == 0 ? 0 : tensor.elements() / rows;
    launch_each<function>(call.launch, rows, length, tensor, call.tensor(others.text)...);
}

}  // namespace gradverify
