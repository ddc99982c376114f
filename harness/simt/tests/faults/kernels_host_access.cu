// SPDX-License-Identifier: Apache-2.0
// Launchers whose host code uses device memory, and their right twins; host_access_test.cpp says
// which. `data` holds 0, 1, 2 ...; each right one leaves 100 more in data[0].
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#ifndef __CUDACC_EXTENDED_LAMBDA__
#include <cublas_v2.h>
#endif
#include <cuda_runtime.h>
#include <thrust/copy.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>

#include "harness/simt/tests/launcher.hpp"

namespace {

__global__ void add(float* data, float value) { data[0] += value; }
__global__ void put(float* to, float value) { to[0] = value; }
__device__ float a_symbol;
__global__ void add_the_symbol(float* data) { data[0] += a_symbol; }

/// Memory of `cudaMalloc` that a kernel has written.
struct Workspace {
    float* data = nullptr;
    explicit Workspace(float value) {
        cudaMalloc(&data, 6 * sizeof(float));
        put<<<1, 1>>>(data, value);
        cudaDeviceSynchronize();
    }
    ~Workspace() { cudaFree(data); }
};

float first_of(const float* data) {
    float first = 0.0f;
    cudaMemcpy(&first, data, sizeof first, cudaMemcpyDeviceToHost);
    return first;
}

void add_pointed_to(void* data) { *static_cast<float*>(data) += 100.0f; }

}  // namespace

// ---- wrong

LAUNCHER(branch_on_an_input) { add<<<1, 1>>>(call.data, call.data[1] > 0 ? 100.0f : 50.0f); }
LAUNCHER(write_an_output) {
    add<<<1, 1>>>(call.data, 50.0f);
    cudaDeviceSynchronize();
    call.data[0] += 50.0f;
}
LAUNCHER(accumulate) {
    const float sum = std::accumulate(call.data, call.data + call.count, 0.0f);
    add<<<1, 1>>>(call.data, 100.0f + sum - sum);
}
LAUNCHER(copy_by_memcpy) {
    std::vector<float> host(static_cast<std::size_t>(call.count));
    std::memcpy(host.data(), call.data, host.size() * sizeof(float));
    add<<<1, 1>>>(call.data, host[0] + 100.0f);
}
LAUNCHER(clear_by_memset) {
    add<<<1, 1>>>(call.data, 100.0f);
    std::memset(call.data, 0, sizeof(float));
}
LAUNCHER(loop_over_a_workspace) {
    const Workspace work(25.0f);
    for (int i = 1; i < 4; ++i) work.data[i] = work.data[i - 1];
    add<<<1, 1>>>(call.data, 4.0f * first_of(work.data + 3));
}
LAUNCHER(read_a_vectors_pointer) {
    const thrust::device_vector<float> values(4, 100.0f);
    const float* const raw = thrust::raw_pointer_cast(values.data());
    add<<<1, 1>>>(call.data, raw[2]);
}
LAUNCHER(use_in_a_host_function) {
    cudaLaunchHostFunc(call.stream, add_pointed_to, call.data);
    add<<<1, 1>>>(call.data, 0.0f);
}
LAUNCHER(write_new_memory) {
    float* work = nullptr;
    cudaMalloc(&work, sizeof(float));
    *work = 100.0f;
    add<<<1, 1>>>(call.data, first_of(work));
    cudaFree(work);
}

// ---- right

LAUNCHER(copy_the_input) { add<<<1, 1>>>(call.data, first_of(call.data + 1) > 0 ? 100.0f : 50.0f); }
LAUNCHER(copy_all_and_back) {
    std::vector<float> host(static_cast<std::size_t>(call.count));
    const std::size_t bytes = host.size() * sizeof(float);
    cudaMemcpy(host.data(), call.data, bytes, cudaMemcpyDeviceToHost);
    const float sum = std::accumulate(host.begin(), host.end(), 0.0f);
    host[0] += 100.0f + sum - sum;
    cudaMemcpy(call.data, host.data(), bytes, cudaMemcpyHostToDevice);
}
LAUNCHER(managed_memory) {
    float* both = nullptr;
    cudaMallocManaged(&both, 2 * sizeof(float));
    both[1] = 50.0f;
    put<<<1, 1>>>(both, 50.0f);
    cudaDeviceSynchronize();
    add<<<1, 1>>>(call.data, both[0] + both[1]);
    cudaFree(both);
}
LAUNCHER(pinned_memory) {
    float* pinned = nullptr;
    cudaMallocHost(&pinned, sizeof(float));
    const Workspace work(100.0f);
    cudaMemcpyAsync(pinned, work.data, sizeof(float), cudaMemcpyDeviceToHost, call.stream);
    cudaStreamSynchronize(call.stream);
    add<<<1, 1>>>(call.data, *pinned);
    cudaFreeHost(pinned);
}
LAUNCHER(mapped_memory) {
    float mapped[4] = {}, *of_device = nullptr;
    cudaHostRegister(mapped, sizeof mapped, cudaHostRegisterMapped);
    cudaHostGetDevicePointer(&of_device, mapped, 0);
    put<<<1, 1>>>(of_device, 100.0f);
    cudaDeviceSynchronize();
    add<<<1, 1>>>(call.data, mapped[0]);
    cudaHostUnregister(mapped);
}
LAUNCHER(sets_and_rows) {
    Workspace work(1.0f);
    cudaMemset(work.data, 0, 6 * sizeof(float));
    cudaMemcpy2D(work.data + 2, 8, call.data, 4, 4, 2, cudaMemcpyDeviceToDevice);
    add<<<1, 1>>>(call.data, 100.0f + first_of(work.data));
}
LAUNCHER(symbols) {
    const Workspace work(100.0f);
    cudaMemcpyToSymbol(a_symbol, work.data, sizeof(float), 0, cudaMemcpyDeviceToDevice);
    cudaMemcpyFromSymbol(work.data + 1, a_symbol, sizeof(float), 0, cudaMemcpyDeviceToDevice);
    add_the_symbol<<<1, 1>>>(call.data);
}
LAUNCHER(references_of_thrust) {
    thrust::device_vector<float> values(3, 1.0f);
    values[0] = 20.0f;
    const thrust::device_ptr<float> data(call.data), second = data + 1;
    const float one = *second;
    thrust::sort(values.begin(), values.end());
    std::vector<float> host(3);
    thrust::copy(values.begin(), values.end(), host.begin());
    add<<<1, 1>>>(call.data, values.back() + 78.0f + one + values[0] - host[1] +
                                 thrust::reduce(data + 1, data + 2));
}
// nvcc would want its library.
#ifndef __CUDACC_EXTENDED_LAMBDA__
LAUNCHER(products_of_cublas) {
    const Workspace factor(2.0f), product(0.0f);
    cublasHandle_t handle = nullptr;
    cublasCreate(&handle);
    const float alpha = 25.0f, beta = 0.0f, one = 1.0f;
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &alpha, factor.data, 1, factor.data, 1,
                &beta, product.data, 1);
    cublasSscal(handle, 1, &one, product.data, 1);
    cublasSaxpy(handle, 1, &one, product.data, 1, call.data, 1);
    float squared = 0.0f;
    cublasSdot(handle, 1, factor.data, 1, factor.data, 1, &squared);
    add<<<1, 1>>>(call.data, squared - 4.0f);
    cublasDestroy(handle);
}
#endif
LAUNCHER(memory_of_the_call_before) {
    static Workspace kept(100.0f);
    add<<<1, 1>>>(call.data, first_of(kept.data));
}
