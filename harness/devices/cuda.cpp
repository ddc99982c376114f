// SPDX-License-Identifier: Apache-2.0
// The CUDA device. After a sticky error the device is lost for this process, and the worker ends.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <numeric>

#include "harness/base/cuda_check.hpp"
#include "harness/devices/compute_sanitizer.hpp"
#include "harness/devices/cuda_timer.hpp"
#include "harness/devices/device.hpp"
#include "harness/devices/large_memory.hpp"

namespace gradverify::detail {

namespace {

class CudaDevice final : public Device {
  public:
    ~CudaDevice() override {
        // The process ends, so errors of a lost device don't matter.
        cudaFree(block_.data);
        for (const Block& region : regions_) cudaFree(region.data);
        for (const Block& block : host_) cudaFreeHost(block.data);
        if (stream_) cudaStreamDestroy(stream_);
    }

    std::string_view name() const override { return "cuda"; }

    // compute-sanitizer sees an access beyond an allocation as the processor does beyond a page.
    bool has_unmapped_edges() const override { return regions_are_apart_; }

    std::vector<std::byte*> place(std::span<const std::size_t> region_bytes, Edge) override {
        return regions_are_apart_ ? place_apart(region_bytes) : place_in_one_block(region_bytes);
    }

    std::byte* host_memory(int which, std::size_t bytes) override {
        Block& block = host_[which];
        if (block.bytes < bytes) {
            GRADVERIFY_CUDA_CHECK(cudaFreeHost(block.data));
            block = {};
            GRADVERIFY_CUDA_CHECK(cudaMallocHost(&block.data, bytes));
            block.bytes = bytes;
        }
        return static_cast<std::byte*>(block.data);
    }

    void upload(const std::byte* host) override {
        for (const std::span<std::byte> part : copied_) {
            GRADVERIFY_CUDA_CHECK(
                cudaMemcpy(part.data(), host, part.size(), cudaMemcpyHostToDevice));
            host += part.size();
        }
    }
    void download(std::byte* host) override {
        for (const std::span<std::byte> part : copied_) {
            GRADVERIFY_CUDA_CHECK(
                cudaMemcpy(host, part.data(), part.size(), cudaMemcpyDeviceToHost));
            host += part.size();
        }
    }

    bool overlaps_streams() const override { return true; }

    CUstream_st* stream(bool own) override {
        if (!own) return nullptr;
        // Non-blocking: work that the launcher puts on the default stream is not ordered with it.
        if (!stream_)
            GRADVERIFY_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        return stream_;
    }

    RunStatus run(const KernelDeclaration& kernel, const PassCall& call, const Setting&,
                  DelayedStream delayed) override {
        if (delayed != DelayedStream::none)
            delay_stream(delayed == DelayedStream::given ? call.launch.stream : nullptr);
        RunStatus status;
        const auto start = std::chrono::steady_clock::now();
        status.call(kernel, call);
        const cudaError_t launched = cudaGetLastError();
        const cudaError_t finished = cudaDeviceSynchronize();
        status.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        if (launched != cudaSuccess || finished != cudaSuccess) {
            status.error = text_of(finished != cudaSuccess ? finished : launched);
            status.not_served = status.is_refusal = false;
        }
        if (finished != cudaSuccess) {
            cudaGetLastError();
            status.device_lost = cudaDeviceSynchronize() != cudaSuccess;
        }
        return status;
    }

    Timing time(const KernelDeclaration& kernel, const PassCall& call, const Setting&,
                const TimingOptions& options) override {
        if (regions_are_apart_) return {.error = "nothing is timed under compute-sanitizer"};
        return time_on_cuda(kernel, call, copied_.front(), options);
    }

    LargeMemory& large_memory() override {
        if (!large_memory_) large_memory_ = make_large_cuda_memory();
        return *large_memory_;
    }

    Ceilings measure_ceilings() override { return measure_cuda_ceilings(); }

  private:
    struct Block {
        void* data = nullptr;
        std::size_t bytes = 0;
    };

    static std::byte* exactly(Block& block, std::size_t bytes) {
        if (bytes != block.bytes) {
            GRADVERIFY_CUDA_CHECK(cudaFree(block.data));
            block = {};
            GRADVERIFY_CUDA_CHECK(cudaMalloc(&block.data, bytes));
            block.bytes = bytes;
        }
        return static_cast<std::byte*>(block.data);
    }

    /// In one block, a single copy does for all regions.
    std::vector<std::byte*> place_in_one_block(std::span<const std::size_t> region_bytes) {
        const std::size_t total =
            std::accumulate(region_bytes.begin(), region_bytes.end(), std::size_t{0});
        std::byte* begin = exactly(block_, std::max(total, block_.bytes));
        copied_ = {{begin, total}};
        std::vector<std::byte*> begins;
        for (const std::size_t bytes : region_bytes) {
            begins.push_back(begin);
            begin += bytes;
        }
        return begins;
    }

    std::vector<std::byte*> place_apart(std::span<const std::size_t> region_bytes) {
        regions_.resize(std::max(regions_.size(), region_bytes.size()));
        copied_.clear();
        std::vector<std::byte*> begins;
        for (std::size_t i = 0; i < region_bytes.size(); ++i) {
            begins.push_back(exactly(regions_[i], region_bytes[i]));
            copied_.push_back({begins.back(), region_bytes[i]});
        }
        return begins;
    }

    const bool regions_are_apart_ = is_under_compute_sanitizer();
    Block block_;                 ///< of all regions
    std::vector<Block> regions_;  ///< where they are apart
    std::vector<std::span<std::byte>> copied_;
    Block host_[2];
    std::unique_ptr<LargeMemory> large_memory_;
    cudaStream_t stream_ = nullptr;
};

}  // namespace

std::unique_ptr<Device> make_cuda_device() { return std::make_unique<CudaDevice>(); }

std::string why_no_cuda() {
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    // A device may be counted and yet give no context: it was lost, or is another's alone.
    if (error == cudaSuccess && count > 0) error = cudaFree(nullptr);
    if (error != cudaSuccess) {
        cudaGetLastError();
        return text_of(error);
    }
    return count > 0 ? std::string() : "this machine has no CUDA device";
}

}  // namespace gradverify::detail
