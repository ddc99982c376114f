// SPDX-License-Identifier: Apache-2.0
// Kernels of memory_test.cpp: one access beside the only tensor of the call.
#include "harness/testing/launchers.hpp"

namespace {

using gradverify::PassCall;

template <class T>
__global__ void read_element(const T* data, long long i) {
    const volatile T* kept = data + i;
    static_cast<void>(*kept);  // line 12
}

template <class T>
__global__ void write_element(T* data, long long i) {
    data[i] = T(7);  // line 17
}

template <class T, bool writes, bool past_end>
void access_beside(const PassCall& call) {
    T* const data = call.tensors[0].as<T>();
    const long long i = past_end ? call.tensors[0].elements() : -1;
    if (writes)
        write_element<<<1, 1>>>(data, i);
    else
        read_element<<<1, 1>>>(data, i);
}

template <class T>
bool add_all(const std::string& type) {
    using gradverify::testing::add_launcher;
    const char* device = GRADVERIFY_UNIT_DEVICE;
    return add_launcher(device, "read_past_end_" + type, &access_beside<T, false, true>) &&
           add_launcher(device, "read_before_begin_" + type, &access_beside<T, false, false>) &&
           add_launcher(device, "write_past_end_" + type, &access_beside<T, true, true>) &&
           add_launcher(device, "write_before_begin_" + type, &access_beside<T, true, false>);
}
[[maybe_unused]] const bool added = add_all<float>("f32") && add_all<double>("f64");

}  // namespace
