// SPDX-License-Identifier: Apache-2.0
// The CUDA run-time API of the CPU device: errors, memory, streams, events. All work is done before
// a call returns; streams.hpp tracks what orders it.
#include "gradverify_simt/runtime.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "harness/simt/runtime/buffers.hpp"
#include "harness/simt/runtime/errors.hpp"
#include "harness/simt/runtime/host_access.hpp"
#include "harness/simt/runtime/mapping.hpp"
#include "harness/simt/runtime/streams.hpp"

struct CUevent_st {
    std::chrono::steady_clock::time_point time;
    gradverify::simt::StreamClock done{};  ///< before the record
};

namespace gradverify::simt {
namespace {

cudaError_t refuse(cudaError_t error, const char* call, const char* why) {
    OfCall<Errors>()->fail(error, std::string(call) + ": " + why);
    return error;
}

/// Success where none of these bytes is an input's.
cudaError_t check_target(const char* call, const void* to, std::size_t bytes) {
    const NamedBuffer* const input = input_in(to, bytes);
    if (input == nullptr) return cudaSuccess;
    return refuse(
        cudaErrorInvalidValue, call,
        ("it writes to " + input->name + ", an input, which nothing may write to").c_str());
}

WorkName copy_name(const char* call, const void* to, const void* from, std::size_t bytes) {
    return {.call = call, .is_on_buffers = meets_buffer(to, bytes) || meets_buffer(from, bytes)};
}
cudaError_t allocate(void** pointer, std::size_t bytes, bool is_managed) {
    *pointer = bytes == 0 ? nullptr : allocate_device(bytes, is_managed);
    if (bytes != 0 && *pointer == nullptr) {
        return refuse(cudaErrorMemoryAllocation, "cudaMalloc", "out of memory");
    }
    OfCall<Streams>()->touch(*pointer, bytes, Touch::allocates);
    return cudaSuccess;
}
cudaError_t free_memory(void* pointer) {
    if (free_device(pointer)) return cudaSuccess;
    return refuse(cudaErrorInvalidValue, "cudaFree", "not a pointer that cudaMalloc gave");
}
cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
        return refuse(cudaErrorInvalidMemcpyDirection, "cudaMemcpy", "no such direction");
    }
    if (bytes == 0) return cudaSuccess;
    if (to == nullptr || from == nullptr) {
        return refuse(cudaErrorInvalidValue, "cudaMemcpy", "a null pointer");
    }
    const cudaError_t error = check_target("cudaMemcpy", to, bytes);
    if (error == cudaSuccess) std::memmove(to, from, bytes);
    return error;
}

/// Whether it is the host's and not pinned: a copy from there is staged before its call returns.
bool is_pageable(const void* memory, bool by_kind, cudaMemcpyKind kind) {
    const bool is_host = kind == cudaMemcpyDefault
                             ? find_device_memory(number(memory), number(memory) + 1).bytes == 0
                             : by_kind;
    return is_host && !is_pinned(memory);
}
bool is_pageable_source(const void* from, cudaMemcpyKind kind) {
    return is_pageable(from, kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost, kind);
}
bool is_pageable_target(const void* to, cudaMemcpyKind kind) {
    return is_pageable(to, kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost, kind);
}

/// Part of the work that was last enqueued.
cudaError_t copy_on_stream(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    const OfCall<Streams> streams;
    if (!is_pageable_source(from, kind)) streams->touch(from, bytes, Touch::reads);
    streams->touch(to, bytes, Touch::writes);
    return copy(to, from, bytes, kind);
}
/// The host waits for every copy to or from it that is not asynchronous.
void end_copy(cudaMemcpyKind kind) {
    OfCall<Streams>()->end_work();
    if (kind != cudaMemcpyDeviceToDevice) OfCall<Streams>()->wait_for(nullptr);
}
cudaError_t set(const char* call, void* to, int value, std::size_t bytes, cudaStream_t stream) {
    const OfCall<Streams> streams;
    streams->enqueue(stream, {.call = call, .is_on_buffers = meets_buffer(to, bytes)});
    streams->touch(to, bytes, Touch::writes);
    if (bytes != 0 && to == nullptr) {
        streams->end_work();
        return refuse(cudaErrorInvalidValue, "cudaMemset", "a null pointer");
    }
    const cudaError_t error = check_target(call, to, bytes);
    if (error == cudaSuccess && bytes != 0) std::memset(to, value, bytes);
    streams->end_work();
    return error;
}

struct ErrorText {
    cudaError_t error;
    const char* name;
    const char* text;
};
#define GRADVERIFY_SIMT_ERROR(NAME, NUMBER, TEXT) {NAME, #NAME, TEXT},
constexpr ErrorText error_texts[] = {GRADVERIFY_SIMT_ERRORS(GRADVERIFY_SIMT_ERROR)};
#undef GRADVERIFY_SIMT_ERROR

const ErrorText& text_of(cudaError_t error) {
    static constexpr ErrorText unknown = {cudaErrorUnknown, "unrecognized error code",
                                          "unrecognized error code"};
    const auto* found = std::ranges::find(error_texts, error, &ErrorText::error);
    return found == std::end(error_texts) ? unknown : *found;
}

}  // namespace
}  // namespace gradverify::simt

using namespace gradverify::simt;

