// SPDX-License-Identifier: Apache-2.0
// Large tensors of the CUDA device: the harness's own kernels fill and compare them.
#include <cuda_runtime.h>

#include <algorithm>

#include "harness/base/cuda_check.hpp"
#include "harness/devices/large/large_memory.hpp"

namespace gradverify::detail {

namespace {

constexpr int threads = 256, blocks = 132 * 32;

/// The first is kept as its distance from the end, and the last plus one, so that 0 means none.
struct Found {
    unsigned long long count, from_end, last;
};

constexpr std::int64_t workers = std::int64_t{threads} * blocks;

template <class Work>
__global__ void fill_each(const __grid_constant__ Work work,
                          const __grid_constant__ Strands strands) {
    for (std::int64_t strand = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
         strand < strands.count; strand += workers)
        work.fill(strands, strand);
}

template <class Work>
__global__ void count_each(const __grid_constant__ Work work,
                           const __grid_constant__ Strands strands, Found* found) {
    unsigned long long count = 0, from_end = 0, last = 0;
    for (std::int64_t strand = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
         strand < strands.count; strand += workers)
        work.compare(strands, strand, [&](std::int64_t i) {
            ++count;
            from_end = max(from_end, static_cast<unsigned long long>(strands.elements - i));
            last = max(last, static_cast<unsigned long long>(i + 1));
        });
    if (count == 0) return;
    atomicAdd(&found->count, count);
    atomicMax(&found->from_end, from_end);
    atomicMax(&found->last, last);
}

class LargeCudaMemory final : public LargeMemory {
  public:
    std::size_t free_bytes() override {
        std::size_t free = 0, total = 0;
        GRADVERIFY_CUDA_CHECK(cudaMemGetInfo(&free, &total));
        return free;
    }
    std::byte* allocate(std::size_t bytes) override {
        void* memory = nullptr;
        const cudaError_t error = cudaMalloc(&memory, std::max<std::size_t>(bytes, 1));
        if (error == cudaErrorMemoryAllocation) {
            cudaGetLastError();
            return nullptr;
        }
        GRADVERIFY_CUDA_CHECK(error);
        return static_cast<std::byte*>(memory);
    }
    void release(std::byte* memory) override { cudaFree(memory); }
    void upload(std::byte* to, std::span<const std::byte> from) override {
        GRADVERIFY_CUDA_CHECK(cudaMemcpy(to, from.data(), from.size(), cudaMemcpyHostToDevice));
    }
    void download(const std::byte* from, std::span<std::byte> to) override {
        GRADVERIFY_CUDA_CHECK(cudaMemcpy(to.data(), from, to.size(), cudaMemcpyDeviceToHost));
    }
    void fill(const Content& content, std::int64_t elements) override {
        if (elements == 0) return;
        std::visit(
            [&](const auto& work) {
                fill_each<<<blocks, threads>>>(work, work.strands(elements, workers));
            },
            content);
        GRADVERIFY_CUDA_CHECK(cudaGetLastError());
        GRADVERIFY_CUDA_CHECK(cudaDeviceSynchronize());
    }
    Differences differences(const ComparedContent& content, std::int64_t elements) override {
        if (elements == 0) return {};
        Found* on_device = nullptr;
        GRADVERIFY_CUDA_CHECK(cudaMalloc(&on_device, sizeof(Found)));
        GRADVERIFY_CUDA_CHECK(cudaMemset(on_device, 0, sizeof(Found)));
        std::visit(
            [&](const auto& work) {
                count_each<<<blocks, threads>>>(work, work.strands(elements, workers), on_device);
            },
            content);
        GRADVERIFY_CUDA_CHECK(cudaGetLastError());
        Found found{};
        GRADVERIFY_CUDA_CHECK(cudaMemcpy(&found, on_device, sizeof found, cudaMemcpyDeviceToHost));
        GRADVERIFY_CUDA_CHECK(cudaFree(on_device));
        if (found.count == 0) return {};
        return {static_cast<std::int64_t>(found.count),
                elements - static_cast<std::int64_t>(found.from_end),
                static_cast<std::int64_t>(found.last) - 1};
    }
};

}  // namespace

std::unique_ptr<LargeMemory> make_large_cuda_memory() {
    return std::make_unique<LargeCudaMemory>();
}

}  // namespace gradverify::detail
