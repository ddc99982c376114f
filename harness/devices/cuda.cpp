// SPDX-License-Identifier: Apache-2.0
// The CUDA device. After a sticky error the device is lost for this process, and the worker ends.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <numeric>
#include <utility>
#include <vector>

#include "harness/base/cuda_check.hpp"
#include "harness/devices/call_note.hpp"
#include "harness/devices/cuda_apart_memory.hpp"
#include "harness/devices/cuda_driver.hpp"
#include "harness/devices/cuda_timer.hpp"
#include "harness/devices/device.hpp"
#include "harness/devices/large/large_memory.hpp"
#include "harness/devices/process_state.hpp"
#include "harness/devices/sanitized_process.hpp"

namespace gradverify::detail {

namespace {

class CudaDevice final : public Device {
  public:
    CudaDevice() { note_faults(); }
    ~CudaDevice() override {
        // The process ends, so errors of a lost device don't matter.
        for (const Block& region : regions_) cudaFree(region.data);
        for (const Block& block : host_) cudaFreeHost(block.data);
        for (const auto& lane : lanes_) {
            cudaStreamDestroy(lane.second.stream);
            cudaFreeHost(lane.second.told);
            cudaEventDestroy(lane.second.by_default);
        }
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

    CUstream_st* stream(bool own) override { return own ? lane_of(itself).stream : nullptr; }

    RunStatus run(const KernelDeclaration& kernel, const PassCall& call, const Setting&,
                  DelayedStream delayed) override {
        OwnedCall one{.kernel = kernel, .call = call, .setting = {}, .delayed = delayed};
        run(one, lane_of(itself));
        return std::move(one.status);
    }

    std::byte* own(int which, std::size_t bytes) override { return owned_[which].ending(bytes); }
    void pin(std::span<std::byte> memory) override {
        GRADVERIFY_CUDA_CHECK(
            cudaHostRegister(memory.data(), memory.size(), cudaHostRegisterDefault));
    }

    void run_owned(OwnedUnit& unit) override {
        const Lane& lane = lane_of(unit.client);
        upload_all(unit, lane);
        GRADVERIFY_CUDA_CHECK(cudaDeviceSynchronize());
        if (unit.before && !run(*unit.before, lane)) return;
        if (!run(unit.call, lane)) return;
        if (was_repeated(unit)) {
            turn_over(unit, lane);
            GRADVERIFY_CUDA_CHECK(cudaDeviceSynchronize());
            if (!run(*unit.again, lane)) return;
        }
        download_last(unit, lane);
        GRADVERIFY_CUDA_CHECK(cudaDeviceSynchronize());
    }

    // Where it can all be put on the client's stream at once, nothing orders it with what a
    // launcher puts on another stream than the one that it is given.
    void begin_owned(OwnedUnit& unit) override {
        Lane& lane = lane_of(unit.client);
        lane.stage = Stage::given;
        lane.start = Clock::now();
        upload_all(unit, lane);
        if (unit.is_pinned && unit.call.call.launch.stream)
            while (lane.stage != Stage::copied) go_on(unit, lane);
        tell(lane);
    }

    // Else the host waits for each step: copies from and to memory that is not pinned would keep
    // all others waiting for the call, and the default stream must not wait for a copy, since calls
    // on it are made one after the other.
    bool is_finished(OwnedUnit& unit) override {
        Lane& lane = lane_of(unit.client);
        if (!has_told(lane)) return false;
        if (lane.stage == Stage::copied) {
            unit.call.status.seconds =
                std::chrono::duration<double>(Clock::now() - lane.start).count();
            return true;
        }
        go_on(unit, lane);
        tell(lane);
        return false;
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
    using Clock = std::chrono::steady_clock;

    struct Block {
        void* data = nullptr;
        std::size_t bytes = 0;
    };

    /// What was put on a unit's stream last.
    enum class Stage { given, called_first, given_again, called, copied };

    /// The stream that calls are given, and what is put on it beside others' calls.
    struct Lane {
        cudaStream_t stream = nullptr;
        cudaEvent_t by_default = nullptr;
        /// The stage is over when the device has written the number there, in host memory. To look
        /// there takes a thousandth of what it takes to ask for an event.
        std::uint32_t* told = nullptr;
        std::uint32_t number = 0, looks = 0;
        Stage stage = Stage::copied;
        Clock::time_point start{};
    };

    static constexpr int itself = -1;

    /// A client's, or that of the calls that are this process's own.
    Lane& lane_of(int client) {
        Lane& lane = lanes_[client];
        if (lane.stream) return lane;
        GRADVERIFY_CUDA_CHECK(cudaEventCreateWithFlags(&lane.by_default, cudaEventDisableTiming));
        // A line of the cache to itself.
        void* line = nullptr;
        GRADVERIFY_CUDA_CHECK(cudaHostAlloc(&line, 64, cudaHostAllocMapped));
        lane.told = new (line) std::uint32_t(0);
        // Non-blocking: work that the launcher puts on the default stream is not ordered with it.
        GRADVERIFY_CUDA_CHECK(cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking));
        return lane;
    }

    static void tell(Lane& lane) {
        void* on_device = nullptr;
        GRADVERIFY_CUDA_CHECK(cudaHostGetDevicePointer(&on_device, lane.told, 0));
        static auto* const write =
            of_driver<decltype(cuStreamWriteValue32)>("cuStreamWriteValue32_v2");
        check_driver(write(lane.stream, reinterpret_cast<CUdeviceptr>(on_device), ++lane.number,
                           CU_STREAM_WRITE_VALUE_DEFAULT),
                     "cuStreamWriteValue32");
    }

    static bool has_told(Lane& lane) {
        if (std::atomic_ref(*lane.told).load(std::memory_order_acquire) == lane.number) return true;
        // A device that is lost tells nothing.
        constexpr std::uint32_t looks_between = 1000;
        if (++lane.looks % looks_between != 0) return false;
        const cudaError_t state = cudaStreamQuery(lane.stream);
        if (state != cudaErrorNotReady) GRADVERIFY_CUDA_CHECK(state);
        return false;
    }

    static void upload(const OwnedCall& call, cudaStream_t stream) {
        if (call.given)
            GRADVERIFY_CUDA_CHECK(cudaMemcpyAsync(call.memory, call.given, call.bytes,
                                                  cudaMemcpyHostToDevice, stream));
    }
    static void download(const OwnedCall& call, cudaStream_t stream) {
        GRADVERIFY_CUDA_CHECK(
            cudaMemcpyAsync(call.left, call.memory, call.bytes, cudaMemcpyDeviceToHost, stream));
    }

    /// Puts the next step there.
    void go_on(OwnedUnit& unit, Lane& lane) {
        switch (lane.stage) {
            case Stage::given:
                if (unit.before) launch_beside(*unit.before, lane);
                launch_beside(unit.call, lane);
                lane.stage = was_repeated(unit) ? Stage::called_first : Stage::called;
                break;
            case Stage::called_first:
                turn_over(unit, lane);
                lane.stage = Stage::given_again;
                break;
            case Stage::given_again:
                launch_beside(*unit.again, lane);
                lane.stage = Stage::called;
                break;
            case Stage::called:
                download_last(unit, lane);
                lane.stage = Stage::copied;
                break;
            case Stage::copied:
                break;
        }
    }

    static bool was_repeated(const OwnedUnit& unit) { return unit.again && unit.call.status.ok(); }

    static void upload_all(const OwnedUnit& unit, const Lane& lane) {
        if (unit.before) upload(*unit.before, lane.stream);
        upload(unit.call, lane.stream);
    }
    static void turn_over(const OwnedUnit& unit, const Lane& lane) {
        download(unit.call, lane.stream);
        upload(*unit.again, lane.stream);
    }
    static void download_last(const OwnedUnit& unit, const Lane& lane) {
        download(was_repeated(unit) ? *unit.again : unit.call, lane.stream);
    }

    /// One delay does for all calls that are made before half of it has gone.
    void delay_default_stream() {
        const auto now = Clock::now();
        if (default_busy_until_ - now > stream_delay / 2) return;
        delay_stream(nullptr);
        default_busy_until_ = std::max(now, default_busy_until_) + stream_delay;
    }

    /// Calls the launcher.
    void launch(OwnedCall& call, const Lane& lane) {
        cudaStream_t& given = call.call.launch.stream;
        if (given) given = lane.stream;
        if (call.delayed == DelayedStream::given) delay_stream(given);
        if (call.delayed == DelayedStream::default_stream) delay_default_stream();
        const ScopedProcessState state;
        const auto start = Clock::now();
        call.status.call(call.kernel, call.call);
        call.launcher_seconds = std::chrono::duration<double>(Clock::now() - start).count();
        if (const cudaError_t launched = cudaGetLastError(); launched != cudaSuccess)
            fail(call.status, launched);
    }

    /// An error that does not pass may be that of another's call; the copies behind it throw it.
    void launch_beside(OwnedCall& call, const Lane& lane) {
        launch(call, lane);
        if (call.call.launch.stream) return;
        GRADVERIFY_CUDA_CHECK(cudaEventRecord(lane.by_default, nullptr));
        GRADVERIFY_CUDA_CHECK(cudaStreamWaitEvent(lane.stream, lane.by_default, 0));
    }

    /// Calls the launcher and waits; false once the device was lost.
    bool run(OwnedCall& call, const Lane& lane) {
        const auto start = Clock::now();
        launch(call, lane);
        const cudaError_t finished = cudaDeviceSynchronize();
        const std::chrono::duration<double> taken = Clock::now() - start;
        call.status.seconds = taken.count();
        if (finished == cudaSuccess) return true;
        fail(call.status, finished);
        cudaGetLastError();
        call.status.device_lost = cudaDeviceSynchronize() != cudaSuccess;
        return !call.status.device_lost;
    }

    static void fail(RunStatus& status, cudaError_t error) {
        status.error = text_of(error);
        status.not_served = status.is_refusal = false;
    }

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
        std::byte* begin = block_.ending(total);
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
    ApartMemory block_;           ///< of all regions
    std::vector<Block> regions_;  ///< where they are apart
    std::vector<std::span<std::byte>> copied_;
    Block host_[2];
    std::map<int, ApartMemory> owned_;
    std::unique_ptr<LargeMemory> large_memory_;
    std::map<int, Lane> lanes_;
    Clock::time_point default_busy_until_{};  ///< by delays
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
