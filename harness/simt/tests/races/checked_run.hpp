// SPDX-License-Identifier: Apache-2.0
// Runs a launcher of the checked variant and returns what it leaves, or what is found in it.
#pragma once

#include <algorithm>

#include "harness/simt/tests/device_run.hpp"

namespace simt_test {

/// The first values that a launcher leaves, of memory whose `count` elements are named `data`.
inline std::vector<float> run_on(const std::string& device, const std::string& name,
                                 int count = 64) {
    // A guard lies on either side, as a harness would have it.
    const DeviceFloats memory(count + 128);
    float* begin = memory.data + 64;
    const NamedScope scope(begin, count);
    launchers().at(device + "/" + name)({begin, count, 0});
    return {begin, begin + std::min(count, 128)};
}

inline std::vector<gradverify::simt::Finding> findings_of(const std::string& name, int count = 64) {
    gradverify::simt::take_findings();
    run_on("cpu-checked", name, count);
    gradverify::simt::take_error();
    return gradverify::simt::take_findings();
}

}  // namespace simt_test
