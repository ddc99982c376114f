// SPDX-License-Identifier: Apache-2.0
// Each .cu file of these tests registers named launchers, and a test calls them by device.
#pragma once

#include <map>
#include <string>

struct CUstream_st;

namespace simt_test {

/// Works on `count` values in device memory; `stream` is null or a stream of the device.
struct Call {
    float* data;
    int count;
    int block;
    CUstream_st* stream = nullptr;
};
using Launcher = void (*)(const Call& call);

/// Defined outside of the units.
bool add_launcher(const char* device, const char* name, Launcher launcher);
std::map<std::string, Launcher>& launchers();

}  // namespace simt_test

// LAUNCHER has the name expanded first, where it is a macro.
#define LAUNCHER_OF_THAT_NAME(NAME)                                      \
    static void NAME(const ::simt_test::Call& call);                     \
    [[maybe_unused]] static const bool is_added_##NAME =                 \
        ::simt_test::add_launcher(GRADVERIFY_UNIT_DEVICE, #NAME, &NAME); \
    static void NAME([[maybe_unused]] const ::simt_test::Call& call)
#define LAUNCHER(NAME) LAUNCHER_OF_THAT_NAME(NAME)

// A kernel of the call's data with a launcher of its name: KERNEL(name, blocks, threads) { body }.
#define KERNEL(NAME, ...)                                         \
    static __global__ void NAME##_kernel(float* data);            \
    LAUNCHER(NAME) { NAME##_kernel<<<__VA_ARGS__>>>(call.data); } \
    static __global__ void NAME##_kernel(float* data)
