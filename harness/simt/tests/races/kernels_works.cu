// SPDX-License-Identifier: Apache-2.0
// Works of one call that share memory, each launcher without an order between them and, as its
// twin, with one; works_test.cpp says what is found. All work ends before the given stream goes on.
#include <cuda.h>
#include <cuda_runtime.h>

#include "harness/simt/tests/async.hpp"
#include "harness/simt/tests/launcher.hpp"
#include "harness/simt/tests/tensor_maps.hpp"

namespace {

constexpr int parts = 16;

__global__ void sum_parts(const float* x, float* partial) {
    float sum = 0.0f;
    for (int i = 0; i < 4; ++i) sum += x[threadIdx.x * 4 + i];
    partial[threadIdx.x] = sum;  // line: writes a part
}
__global__ void total(const float* partial, float* y) {
    float sum = 0.0f;
    for (int i = 0; i < parts; ++i) sum += partial[i];  // line: reads a part
    *y = sum;
}
__global__ void add_parts(const float* x, float* sums) {
    atomicAdd(&sums[threadIdx.x % parts], x[threadIdx.x]);
}
__global__ void scale(float* x) { x[threadIdx.x] *= 0.5f; }
__global__ void blur(const float* x, float* y, int count) {
    const int i = static_cast<int>(threadIdx.x);
    float sum = 0.0f;
    for (int k = i < 3 ? 0 : i - 3; k < count && k < i + 3; ++k) sum += x[k];
    if (i < parts) y[i] = sum;
}

/// Makes what comes next on a stream wait for what another has been given.
void after(cudaStream_t second, cudaStream_t first) {
    cudaEvent_t done;
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    cudaEventRecord(done, first);
    cudaStreamWaitEvent(second, done, 0);
    cudaEventDestroy(done);
}

struct Streams {
    float* data;
    int count;
    cudaStream_t given, side, other;
    float *scratch, *more;  ///< `parts` elements each
    bool in_order;          ///< the launcher's twin
};
constexpr std::size_t scratch_bytes = parts * sizeof(float);

void on_streams(const simt_test::Call& call, void (*steps)(const Streams&), bool in_order) {
    Streams s{.data = call.data, .count = call.count, .given = call.stream, .in_order = in_order};
    for (cudaStream_t* own : {&s.side, &s.other}) {
        cudaStreamCreateWithFlags(own, cudaStreamNonBlocking);
        after(*own, s.given);
    }
    for (float** scratch : {&s.scratch, &s.more}) cudaMalloc(scratch, scratch_bytes);
    steps(s);
    for (cudaStream_t own : {s.side, s.other}) {
        after(s.given, own);
        cudaStreamDestroy(own);
    }
    for (float* scratch : {s.scratch, s.more}) cudaFree(scratch);
}

}  // namespace

