// SPDX-License-Identifier: Apache-2.0
// Decides what `bench` asks of a worker beside cases, and how a question is JSON. The answer is an
// outcome that carries it in `measured`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gradverify {

/// What the floating tensors hold: zeros, small integers, or numbers with full mantissas. Indices
/// and labels are drawn in each.
enum class BenchData { zeros, integers, decimals };

inline constexpr const char* bench_data_names[] = {"zeros", "integers", "decimals"};
inline std::string name_of(BenchData data) {
    return bench_data_names[static_cast<std::size_t>(data)];
}
/// **Errors** std::invalid_argument.
BenchData bench_data_named(std::string_view name);

struct MeasureRequest {
    enum class What {
        ceilings,  ///< of the device; measured: a Ceilings
        time,      ///< a kernel; measured: a Timing
    };
    What what = What::ceilings;
    std::string device;
    std::string kernel, problem;
    BenchData data = BenchData::integers;
    std::uint64_t seed = 1;
    std::int64_t repetitions = 0;
    bool graph = false;

    std::string to_json() const;
    /// **Errors** std::invalid_argument.
    static MeasureRequest from_json(std::string_view line);
};

}  // namespace gradverify
