// SPDX-License-Identifier: Apache-2.0
// Launchers that use streams well or badly; streams_test.cpp says which.
#include <functional>
#include <optional>

#include <cuda_runtime.h>

#include "harness/simt/tests/launcher.hpp"

namespace {

__global__ void first_half(float* data) { data[threadIdx.x] = 1.0f; }
__global__ void second_half(float* data) { data[threadIdx.x] += 1.0f; }
void first(const simt_test::Call& call, cudaStream_t stream) {
    first_half<<<1, call.count, 0, stream>>>(call.data);
}
void second(const simt_test::Call& call, cudaStream_t stream) {
    second_half<<<1, call.count, 0, stream>>>(call.data);
}
struct Pair {
    int unused;
    float* data;
};
__global__ void half_of_pair(Pair pair) { pair.data[threadIdx.x] = 1.0f; }
void first_of_pair(const simt_test::Call& call, cudaStream_t stream) {
    half_of_pair<<<1, call.count, 0, stream>>>(Pair{0, call.data});
}
template <class... Args>
void launch_pack(cudaStream_t stream, Args... args) {
    first_half<<<1, 4, 0, stream>>>(args...);
}
void first_by_pack(const simt_test::Call& call, cudaStream_t stream) {
    launch_pack(stream, call.data);
}
void first_by_pointers(const simt_test::Call& call, cudaStream_t stream) {
    float* data = call.data;
    void* args[] = {&data};
    cudaLaunchKernel((void*)first_half, dim3(1), dim3(call.count), args, 0, stream);
}
void first_by_configuration(const simt_test::Call& call, cudaStream_t stream) {
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(call.count);
    config.stream = stream;
    cudaLaunchKernelEx(&config, first_half, call.data);
}

struct OwnStream {
    cudaStream_t stream = nullptr;
    explicit OwnStream(unsigned flags = cudaStreamNonBlocking) {
        cudaStreamCreateWithFlags(&stream, flags);
    }
    ~OwnStream() { cudaStreamDestroy(stream); }
};

/// A launcher's steps are on the stream that it is given, on the default one, or on its own, which
/// is ordered with the default one where it is `blocking`.
enum On { given, by_default, own, blocking };
struct Running {
    const simt_test::Call& call;
    std::optional<OwnStream> own_stream{};

    cudaStream_t stream(On on) {
        if (on == given) return call.stream;
        if (on == by_default) return nullptr;
        if (!own_stream) own_stream.emplace(on == own ? cudaStreamNonBlocking : cudaStreamDefault);
        return own_stream->stream;
    }
};
using Step = std::function<void(Running&)>;

using Work = void (*)(const simt_test::Call& call, cudaStream_t stream);
Step put(Work work, On on) {
    return [=](Running& now) { work(now.call, now.stream(on)); };
}
Step wait_for(On on) {
    return [=](Running& now) { cudaStreamSynchronize(now.stream(on)); };
}
Step after(On second, On first) {
    return [=](Running& now) {
        cudaEvent_t done;
        cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
        cudaEventRecord(done, now.stream(first));
        cudaStreamWaitEvent(now.stream(second), done, 0);
        cudaEventDestroy(done);
    };
}
const Step clear = [](Running& now) {
    cudaMemset(now.call.data, 0, now.call.count * sizeof(float));
};
const Step wait_for_device = [](Running&) { cudaDeviceSynchronize(); };

}  // namespace

#define STEPS(NAME, ...)                                  \
    LAUNCHER(NAME) {                                      \
        Running now{call};                                \
        for (const Step& step : {__VA_ARGS__}) step(now); \
    }
STEPS(default_alone, clear, put(second, by_default))
STEPS(memset_then_given, clear, put(second, given))
STEPS(default_then_given, put(first, by_default), put(second, given))
STEPS(given_then_default, put(first, given), put(second, by_default))
STEPS(default_waited_for_then_given, put(first, by_default), wait_for(by_default),
      put(second, given))
