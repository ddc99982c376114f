// SPDX-License-Identifier: Apache-2.0
#include "harness/devices/cuda_timer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include "harness/base/cuda_check.hpp"
#include "harness/devices/device.hpp"

namespace gradverify::detail {

namespace {

using Clock = std::chrono::steady_clock;

// Within it clocks rise and the driver's caches fill.
constexpr double warm_up_seconds = 0.05;
// Events are exact to half a microsecond, so a sample of this length to a quarter of a per cent.
constexpr double sample_seconds = 200e-6;
// A launcher of one kernel makes about this many calls while the stream is held back.
constexpr std::int64_t calls_most = 50;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

using Event = std::unique_ptr<CUevent_st, decltype([](cudaEvent_t it) { cudaEventDestroy(it); })>;

Event make_event() {
    cudaEvent_t event = nullptr;
    GRADVERIFY_CUDA_CHECK(cudaEventCreate(&event));
    return Event(event);
}

using DeviceMemory = std::unique_ptr<std::byte, decltype([](std::byte* it) { cudaFree(it); })>;

DeviceMemory device_memory(std::size_t bytes) {
    void* data = nullptr;
    if (bytes > 0) GRADVERIFY_CUDA_CHECK(cudaMalloc(&data, bytes));
    return DeviceMemory(static_cast<std::byte*>(data));
}

/// Runs `work`, which launches on the stream, between two events; seconds.
double time_once(cudaStream_t stream, const std::function<void()>& work) {
    const Event start = make_event(), stop = make_event();
    // While the stream is held back the launches queue up, so the device is timed, not the host.
    delay_stream(stream);
    GRADVERIFY_CUDA_CHECK(cudaEventRecord(start.get(), stream));
    work();
    GRADVERIFY_CUDA_CHECK(cudaEventRecord(stop.get(), stream));
    GRADVERIFY_CUDA_CHECK(cudaEventSynchronize(stop.get()));
    float milliseconds = 0.0f;
    GRADVERIFY_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start.get(), stop.get()));
    return 1e-3 * milliseconds;
}

/// A call on one copy of the buffers.
struct MovedCall {
    MovedCall(const PassCall& original, std::ptrdiff_t by, cudaStream_t stream)
        : tensors(original.tensors.begin(), original.tensors.end()), call(original) {
        const auto moved = [by](void* data) { return static_cast<std::byte*>(data) + by; };
        for (TensorView& tensor : tensors) tensor.data = moved(tensor.data);
        if (call.launch.workspace) call.launch.workspace = moved(call.launch.workspace);
        call.tensors = tensors;
        call.launch.stream = stream;
    }
    // Not copied: a copy's call would have the original's tensors.
    MovedCall(MovedCall&&) noexcept = default;

    std::vector<TensorView> tensors;
    PassCall call;
};

struct LauncherFailed : std::runtime_error {
    explicit LauncherFailed(const RunStatus& its_status)
        : std::runtime_error(its_status.error), status(its_status) {}
    RunStatus status;
};

double free_memory() {
    std::size_t free_bytes = 0, total = 0;
    GRADVERIFY_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total));
    return static_cast<double>(free_bytes);
}

int attribute(cudaDeviceAttr asked) {
    int device = 0, value = 0;
    GRADVERIFY_CUDA_CHECK(cudaGetDevice(&device));
    GRADVERIFY_CUDA_CHECK(cudaDeviceGetAttribute(&value, asked, device));
    return value;
}

/// The calls of a timing, by turns on each copy of the buffers: launched, or replayed.
class Calls {
  public:
    Calls(const KernelDeclaration& kernel, const PassCall& call, std::span<std::byte> block,
          std::int64_t copies, bool graph)
        : kernel_(kernel),
          more_(device_memory(block.size() * static_cast<std::size_t>(copies - 1))) {
        // A blocking stream: what a launcher puts on the default stream can't escape a capture.
        if (graph) GRADVERIFY_CUDA_CHECK(cudaStreamCreate(&stream_));
        calls_.emplace_back(call, 0, stream_);
        for (std::int64_t i = 1; i < copies; ++i) {
            std::byte* copy = more_.get() + static_cast<std::size_t>(i - 1) * block.size();
            GRADVERIFY_CUDA_CHECK(
                cudaMemcpy(copy, block.data(), block.size(), cudaMemcpyDeviceToDevice));
            calls_.emplace_back(call, copy - block.data(), stream_);
        }
    }
    ~Calls() {
        for (const cudaGraphExec_t graph : graphs_) cudaGraphExecDestroy(graph);
        if (stream_) cudaStreamDestroy(stream_);
    }
    Calls(const Calls&) = delete;
    Calls& operator=(const Calls&) = delete;

    cudaStream_t stream() const { return stream_; }

    void launch() {
        if (graphs_.empty()) return launch(calls_[next()]);
        GRADVERIFY_CUDA_CHECK(cudaGraphLaunch(graphs_[next()], stream_));
    }

    /// To be called after a launch: what a launcher does at its first call may not be captured.
    void capture() {
        for (const MovedCall& call : calls_) graphs_.push_back(captured(call));
    }

    /// **Errors** std::runtime_error for a launch or an access that failed.
    void finish() const {
        const cudaError_t launched = cudaGetLastError();
        const cudaError_t finished = cudaDeviceSynchronize();
        for (const cudaError_t error : {finished, launched})
            if (error != cudaSuccess) throw std::runtime_error(text_of(error));
    }

  private:
    std::size_t next() { return next_++ % calls_.size(); }

    void launch(const MovedCall& moved) const {
        RunStatus status;
        status.call(kernel_, moved.call);
        if (!status.ok()) throw LauncherFailed(status);
    }

