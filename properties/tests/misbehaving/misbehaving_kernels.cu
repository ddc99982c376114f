// SPDX-License-Identifier: Apache-2.0
// Kernels that harm their process from three output channels on, and are right otherwise.
#include <cfenv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "properties/tests/launches.cuh"
#include "reference/conv.hpp"

namespace {

using gradverify::conv::GradBias;

__device__ void sum_channel(int c, const float* dy, float* db, int n, int k, int pixels) {
    float sum = 0.0f;
    for (int i = 0; i < n * pixels; ++i) sum += dy[(i / pixels * k + c) * pixels + i % pixels];
    db[c] = sum;
}

void sum(const GradBias& call) {
    launch_each<sum_channel>(call.launch, call.problem.k, call.dy, call.db, call.problem.n,
                             call.problem.k, call.dy.size(2) * call.dy.size(3));
}

/// The right result, and on enough channels the mischief.
template <void (*mischief)(const GradBias&)>
void launch(const GradBias& call) {
    sum(call);
    if (call.problem.k >= 3) mischief(call);
}

// ---- on the host

int* volatile nowhere = nullptr;
std::vector<char*> kept;

void segfault(const GradBias&) { *nowhere = 1; }

void spin_on_host(const GradBias&) {
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() >= start) continue;
}

int recurse(int depth) {
    if (depth < 0) return 0;
    volatile int frame[64];
    frame[depth % 64] = depth;
    return recurse(depth + 1) + frame[depth % 64];
}
void recurse_on_host(const GradBias&) { *nowhere = recurse(1); }

/// Raises what most processors raise for a division by zero.
void divide_by_block_size(const GradBias& call) {
    if (call.launch.block_size == 0) std::raise(SIGFPE);
}

void exit_0(const GradBias&) { std::exit(0); }
void exit_1(const GradBias&) { std::exit(1); }
void abort_it(const GradBias&) { std::abort(); }
void throw_it(const GradBias&) { throw std::runtime_error("no plan for this shape"); }
void refuse_it(const GradBias&) { throw gradverify::NotSupported("too many channels"); }
void throw_number(const GradBias&) { throw 42; }

void allocate_on_device(const GradBias&) {
    void* memory = nullptr;
    cudaMalloc(&memory, std::size_t{1} << 40);
}

void allocate_without_end(const GradBias&) {
    for (;;) {
        constexpr std::size_t bytes = std::size_t{1} << 20;
        kept.push_back(new char[bytes]);
        for (std::size_t i = 0; i < bytes; i += 4096) kept.back()[i] = 1;
    }
}

void damage_heap(const GradBias&) {
    // A checked heap takes one byte in 256, which one hangs on the address, for its own mark, and
    // then misses the damage.
    for (const int held : {0, 255}) {
        volatile unsigned char* block = new unsigned char[40];
        for (int i = 0; i < 40; ++i) block[i] = static_cast<unsigned char>(held);
        for (int i = 40; i < 48; ++i) block[i] = 1;
        delete[] block;
    }
}

void die_at_exit() { std::abort(); }
void leave_trap(const GradBias&) { std::atexit(die_at_exit); }

/// In other kernels' calls, or at the end.
bool is_doomed = false;
void abort_later(const GradBias&) {
    std::atexit(die_at_exit);
    is_doomed = true;
}

/// It writes into the output when the call is over.
void leave_thread(const GradBias& call) {
    std::thread([db = call.db.as<float>()] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        volatile float* const later = db;
        if (std::getenv("GRADVERIFY_NEVER_SET")) *later = 7.0f;
    }).detach();
}
void leave_process(const GradBias&) {
    if (fork() == 0) {
        sleep(2);
        _exit(0);
    }
}
void lower_limit(const GradBias&) {
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = 40;
    setrlimit(RLIMIT_NOFILE, &files);
}

