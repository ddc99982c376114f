// SPDX-License-Identifier: Apache-2.0
// Headers of libraries that run on cuda only: a file that includes them runs, up to a call.
#ifndef __NVCC__  // a GPU's machine may lack some of the libraries, and calls them
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cudaTypedefs.h>
#include <cudnn.h>
#include <curand.h>
#include <curand_kernel.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/random.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>
#include <cub/cub.cuh>
#include <cub/device/device_scan.cuh>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>

#include "harness/simt/tests/launcher.hpp"

// What real files have at their beginning.
static cublasLtHandle_t lt;
static cudnnTensorDescriptor_t tensor;
static curandGenerator_t generator;
static thrust::device_vector<float> vector;
static cub::CachingDeviceAllocator allocator(true);
static void check(cudnnStatus_t status) {
    if (status != CUDNN_STATUS_SUCCESS) std::exit(EXIT_FAILURE);
}
#define CHECK_LT(CALL) \
    if (const cublasStatus_t status = (CALL); status != CUBLAS_STATUS_SUCCESS) std::exit(1)

__global__ void twice_declared(float* data) { data[threadIdx.x] *= 2.0f; }
LAUNCHER(only_includes) {
    cudnnHandle_t handle;
    CHECK_LT(cublasLtCreate(&lt));
    check(cudnnCreate(&handle));
    check(cudnnSetStream(handle, call.stream));
    const thrust::host_vector<float> on_host(4, 1.0f);
    float* const data = thrust::raw_pointer_cast(thrust::device_pointer_cast(call.data));
    if (vector.empty() && on_host.size() == 4) twice_declared<<<1, call.count>>>(data);
    check(cudnnDestroy(handle));
    CHECK_LT(cublasLtDestroy(lt));
}
LAUNCHER(calls_cublas_lt) {
    const float one = 1.0f;
#line 101 "declared.cu"
    CHECK_LT(cublasLtMatmul(lt, nullptr, &one, call.data, nullptr, call.data, nullptr, &one,
                            call.data, nullptr, call.data, nullptr, nullptr, nullptr, 0,
                            call.stream));
}
LAUNCHER(calls_cudnn) {
#line 111 "declared.cu"
    check(cudnnCreateTensorDescriptor(&tensor));
}
LAUNCHER(calls_curand) {
#line 121 "declared.cu"
    if (curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT) != CURAND_STATUS_SUCCESS)
        std::exit(1);
}
LAUNCHER(calls_cub) {
    void* storage = nullptr;
    std::size_t bytes;
    if (allocator.DeviceAllocate(&storage, 4) != cudaSuccess ||
        allocator.DeviceFree(storage) != cudaSuccess)
        std::exit(1);
#line 141 "declared.cu"
    cub::DeviceHistogram::HistogramEven(storage, bytes, call.data, call.data, call.count);
}
LAUNCHER(calls_thrust) {
    const thrust::device_ptr<float> begin(call.data);
#line 161 "declared.cu"
    thrust::exclusive_scan_by_key(thrust::cuda::par.on(call.stream), begin, begin + call.count,
                                  begin, begin);
}
__global__ void arrive_at_cluster(float* data) {
#line 171 "declared.cu"
    cuda::ptx::barrier_cluster_arrive(cuda::ptx::sem_release);
    data[0] = 1.0f;
}
LAUNCHER(calls_libcudacxx) { arrive_at_cluster<<<1, 32>>>(call.data); }
LAUNCHER(calls_driver) {
    void* load = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSuccess;
#line 181 "declared.cu"
    cudaGetDriverEntryPoint("cuModuleLoadData", &load, cudaEnableDefault, &found);
    if (found != cudaDriverEntryPointSuccess) throw std::runtime_error("not found");
}
#endif