STEPS(forked_and_joined, after(own, given), put(first, own), after(given, own), put(second, given))
STEPS(forked_and_not_joined, after(own, given), put(first, own))
STEPS(joined_and_not_forked, put(first, own), after(given, own))
STEPS(event_recorded_too_early, after(own, given), after(given, own), put(first, own))
STEPS(own_waited_for, put(first, own), wait_for(own))
STEPS(memset_waited_for_then_given, clear, wait_for(by_default), put(second, given))
STEPS(forked_and_waited_for, after(own, given), put(first, own), wait_for(own))
STEPS(given_waited_for_then_own, wait_for(given), wait_for(by_default), put(first, own),
      wait_for(own))
STEPS(own_blocking, put(first, blocking), put(second, by_default))
STEPS(own_blocking_then_given, put(first, blocking), put(second, given))
STEPS(device_waited_for, put(first, own), wait_for_device, put(second, given))

STEPS(structure_waited_for, put(first_of_pair, own), wait_for(own))
STEPS(pack_waited_for, put(first_by_pack, own), wait_for(own))
STEPS(launch_by_pointers_waited_for, put(first_by_pointers, own), wait_for(own))
STEPS(launch_ex_waited_for, put(first_by_configuration, own), wait_for(own))

LAUNCHER(given_alone) {
    cudaMemsetAsync(call.data, 0, call.count * sizeof(float), call.stream);
    second(call, call.stream);
}
LAUNCHER(no_work) {}
LAUNCHER(host_copy_then_given) {
    const float zero = 0.0f;
    cudaMemcpy(call.data, &zero, sizeof zero, cudaMemcpyHostToDevice);
    second(call, call.stream);
}
LAUNCHER(copy_on_the_device_then_given) {
    cudaMemcpy(call.data, call.data + 1, sizeof(float), cudaMemcpyDeviceToDevice);
    second(call, call.stream);
}
LAUNCHER(own_waited_for_by_event) {
    const OwnStream own;
    first(call, own.stream);
    cudaEvent_t done;
    cudaEventCreate(&done);
    cudaEventRecord(done, own.stream);
    while (cudaEventQuery(done) != cudaSuccess) {
    }
    cudaEventDestroy(done);
}
LAUNCHER(forked_and_asked_for) {
    const OwnStream own;
    first(call, call.stream);
    cudaStreamSynchronize(call.stream);
    second(call, own.stream);
    cudaStreamQuery(own.stream);
}
LAUNCHER(forked_and_asked_for_until_done) {
    const OwnStream own;
    first(call, call.stream);
    cudaStreamSynchronize(call.stream);
    second(call, own.stream);
    while (cudaStreamQuery(own.stream) == cudaErrorNotReady) {
    }
}
LAUNCHER(copy_to_the_host_then_given) {
    float first = 0.0f;
    cudaMemcpy(&first, call.data, sizeof first, cudaMemcpyDeviceToHost);
    second(call, call.stream);
}
LAUNCHER(rows_to_the_host_then_given) {
    float column[2];
    cudaMemcpy2D(column, sizeof(float), call.data, 2 * sizeof(float), sizeof(float), 2,
                 cudaMemcpyDeviceToHost);
    second(call, call.stream);
}
// Memory of the launcher's own.
LAUNCHER(scratch_waited_for) {
    const OwnStream own;
    float* scratch = nullptr;
    const float one = 1.0f;
    cudaMalloc(&scratch, call.count * sizeof(float));
    cudaMemset(scratch, 0, call.count * sizeof(float));
    cudaMemcpy(scratch, &one, sizeof one, cudaMemcpyHostToDevice);
    cudaStreamSynchronize(nullptr);
    first_half<<<1, call.count, 0, own.stream>>>(scratch);
    launch_pack(own.stream, scratch);
    cudaStreamSynchronize(own.stream);
    cudaMemcpyAsync(call.data, scratch, call.count * sizeof(float), cudaMemcpyDeviceToDevice,
                    call.stream);
    cudaFreeAsync(scratch, call.stream);
}
LAUNCHER(default_then_freed) {
    float* scratch = nullptr;
    cudaMallocAsync(&scratch, call.count * sizeof(float), call.stream);
    first_half<<<1, call.count>>>(scratch);
    cudaFreeAsync(scratch, call.stream);
}
LAUNCHER(no_stream_destroyed) { cudaStreamDestroy(nullptr); }
