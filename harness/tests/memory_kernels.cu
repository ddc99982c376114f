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

template <class T>
void read_past_end(const PassCall& call) {
    read_element<<<1, 1>>>(call.tensors[0].as<const T>(), call.tensors[0].elements());
}
template <class T>
void read_before_begin(const PassCall& call) {
    read_element<<<1, 1>>>(call.tensors[0].as<const T>(), -1);
}
template <class T>
void write_past_end(const PassCall& call) {
    write_element<<<1, 1>>>(call.tensors[0].as<T>(), call.tensors[0].elements());
}
template <class T>
void write_before_begin(const PassCall& call) {
    write_element<<<1, 1>>>(call.tensors[0].as<T>(), -1);
}

template <class T>
bool add_all(const std::string& type) {
    using gradverify::testing::add_launcher;
    const char* device = GRADVERIFY_UNIT_DEVICE;
    return add_launcher(device, "read_past_end_" + type, &read_past_end<T>) &&
           add_launcher(device, "read_before_begin_" + type, &read_before_begin<T>) &&
           add_launcher(device, "write_past_end_" + type, &write_past_end<T>) &&
           add_launcher(device, "write_before_begin_" + type, &write_before_begin<T>);
}
[[maybe_unused]] const bool added = add_all<float>("f32") && add_all<double>("f64");

}  // namespace
