// SPDX-License-Identifier: Apache-2.0
// Sums over batch and image for each channel, as a PyTorch extension that does not know this
// project: an at::Tensor in, one out, dispatch over types, CUB, and a module for Python.
#include <torch/extension.h>

#include <ATen/AccumulateType.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <THC/THCAtomics.cuh>
#include <cub/block/block_reduce.cuh>

template <typename T>
using Images = at::PackedTensorAccessor32<T, 3, at::RestrictPtrTraits>;

constexpr int threads = 64;

// Where `waits` is false, a thread may begin the next image's reduction while thread 0 still reads.
template <typename scalar_t, bool waits>
__global__ void sum_channels(const Images<scalar_t> dy, scalar_t* __restrict__ db) {
    using acc_t = at::acc_type<scalar_t, true>;
    using Reduce = cub::BlockReduce<acc_t, threads>;
    __shared__ typename Reduce::TempStorage storage;
    acc_t total = 0;
    for (int image = 0; image < dy.size(0); ++image) {
        acc_t sum = 0;
        for (int i = threadIdx.x; i < dy.size(2); i += threads)
            sum += static_cast<acc_t>(dy[image][blockIdx.x][i]);
        total += Reduce(storage).Sum(sum);
        if (waits) __syncthreads();
    }
    if (threadIdx.x == 0) db[blockIdx.x] = static_cast<scalar_t>(total);
}

template <bool waits>
at::Tensor bias_gradient(const at::Tensor& dy) {
    TORCH_CHECK(dy.is_cuda() && dy.dim() == 4, "dy must be images on a device, not ", dy.sizes());
    const at::cuda::OptionalCUDAGuard guard(dy.device());
    const auto images = dy.contiguous().flatten(2);
    auto db = torch::empty({dy.size(1)}, dy.options());
    AT_DISPATCH_FLOATING_TYPES_AND2(
        at::ScalarType::Half, at::ScalarType::BFloat16, dy.scalar_type(), "bias_gradient", ([&] {
            sum_channels<scalar_t, waits>
                <<<db.numel(), threads, 0, at::cuda::getCurrentCUDAStream()>>>(
                    images.packed_accessor32<scalar_t, 3, at::RestrictPtrTraits>(),
                    db.data_ptr<scalar_t>());
        }));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return db;
}
template at::Tensor bias_gradient<true>(const at::Tensor& dy);
template at::Tensor bias_gradient<false>(const at::Tensor& dy);

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("bias_gradient", &bias_gradient<true>, "Gradient by a bias of channels", py::arg("dy"));
}
