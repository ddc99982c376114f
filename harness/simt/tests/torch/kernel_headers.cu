// SPDX-License-Identifier: Apache-2.0
// What PyTorch's headers for kernels have, and that no other header has it. On the device cuda they
// are PyTorch's own.
#include "harness/simt/tests/construct.hpp"

#include <torch/extension.h>

#ifdef CUDA_KERNEL_LOOP
#error Files define CUDA_KERNEL_LOOP themselves.
#endif
template <class T>
concept AddsAtomically = requires(T* to, T value) { atomicAdd(to, value); };
static_assert(AddsAtomically<float> && !AddsAtomically<at::Half>);

#include <ATen/cuda/detail/KernelUtils.h>
#include <ATen/cuda/Atomic.cuh>
#include <ATen/cuda/NumericLimits.cuh>
#include <ATen/cuda/detail/IndexUtils.cuh>
#include <ATen/native/cuda/block_reduce.cuh>
#define CUB_WRAPPED_NAMESPACE theirs
#include <cub/cub.cuh>

__global__ void sums_kernel(at::Half* added, int* sums) {
    using namespace at::native::cuda_utils;
    __shared__ int of_warps[3];
    const int rank = Block2D::Tid();
    gpuAtomicAdd(added, at::Half(2.0f));
    const int sum = BlockReduceSum<int, Block2D>(rank, of_warps);
    const int of_warp = WarpReduceSum(rank);
    if (rank == 0) sums[0] = sum;
    if (rank == 32) sums[1] = of_warp;
}
__global__ void wrapped_kernel(int* squares, int* sums) {
    using Reduce = theirs::cub::BlockReduce<int, 64>;
    __shared__ typename Reduce::TempStorage storage;
    __shared__ int of_warps[2];
    CUDA_KERNEL_LOOP(i, 100) { squares[i] = i * i; }
    const int sum = Reduce(storage).Sum(int(threadIdx.x));
    using at::native::cuda_utils::BlockReduceSum;
    const int ours = BlockReduceSum(2, of_warps) - BlockReduceSum(1, of_warps);
    if (threadIdx.x == 0) sums[2] = sum, sums[3] = ours;
}
CONSTRUCT(torch_helpers_of_kernels) {
    Array<at::Half> added(1);
    Array<int> squares(100), sums(4);
    sums_kernel<<<1, dim3(32, 3)>>>(added, sums);
    wrapped_kernel<<<1, 64>>>(squares, sums);
    report.holds("an atomic sum", float(added.host()[0]) == 192.0f);
    report.equal("a loop", squares.host(), [](int i) { return i * i; });
    report.holds("blocks", at::cuda::detail::GET_BLOCKS(1024) == 1 &&
                               at::cuda::detail::GET_BLOCKS(1025) == 2);
    report.equal("0 + ... + 95, 32 + ... + 63, 0 + ... + 63, 64 of 2 less 64", sums.host(),
                 {4560, 1520, 2016, 64});
    using Half = at::numeric_limits<at::Half>;
    report.equal("bounds", std::vector<float>{Half::lowest(), Half::max(), Half::upper_bound()},
                 {-65504, 65504, INFINITY});
    report.holds("of whole numbers", at::numeric_limits<std::int8_t>::lower_bound() == -128);
}

template <int dims>
__global__ void offsets_kernel(at::cuda::detail::TensorInfo<float, unsigned> info, int* offsets) {
    using Offset = at::cuda::detail::IndexToOffset<float, unsigned, dims>;
    offsets[threadIdx.x] = int(Offset::get(threadIdx.x, info));
}
CONSTRUCT(torch_tensor_info) {
    namespace detail = at::cuda::detail;
    const at::Tensor x = torch::zeros({2, 3, 4}, at::TensorOptions(at::kCUDA)), turned = x[0].t();
    Array<int> offsets(12), same(12);
    offsets_kernel<2><<<1, 12>>>(detail::getTensorInfo<float, unsigned>(turned), offsets);
    offsets_kernel<-1><<<1, 12>>>(detail::getTensorInfo<float, unsigned>(turned), same);
    report.equal("offsets", offsets.host(), {0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
    report.equal("of any rank", same.host(), offsets.host());
    const auto fits = [](std::int64_t stride) {
        const auto on_device = at::TensorOptions(at::kCUDA);
        return detail::canUse32BitIndexMath(at::from_blob(nullptr, {2}, {stride}, on_device));
    };
    report.holds("32 bits", fits((1ll << 31) - 2) && !fits((1ll << 31) - 1) &&
                                !detail::canUse32BitIndexMath(x, 24));
}
