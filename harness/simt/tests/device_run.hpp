// SPDX-License-Identifier: Apache-2.0
// Runs a launcher on the CPU device over device memory that holds 0, 1, 2 ...; hands back values.
#pragma once

#include <doctest/doctest.h>

#include <numeric>
#include <string>
#include <vector>

#include "harness/simt/simt.hpp"
#include "harness/simt/tests/launcher.hpp"

namespace simt_test {

inline std::vector<float> run(const std::string& name, int count, int block = 0,
                              CUstream_st* stream = nullptr) {
    const auto bytes = static_cast<std::size_t>(count) * sizeof(float);
    auto* device = static_cast<float*>(gradverify::simt::allocate_device(bytes));
    std::iota(device, device + count, 0.0f);
    launchers().at("cpu/" + name)({device, count, block, stream});
    std::vector<float> values(device, device + count);
    gradverify::simt::free_device(device);
    return values;
}

/// Sets a schedule for the scope of a test.
struct ScheduleScope {
    explicit ScheduleScope(const gradverify::simt::Schedule& schedule) {
        gradverify::simt::set_schedule(schedule);
    }
    ~ScheduleScope() { gradverify::simt::set_schedule({}); }
};

constexpr gradverify::simt::Order all_orders[] = {
    gradverify::simt::Order::ascending, gradverify::simt::Order::descending,
    gradverify::simt::Order::random_threads, gradverify::simt::Order::random_warps};

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