// None of these may change a verdict, of this kernel or of others.
void join_thread(const GradBias&) {
    std::thread([] {}).join();
}
void keep_thread(const GradBias&) {
    static const bool kept = [] {
        std::thread([] {
            for (;;) pause();
        }).detach();
        return true;
    }();
    if (!kept) std::abort();
}
void dally(const GradBias&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    static int calls = 0;
    if (is_doomed && ++calls == 10) std::abort();
}
void leave_timer(const GradBias&) {
    const itimerval soon{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_usec = 50'000}};
    setitimer(ITIMER_PROF, &soon, nullptr);
}
void fork_both(const GradBias&) {
    if (fork() < 0) std::abort();
}
void forget_memory(const GradBias&) {
    char* volatile forgotten = new char[1000];
    forgotten = nullptr;
}
void round_upward(const GradBias&) { std::fesetround(FE_UPWARD); }

// ---- on the device

__global__ void never_end(float* db) {
    // Not by volatile memory: the device `cpu` takes that for a wait, which it ends by itself.
    for (unsigned odd = 1; odd != 0; odd = odd * 3)  // never 0
        db[0] = static_cast<float>(odd);
}
void spin_in_kernel(const GradBias& call) { launch_blocks(call.launch, never_end, 1, 1, call.db); }

__device__ __noinline__ float descend(const float* dy, int depth) {
    if (depth < 0) return 0.0f;
    volatile float frame[64];
    frame[depth % 64] = dy[0];
    return descend(dy, depth + 1) + frame[depth % 64];
}
__global__ void descend_for_ever(const float* dy, float* db) { db[0] = descend(dy, 1); }
void recurse_in_kernel(const GradBias& call) {
    launch_blocks(call.launch, descend_for_ever, 1, 1, call.dy, call.db);
}

__global__ void store(float* at, float value) { *at = value; }
void write_input(const GradBias& call) {
    store<<<1, 1, 0, call.launch.stream>>>(const_cast<float*>(call.dy.as<const float>()), 7.0f);
}
void write_guard(const GradBias& call) {
    store<<<1, 1, 0, call.launch.stream>>>(call.db.as<float>() + call.problem.k, 7.0f);
}
void free_buffer(const GradBias& call) { cudaFree(call.db.as<float>()); }

__global__ void dawdle(float* db) {
    constexpr int steps = 4'000'000;
    unsigned x = blockIdx.x + 1;  // Marsaglia's generator never gets from here to 0
    for (int i = 0; i < steps; ++i) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    if (x == 0) db[0] = 1.0f;
}
void launch_slow_in_blocks(const GradBias& call) {
    sum(call);
    if (call.problem.k >= 1000) dawdle<<<1000, 1, 0, call.launch.stream>>>(call.db.as<float>());
}

/// What launchers often end with.
void end_if_failed() {
    if (cudaGetLastError() == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess) return;
    std::exit(1);
}
void overrun_and_exit(const GradBias& call) {
    store<<<1, 1, 0, call.launch.stream>>>(call.db.as<float>() + (1 << 22), 7.0f);
    end_if_failed();
}
void overflow_and_exit(const GradBias& call) {
    const int side = 46338 + call.problem.k;
    store<<<1, 1, 0, call.launch.stream>>>(call.db.as<float>() + side * side, 7.0f);
    end_if_failed();
}
__global__ void use_ptx(float* db) {
    unsigned one = 1;
    asm volatile("vadd.u32.u32.u32 %0, %0, %0;" : "+r"(one));
    *db = float(one);
}
void use_ptx_and_exit(const GradBias& call) {
    use_ptx<<<1, 1, 0, call.launch.stream>>>(call.db.as<float>());
    end_if_failed();
}

// ---- forward kernels that gradients would borrow

void die_forward(const gradverify::conv::Forward&) { *nowhere = 1; }
void refuse_forward(const gradverify::conv::Forward&) {
    throw gradverify::NotSupported("no forward pass at all");
}
void lose_device(const gradverify::conv::Forward& call) {
    store<<<1, 1, 0, call.launch.stream>>>(nullptr, 1.0f);
}

void die_at_20th_call(const GradBias&) {
    static int calls = 0;
    if (++calls == 20) std::abort();
}

// ---- faults of host code, whose lines are told

/// A helper of the launcher.
[[gnu::noinline]] int first_of(const int* values) { return values[0]; }
void read_null_in_helper(const GradBias& call) {
    if (first_of(nowhere) == 7) sum(call);
}
void write_wild(const GradBias&) { *reinterpret_cast<volatile int*>(0x7123456789a0) = 1; }
void copy_from_null(const GradBias& call) {
    std::vector<char> copy(static_cast<std::size_t>(call.problem.k));
    std::memcpy(copy.data(), nowhere + 2, copy.size());
    if (copy[0] == 7) sum(call);
}
void read_past_output(const GradBias& call) {
    std::thread([&call] { (void)*static_cast<volatile float*>(call.db.as<float>() + 70); }).join();
}

void write_freed_block(const GradBias&) {
    volatile long* const block = static_cast<long*>(std::malloc(200));
    std::free(const_cast<long*>(block));
    for (int i = 0; i < 25; ++i) block[i] = 0x4141414141414141;
}

}  // namespace

