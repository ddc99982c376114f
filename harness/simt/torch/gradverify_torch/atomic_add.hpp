// SPDX-License-Identifier: Apache-2.0
// Atomic sums of PyTorch's numbers, which ATen/cuda/Atomic.cuh alone has.
#pragma once
#pragma GCC system_header

#include "gradverify_torch/numbers.hpp"

// Templates, beside which a file may have its own.
#define GRADVERIFY_TORCH_ATOMIC_OF_CUDA(T, OF_CUDA)                                       \
    template <class = void>                                                               \
    GRADVERIFY_SIMT_ACCESS T atomicAdd(T* address, T value) {                             \
        return static_cast<T>(                                                            \
            atomicAdd(reinterpret_cast<OF_CUDA*>(address), static_cast<OF_CUDA>(value))); \
    }
GRADVERIFY_TORCH_ATOMIC_OF_CUDA(c10::Half, __half)
GRADVERIFY_TORCH_ATOMIC_OF_CUDA(c10::BFloat16, __nv_bfloat16)
GRADVERIFY_TORCH_ATOMIC_OF_CUDA(std::int64_t, unsigned long long)
#undef GRADVERIFY_TORCH_ATOMIC_OF_CUDA
template <class T>
GRADVERIFY_SIMT_ACCESS c10::complex<T> atomicAdd(c10::complex<T>* address, c10::complex<T> value) {
    return {atomicAdd(&address->real_, value.real_), atomicAdd(&address->imag_, value.imag_)};
}
template <class T, class V>
GRADVERIFY_SIMT_ACCESS T gpuAtomicAdd(T* address, const V& value) {
    return atomicAdd(address, static_cast<T>(value));
}
template <class T, class V>
GRADVERIFY_SIMT_ACCESS void gpuAtomicAddNoReturn(T* address, const V& value) {
    atomicAdd(address, static_cast<T>(value));
}