#define TWINS(NAME)                                                      \
    static void NAME##_steps(const Streams& s);                          \
    LAUNCHER(NAME) { on_streams(call, &NAME##_steps, false); }           \
    LAUNCHER(NAME##_in_order) { on_streams(call, &NAME##_steps, true); } \
    static void NAME##_steps(const Streams& s)

TWINS(partial_sums_on_a_side_stream) {
    sum_parts<<<1, parts, 0, s.side>>>(s.data, s.scratch);  // line: launches sum_parts
    if (s.in_order) after(s.given, s.side);
    total<<<1, 1, 0, s.given>>>(s.scratch, s.data);  // line: launches total
}
TWINS(second_launch_on_another_stream) {
    sum_parts<<<1, parts, 0, s.side>>>(s.data, s.scratch);
    if (s.in_order) after(s.other, s.side);
    total<<<1, 1, 0, s.other>>>(s.scratch, s.more);
}
TWINS(memset_on_a_side_stream) {
    cudaMemsetAsync(s.scratch, 0, scratch_bytes, s.side);
    if (s.in_order) after(s.given, s.side);
    add_parts<<<1, 64, 0, s.given>>>(s.data, s.scratch);
}
TWINS(memset_behind_its_use) {
    add_parts<<<1, 64, 0, s.given>>>(s.data, s.scratch);
    if (s.in_order) after(s.side, s.given);
    cudaMemsetAsync(s.scratch, 0, scratch_bytes, s.side);
}
TWINS(copied_while_written) {
    cudaMemcpyAsync(s.scratch, s.data, scratch_bytes, cudaMemcpyDeviceToDevice, s.side);
    if (s.in_order) after(s.given, s.side);
    scale<<<1, 64, 0, s.given>>>(s.data);
}
TWINS(two_copies) {
    scale<<<1, 64, 0, s.given>>>(s.data);
    cudaMemsetAsync(s.scratch, 0, scratch_bytes, s.side);
    if (s.in_order) after(s.given, s.side);
    cudaMemcpyAsync(s.data, s.scratch, scratch_bytes, cudaMemcpyDeviceToDevice, s.given);
}
TWINS(event_recorded_before_the_work) {
    cudaEvent_t done;
    cudaEventCreate(&done);
    if (!s.in_order) cudaEventRecord(done, s.side);
    sum_parts<<<1, parts, 0, s.side>>>(s.data, s.scratch);
    if (s.in_order) cudaEventRecord(done, s.side);
    cudaStreamWaitEvent(s.given, done, 0);
    total<<<1, 1, 0, s.given>>>(s.scratch, s.data);
    cudaEventDestroy(done);
}
TWINS(wait_on_the_wrong_stream) {
    sum_parts<<<1, parts, 0, s.side>>>(s.data, s.scratch);
    after(s.in_order ? s.given : s.other, s.side);
    total<<<1, 1, 0, s.given>>>(s.scratch, s.data);
}
TWINS(host_waits_for_the_wrong_stream) {
    sum_parts<<<1, parts, 0, s.side>>>(s.data, s.scratch);
    cudaStreamSynchronize(s.in_order ? s.side : s.other);
    total<<<1, 1, 0, s.given>>>(s.scratch, s.data);
}
TWINS(freed_before_its_use_is_done) {
    float* scratch = nullptr;
    cudaMallocAsync(&scratch, scratch_bytes, s.given);
    after(s.side, s.given);
    sum_parts<<<1, parts, 0, s.side>>>(s.data, scratch);
    if (s.in_order) after(s.given, s.side);
    cudaFreeAsync(scratch, s.given);
}
TWINS(allocated_on_another_stream) {
    float* scratch = nullptr;
    cudaMallocAsync(&scratch, scratch_bytes, s.side);
    if (s.in_order) after(s.given, s.side);
    sum_parts<<<1, parts, 0, s.given>>>(s.data, scratch);
    after(s.side, s.given);
    cudaFreeAsync(scratch, s.side);
}
// Many threads of the given stream read what the side stream reads, too.
TWINS(written_while_read) {
    blur<<<1, s.count, 0, s.side>>>(s.data, s.scratch, s.count);
    blur<<<1, s.count, 0, s.given>>>(s.data, s.more, s.count);
    if (s.in_order) after(s.given, s.side);
    scale<<<1, s.count, 0, s.given>>>(s.data);
}
// The sums themselves may be made beside each other.
TWINS(atomic_sums_not_joined) {
    cudaMemset(s.scratch, 0, scratch_bytes);
    cudaDeviceSynchronize();
    add_parts<<<1, 64, 0, s.side>>>(s.data, s.scratch);
    add_parts<<<1, 64, 0, s.given>>>(s.data, s.scratch);
    if (s.in_order) after(s.given, s.side);
    total<<<1, 1, 0, s.given>>>(s.scratch, s.more);
}
// In order with the default stream, as it was made without a flag.
TWINS(default_stream_beside_one_that_does_not_block) {
    cudaStream_t own;
    cudaStreamCreateWithFlags(&own, s.in_order ? cudaStreamDefault : cudaStreamNonBlocking);
    after(own, s.given);
    sum_parts<<<1, parts, 0, own>>>(s.data, s.scratch);
    total<<<1, 1>>>(s.scratch, s.more);
    cudaDeviceSynchronize();
    cudaStreamDestroy(own);
}
TWINS(per_thread_stream_beside_the_given) {
    cudaStreamSynchronize(s.given);
    sum_parts<<<1, parts, 0, cudaStreamPerThread>>>(s.data, s.scratch);
    if (s.in_order) after(s.side, cudaStreamPerThread);
    total<<<1, 1, 0, s.side>>>(s.scratch, s.more);
    cudaStreamSynchronize(cudaStreamPerThread);
}

// Works that share nothing that they write.
LAUNCHER(halves_beside_each_other) {
    on_streams(
        call,
        [](const Streams& s) {
            scale<<<1, s.count / 2, 0, s.side>>>(s.data);
            scale<<<1, s.count / 2, 0, s.given>>>(s.data + s.count / 2);
            after(s.side, s.given);
            sum_parts<<<1, parts, 0, s.side>>>(s.data, s.scratch);
            cudaMemcpyAsync(s.more, s.scratch, scratch_bytes, cudaMemcpyDeviceToDevice, s.side);
            cudaMemsetAsync(s.scratch, 0, scratch_bytes, s.side);
        },
        true);
}
LAUNCHER(read_beside_each_other) {
    on_streams(
        call,
        [](const Streams& s) {
            blur<<<1, s.count, 0, s.side>>>(s.data, s.scratch, s.count);
            blur<<<1, s.count, 0, s.given>>>(s.data, s.more, s.count);
            cudaMemcpyAsync(s.scratch, s.data, scratch_bytes, cudaMemcpyDeviceToDevice, s.side);
        },
        true);
}
// An address that is given again is other memory.
LAUNCHER(freed_and_allocated_again) {
    on_streams(
        call,
        [](const Streams& s) {
            for (cudaStream_t stream : {s.side, s.given, s.other, s.given}) {
                float* scratch = nullptr;
                cudaMallocAsync(&scratch, scratch_bytes, stream);
                cudaMemsetAsync(scratch, 0, scratch_bytes, stream);
                sum_parts<<<1, parts, 0, stream>>>(s.data, scratch);
                cudaFreeAsync(scratch, stream);
            }
        },
        true);
}

// ---- Programmatic launches, which begin before the launch before them ends. Each kernel adds up
// 64 numbers or scales them, with a wait or without.

#ifndef __NVCC__  // of sm_90 alone
namespace {

enum class Waits { none, all, first, first_and_barrier, late };

__device__ void depend(Waits waits) {
    if (waits == Waits::all || (threadIdx.x == 0 && waits != Waits::none && waits != Waits::late))
        cudaGridDependencySynchronize();
    if (waits == Waits::first_and_barrier) __syncthreads();
}

__global__ void scale_early(float* x, bool triggers, Waits waits) {
    if (triggers) asm volatile("griddepcontrol.launch_dependents;");
    depend(waits);
    x[threadIdx.x] *= 0.5f;  // line: scales early
    if (waits == Waits::late) asm volatile("griddepcontrol.wait;" ::: "memory");
}
__global__ void sum_early(const float* x, float* to, bool triggers, Waits waits) {
    if (triggers) cudaTriggerProgrammaticLaunchCompletion();
    depend(waits);
    float sum = x[threadIdx.x];
    if (waits == Waits::late) cudaGridDependencySynchronize();
    atomicAdd(to, sum);
}
__global__ void put_early(float* x, Waits waits) {
    cudaTriggerProgrammaticLaunchCompletion();
    depend(waits);
    x[threadIdx.x] = 1.0f;
}
__global__ void keep_early(float* keep, Waits waits) {
    if (waits != Waits::none) cudaGridDependencySynchronize();
    cudaTriggerProgrammaticLaunchCompletion();
    keep[threadIdx.x] = 1.0f;
}

template <class... Params, class... Args>
void early(cudaStream_t stream, bool is_programmatic, void (*kernel)(Params...), Args... args) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = is_programmatic;
    cudaLaunchConfig_t config{1, parts, 0, stream, &attribute, 1};
    cudaLaunchKernelEx(&config, kernel, Params(args)...);
}

}  // namespace

TWINS(programmatic_without_wait) {
    early(s.given, true, scale_early, s.data, true, Waits::all);
    early(s.given, true, sum_early, s.data, s.data + 32, false,
          s.in_order ? Waits::all : Waits::none);
}
TWINS(programmatic_wait_of_one_thread) {
    early(s.given, true, scale_early, s.data, true, Waits::all);
    early(s.given, true, sum_early, s.data, s.data + 32, false,
          s.in_order ? Waits::first_and_barrier : Waits::first);
}
TWINS(programmatic_wait_behind_the_read) {
    early(s.given, true, scale_early, s.data, true, Waits::all);
    early(s.given, true, sum_early, s.data, s.data + 32, false,
          s.in_order ? Waits::all : Waits::late);
}
TWINS(programmatic_write_of_what_is_read) {
    early(s.given, true, sum_early, s.data, s.data + 32, true, Waits::all);
    early(s.given, true, put_early, s.data, s.in_order ? Waits::all : Waits::none);
}
TWINS(programmatic_launch_of_a_launch) {
    early(s.given, true, scale_early, s.data, true, Waits::all);
    early(s.given, true, put_early, s.scratch, Waits::all);  // triggers before it waits
    early(s.given, true, sum_early, s.data, s.data + 32, false,
          s.in_order ? Waits::all : Waits::none);
}
TWINS(programmatic_launch_of_what_waits_not) {
    early(s.given, true, scale_early, s.data, true, Waits::all);
    early(s.given, true, keep_early, s.scratch, s.in_order ? Waits::all : Waits::none);
    early(s.given, true, sum_early, s.data, s.data + 32, false, Waits::none);
}
LAUNCHER(programmatic_without_a_trigger) {
    early(call.stream, true, scale_early, call.data, false, Waits::none);
    early(call.stream, true, sum_early, call.data, call.data + 32, false, Waits::none);
}
LAUNCHER(triggered_for_an_ordinary_launch) {
    early(call.stream, true, scale_early, call.data, true, Waits::none);
    early(call.stream, false, sum_early, call.data, call.data + 32, false, Waits::none);
}
LAUNCHER(programmatic_on_memory_of_its_own) {
    early(call.stream, true, scale_early, call.data, true, Waits::none);
    early(call.stream, true, put_early, call.data + 32, Waits::none);
    cudaMemsetAsync(call.data, 0, 4, call.stream);
    early(call.stream, true, put_early, call.data, Waits::none);
}

// ---- Tensor maps that the host writes, or copies, while a copy by them may be in flight.

namespace {

__device__ void load_box(const CUtensorMap* map, float* to) {
    __shared__ std::uint64_t full;
    __shared__ alignas(128) float box[64];
    if (threadIdx.x == 0) {
        init(&full, 1);
        arrive_expecting(&full, sizeof box);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
            "[%1, {%3, %3}], [%2];" ::"r"(shared_address(box)),
            "l"(map), "r"(shared_address(&full)), "r"(0)
            : "memory");
    wait(&full, 0);
    to[threadIdx.x] = box[threadIdx.x];
}
__global__ void load_by_map(const CUtensorMap* map, float* to) { load_box(map, to); }
__global__ void load_by_parameter(const __grid_constant__ CUtensorMap map, float* to) {
    load_box(&map, to);
}

void encode_of(CUtensorMap& map, float* data) {
    encode<float>(map, data, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, {{8, 8}, {8, 8}, {1, 1}},
                  CU_TENSOR_MAP_SWIZZLE_NONE);
}

}  // namespace

TWINS(map_encoded_while_it_is_used) {
    CUtensorMap* map = nullptr;
    cudaMallocManaged(&map, sizeof *map);
    encode_of(*map, s.data);
    load_by_map<<<1, parts, 0, s.given>>>(map, s.scratch);
    if (s.in_order) cudaStreamSynchronize(s.given);
    encode_of(*map, s.data);
    load_by_map<<<1, parts, 0, s.given>>>(map, s.scratch);
    cudaStreamSynchronize(s.given);
    cudaFree(map);
}
TWINS(pinned_map_encoded_while_it_is_used) {
    CUtensorMap* map = nullptr;
    cudaMallocHost(&map, sizeof *map);
    encode_of(*map, s.data);
    load_by_map<<<1, parts, 0, s.side>>>(map, s.scratch);
    cudaStreamSynchronize(s.in_order ? s.side : s.other);
    encode_of(*map, s.data);
    cudaStreamSynchronize(s.side);
    cudaFreeHost(map);
}
TWINS(map_copied_while_it_is_used) {
    CUtensorMap of_host, *map = nullptr;
    encode_of(of_host, s.data);
    cudaMalloc(&map, sizeof *map);
    cudaMemcpyAsync(map, &of_host, sizeof of_host, cudaMemcpyHostToDevice, s.given);
    load_by_map<<<1, parts, 0, s.given>>>(map, s.scratch);
    encode_of(of_host, s.data);
    if (s.in_order) after(s.other, s.given);
    cudaMemcpyAsync(map, &of_host, sizeof of_host, cudaMemcpyHostToDevice, s.other);
    cudaDeviceSynchronize();
    cudaFree(map);
}
LAUNCHER(map_as_a_parameter_is_encoded_again) {
    CUtensorMap map;
    for (int i = 0; i < 2; ++i) {
        encode_of(map, call.data);
        load_by_parameter<<<1, parts, 0, call.stream>>>(map, call.data);
    }
}
#endif