const char* cudaGetErrorString(cudaError_t error) { return text_of(error).text; }
const char* cudaGetErrorName(cudaError_t error) { return text_of(error).name; }
cudaError_t cudaGetLastError() {
    return static_cast<cudaError_t>(OfCall<Errors>()->take_last_cuda_error());
}
cudaError_t cudaPeekAtLastError() {
    return static_cast<cudaError_t>(OfCall<Errors>()->last_cuda_error);
}
cudaError_t cudaDeviceSynchronize() {
    OfCall<Streams>()->wait_for_device();
    return cudaPeekAtLastError();
}
cudaError_t cudaDeviceReset() {
    OfCall<Streams>()->wait_for_device();
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    OfCall<Streams>()->wait_for(stream);
    return cudaPeekAtLastError();
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
    return OfCall<Streams>()->is_done(stream) ? cudaPeekAtLastError() : cudaErrorNotReady;
}

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
    return allocate(pointer, bytes, false);
}
cudaError_t gradverify_simt_malloc_managed(void** pointer, std::size_t bytes) {
    return allocate(pointer, bytes, true);
}
cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
    const cudaError_t error = cudaMalloc(pointer, bytes);
    if (error == cudaSuccess) OfCall<Streams>()->allocate(stream, *pointer, bytes);
    return error;
}
cudaError_t cudaMallocHost(void** pointer, std::size_t bytes, unsigned) {
    // As large a step as a tensor map's alignment, and cudaMalloc's; the driver's is a page.
    *pointer = std::aligned_alloc(256, round_up(bytes == 0 ? 1 : bytes, 256));
    if (*pointer == nullptr) {
        return refuse(cudaErrorMemoryAllocation, "cudaMallocHost", "out of memory");
    }
    pin(*pointer, bytes);
    return cudaSuccess;
}
// It waits for the device, as in CUDA's runtime.
cudaError_t cudaFree(void* pointer) {
    OfCall<Streams>()->wait_for_device();
    return free_memory(pointer);
}
cudaError_t cudaFreeHost(void* pointer) {
    cudaHostUnregister(pointer);
    std::free(pointer);
    return cudaSuccess;
}
cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned) {
    pin(pointer, bytes);
    return cudaSuccess;
}
cudaError_t cudaHostUnregister(void* pointer) {
    unpin(pointer);
    OfCall<Streams>()->forget_unpinned();
    return cudaSuccess;
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
    const OfCall<Streams> streams;
    streams->enqueue(stream, {.call = "cudaFreeAsync"});
    streams->touch(pointer, find_allocation(number(pointer), number(pointer) + 1).bytes,
                   Touch::frees);
    streams->end_work();
    return free_memory(pointer);
}
cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void* data) {
    OfCall<Streams>()->run_host_function(function, data);
    return cudaSuccess;
}

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
    if (width > to_pitch || width > from_pitch) {
        return refuse(cudaErrorInvalidPitchValue, "cudaMemcpy2D", "a row exceeds its pitch");
    }
    const std::size_t rows = height == 0 ? 0 : height - 1;
    const OfCall<Streams> streams;
    streams->enqueue(nullptr, {.call = "cudaMemcpy2D",
                               .is_on_buffers = meets_buffer(to, rows * to_pitch + width) ||
                                                meets_buffer(from, rows * from_pitch + width)});
    const cudaError_t error = unit::for_rows(height, [&](std::size_t row) {
        return copy_on_stream(static_cast<char*>(to) + row * to_pitch,
                              static_cast<const char*>(from) + row * from_pitch, width, kind);
    });
    end_copy(kind);
    return error;
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    const OfCall<Streams> streams;
    streams->enqueue(nullptr, copy_name("cudaMemcpy", to, from, bytes));
    const cudaError_t error = copy_on_stream(to, from, bytes, kind);
    end_copy(kind);
    return error;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    const OfCall<Streams> streams;
    streams->enqueue(stream, copy_name("cudaMemcpyAsync", to, from, bytes));
    const cudaError_t error = copy_on_stream(to, from, bytes, kind);
    if (error == cudaSuccess && bytes != 0) streams->copy_beside_host(to, from, bytes);
    streams->end_work();
    if (is_pageable_target(to, kind)) streams->wait_for(stream);
    return error;
}
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
    return set("cudaMemset", to, value, bytes, nullptr);
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
    return set("cudaMemsetAsync", to, value, bytes, stream);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
    *stream = OfCall<Streams>()->create((flags & cudaStreamNonBlocking) == 0);
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    if (OfCall<Streams>()->destroy(stream)) return cudaSuccess;
    return refuse(cudaErrorInvalidResourceHandle, "cudaStreamDestroy",
                  "not a stream that cudaStreamCreate gave");
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    OfCall<Streams>()->make_wait(stream, event->done);
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
    *event = new CUevent_st{std::chrono::steady_clock::now()};
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    event->time = std::chrono::steady_clock::now();
    event->done = OfCall<Streams>()->record(stream);
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    delete event;
    return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    OfCall<Streams>()->wait_for(event->done);
    return cudaPeekAtLastError();
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
    return OfCall<Streams>()->is_done(event->done) ? cudaPeekAtLastError() : cudaErrorNotReady;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
    *milliseconds = std::chrono::duration<float, std::milli>(to->time - from->time).count();
    return cudaSuccess;
}

namespace gradverify::simt {

namespace unit {
extern "C" {
void gradverify_simt_begin_device_work() { begin_device_work(); }
void gradverify_simt_end_device_work() { end_device_work(); }
}  // extern "C"
}  // namespace unit

CUstream_st* make_stream() { return OfCall<Streams>()->create(false); }
void begin_call(CUstream_st* given) { OfCall<Streams>()->begin_call(given); }
std::string why_unordered(bool given_alone) {
    return OfCall<Streams>()->why_unordered(given_alone);
}

}  // namespace gradverify::simt
