// SPDX-License-Identifier: Apache-2.0
// Runs a launcher on the CPU device and returns the values that it leaves.
#pragma once

#include <doctest/doctest.h>

#include <numeric>
#include <string>
#include <vector>

#include "harness/simt/simt.hpp"
#include "harness/simt/tests/launcher.hpp"

namespace simt_test {

/// Device memory that holds 0, 1, 2 ...
struct DeviceFloats {
    float* data;
    explicit DeviceFloats(int count)
        : data(static_cast<float*>(
              gradverify::simt::allocate_device(static_cast<std::size_t>(count) * sizeof(float)))) {
        std::iota(data, data + count, 0.0f);
    }
    ~DeviceFloats() { gradverify::simt::free_device(data); }
};

/// For its scope, these elements are the only buffer of the call, `data`.
struct NamedScope {
    NamedScope(const float* begin, int count) {
        gradverify::simt::describe_buffers(
            {{"data", reinterpret_cast<const std::byte*>(begin),
              reinterpret_cast<const std::byte*>(begin + count), sizeof(float)}});
    }
    ~NamedScope() { gradverify::simt::describe_buffers({}); }
};

inline std::vector<float> run(const std::string& name, int count, int block = 0,
                              const std::string& variant = "cpu") {
    const DeviceFloats device(count);
    launchers().at(variant + "/" + name)({device.data, count, block});
    return {device.data, device.data + count};
}

/// Sets a schedule for its scope.
struct ScheduleScope {
    explicit ScheduleScope(const gradverify::simt::Schedule& schedule) {
        gradverify::simt::set_schedule(schedule);
    }
    ~ScheduleScope() { gradverify::simt::set_schedule({}); }
};

constexpr gradverify::simt::Order all_orders[] = {
    gradverify::simt::Order::ascending, gradverify::simt::Order::descending,
    gradverify::simt::Order::random_threads, gradverify::simt::Order::random_warps};

/// `body()` without an error, in each order of threads and blocks.
template <class Body>
void in_every_order(Body body) {
    for (const auto order : all_orders) {
        const ScheduleScope scope({.threads = order, .blocks = order, .seed = 3});
        CAPTURE(static_cast<int>(order));
        body();
        CHECK(gradverify::simt::take_error() == "");
    }
}

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

inline void check_contains(const std::string& text, const std::vector<std::string>& parts) {
    for (const std::string& part : parts) {
        CAPTURE(text);
        CAPTURE(part);
        CHECK(contains(text, part));
    }
}

}  // namespace simt_test