#define MISBEHAVING(VARIANT, MISCHIEF) \
    GRADVERIFY_KERNEL(GradBias, VARIANT, launch<MISCHIEF>).aligned_to(sizeof(float))

MISBEHAVING("aborts", abort_it);
MISBEHAVING("aborts_later", abort_later);
MISBEHAVING("allocates_on_device", allocate_on_device);
MISBEHAVING("allocates_without_end", allocate_without_end);
MISBEHAVING("copies_from_null", copy_from_null);
MISBEHAVING("dallies", dally);
MISBEHAVING("damages_heap", damage_heap);
MISBEHAVING("dies_at_its_20th_call", die_at_20th_call);
MISBEHAVING("divides_by_block_size", divide_by_block_size);
MISBEHAVING("exits_0", exit_0);
MISBEHAVING("exits_1", exit_1);
MISBEHAVING("exits_after_overflow", overflow_and_exit);
MISBEHAVING("exits_after_overrun", overrun_and_exit);
MISBEHAVING("exits_after_ptx", use_ptx_and_exit);
MISBEHAVING("forgets_memory", forget_memory);
MISBEHAVING("forks_and_returns_in_both", fork_both);
MISBEHAVING("frees_buffer", free_buffer);
MISBEHAVING("joins_thread", join_thread);
MISBEHAVING("keeps_thread", keep_thread).keeps_threads();
MISBEHAVING("leaves_process", leave_process);
MISBEHAVING("leaves_thread", leave_thread);
MISBEHAVING("leaves_timer", leave_timer);
MISBEHAVING("leaves_trap", leave_trap);
MISBEHAVING("lowers_limit", lower_limit);
MISBEHAVING("reads_null_in_helper", read_null_in_helper);
MISBEHAVING("reads_past_output", read_past_output);
MISBEHAVING("recurses_in_kernel", recurse_in_kernel);
MISBEHAVING("recurses_on_host", recurse_on_host);
MISBEHAVING("refuses", refuse_it);
MISBEHAVING("may_refuse", refuse_it).may_refuse();
MISBEHAVING("rounds_upward", round_upward);
MISBEHAVING("segfaults", segfault);
GRADVERIFY_KERNEL(GradBias, "slow_in_blocks", launch_slow_in_blocks).aligned_to(sizeof(float));
MISBEHAVING("spins_in_kernel", spin_in_kernel);
MISBEHAVING("spins_on_host", spin_on_host);
MISBEHAVING("throws", throw_it);
MISBEHAVING("throws_number", throw_number);
MISBEHAVING("writes_wild", write_wild);
MISBEHAVING("writes_guard", write_guard);
MISBEHAVING("writes_freed_block", write_freed_block);
MISBEHAVING("writes_input", write_input);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "always_refuses", refuse_forward).may_refuse();
GRADVERIFY_KERNEL(gradverify::conv::Forward, "dies", die_forward);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "loses_device", lose_device);