    cudaGraphExec_t captured(const MovedCall& moved) const {
        GRADVERIFY_CUDA_CHECK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
        RunStatus status;
        status.call(kernel_, moved.call);
        const cudaError_t launched = cudaGetLastError();
        cudaGraph_t graph = nullptr;
        const cudaError_t ended = cudaStreamEndCapture(stream_, &graph);
        cudaGetLastError();
        const cudaError_t error = launched != cudaSuccess ? launched : ended;
        if (error != cudaSuccess || !status.ok()) {
            if (graph) cudaGraphDestroy(graph);
            throw std::runtime_error(fmt::format(
                "can't be captured into a graph: the launcher may not allocate, wait or use "
                "another stream than the given one ({}{}{})",
                text_of(error), status.ok() ? "" : "; ", status.error));
        }
        std::size_t nodes = 0;
        GRADVERIFY_CUDA_CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
        if (nodes == 0)
            throw std::runtime_error(
                "can't be captured into a graph: nothing is launched on the given stream");
        cudaGraphExec_t ready = nullptr;
        GRADVERIFY_CUDA_CHECK(cudaGraphInstantiate(&ready, graph, 0));
        cudaGraphDestroy(graph);
        return ready;
    }

    const KernelDeclaration& kernel_;
    const DeviceMemory more_;
    cudaStream_t stream_ = nullptr;
    std::vector<MovedCall> calls_;
    std::vector<cudaGraphExec_t> graphs_;
    std::size_t next_ = 0;
};

void warm_up(Calls& calls) {
    const auto start = Clock::now();
    do {
        calls.launch();
        calls.finish();
    } while (seconds_since(start) < warm_up_seconds);
}

void take_samples(Calls& calls, const TimingOptions& options, Timing& timing) {
    const auto sample = [&](std::int64_t count) {
        const double seconds = time_once(calls.stream(), [&] {
            for (std::int64_t i = 0; i < count; ++i) calls.launch();
        });
        calls.finish();
        return seconds / static_cast<double>(count);
    };
    const double one = std::max(sample(1), 1e-7);
    timing.calls_per_sample =
        std::clamp<std::int64_t>(std::llround(sample_seconds / one), 1, calls_most);
    const auto start = Clock::now();
    while (wants_another_sample(options, timing.samples.size(), seconds_since(start)))
        timing.samples.push_back(sample(timing.calls_per_sample));
}

}  // namespace

Timing time_on_cuda(const KernelDeclaration& kernel, const PassCall& call,
                    std::span<std::byte> block, const TimingOptions& options) {
    Timing timing;
    try {
        const CopiesWanted wanted{
            .bytes = options.bytes,
            .cache_bytes = static_cast<double>(attribute(cudaDevAttrL2CacheSize)),
            .block_bytes = static_cast<double>(block.size()),
            .free_bytes = free_memory()};
        timing.copies = buffer_copies(wanted);
        timing.outgrows_cache = outgrows_cache(wanted, timing.copies);
        Calls calls(kernel, call, block, timing.copies, options.graph);
        calls.launch();
        calls.finish();
        if (options.graph) calls.capture();
        warm_up(calls);
        take_samples(calls, options, timing);
    } catch (const LauncherFailed& failed) {
        timing.error = failed.what();
        timing.not_served = failed.status.not_served;
        timing.is_refusal = failed.status.is_refusal;
    } catch (const std::exception& wrong) {
        timing.error = wrong.what();
    }
    if (!timing.error.empty()) {
        timing.samples.clear();
        cudaGetLastError();
        timing.device_lost = cudaDeviceSynchronize() != cudaSuccess;
    }
    return timing;
}

Ceilings measure_cuda_ceilings() {
    constexpr int samples = 20;
    const auto fastest = [](const std::function<void()>& work) {
        double seconds = time_once(nullptr, work);  // the first of a kernel also loads it
        for (int i = 0; i < samples; ++i) seconds = std::min(seconds, time_once(nullptr, work));
        GRADVERIFY_CUDA_CHECK(cudaGetLastError());
        return seconds;
    };
    int device = 0;
    cudaDeviceProp properties{};
    GRADVERIFY_CUDA_CHECK(cudaGetDevice(&device));
    GRADVERIFY_CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
    Ceilings ceilings{.device_name = properties.name,
                      .cache_bytes = static_cast<double>(properties.l2CacheSize)};
    const auto bytes = static_cast<std::size_t>(std::min(0x1p30, free_memory() / 4));
    const DeviceMemory from = device_memory(bytes), to = device_memory(bytes);
    // Memory that was never written may have no pages to read.
    GRADVERIFY_CUDA_CHECK(cudaMemset(from.get(), 1, bytes));
    const double copy = fastest([&] {
        GRADVERIFY_CUDA_CHECK(
            cudaMemcpyAsync(to.get(), from.get(), bytes, cudaMemcpyDeviceToDevice, nullptr));
    });
    ceilings.copy_bytes_per_second = 2.0 * static_cast<double>(bytes) / copy;
    for (const auto& [kernel, name] : {std::pair(CeilingKernel::f32_fma, ceiling_f32),
                                       std::pair(CeilingKernel::f64_fma, ceiling_f64),
                                       std::pair(CeilingKernel::f16_mma, ceiling_f16),
                                       std::pair(CeilingKernel::tf32_mma, ceiling_tf32)}) {
        double operations = 0.0;
        const double seconds = fastest([&, which = kernel] {
            operations =
                launch_ceiling_kernel(which, properties.multiProcessorCount, to.get(), nullptr);
        });
        if (operations > 0.0) ceilings.arithmetic.push_back({name, operations / seconds});
    }
    return ceilings;
}

}  // namespace gradverify::detail
