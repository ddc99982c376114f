// SPDX-License-Identifier: Apache-2.0
// Decides what `bench` asks of a worker beside cases, and what is answered in an outcome's
// `measured`: a kernel's timing, or what a device itself reaches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/registry/tensor_view.hpp"

namespace gradverify {

/// What the floating tensors hold: zeros, small integers, or numbers with full mantissas. Indices
/// and labels are drawn in any case.
enum class BenchData { zeros, integers, decimals };

inline constexpr BenchData all_bench_data[] = {BenchData::zeros, BenchData::integers,
                                               BenchData::decimals};
inline constexpr const char* bench_data_names[] = {"zeros", "integers", "decimals"};
/// The most multiply-adds of a forward pass by the reference, which makes a gradient's saved
/// inputs: minutes at worst.
inline constexpr double saved_multiply_adds = 5e10;

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
    static constexpr What all_whats[] = {What::ceilings, What::time};
    What what = What::ceilings;
    std::string device;
    std::string kernel, problem;
    BenchData data = BenchData::integers;
    std::uint64_t seed = 1;
    std::int64_t repetitions = 0;
    bool graph = false;

    static void fields(auto& self, auto& visit) {
        visit.one_of("what", self.what, all_whats,
                     [](What one) { return one == What::time ? "time" : "ceilings"; });
        visit.needed("device", self.device);
        visit.needed("kernel", self.kernel);
        visit.needed("problem", self.problem);
        visit.one_of("data", self.data, all_bench_data, [](BenchData one) { return name_of(one); });
        visit.needed("seed", self.seed);
        visit.needed("repetitions", self.repetitions);
        visit.needed("graph", self.graph);
    }

    std::string to_json() const;
    /// **Errors** std::invalid_argument.
    static MeasureRequest from_json(std::string_view line);
};

struct TimingOptions {
    /// Samples to take; 0: as many as fit `automatic_seconds`, within the two limits.
    std::int64_t repetitions = 0;
    bool graph = false;  ///< calls are captured into CUDA graphs, which are replayed
    double bytes = 0.0;  ///< of the call's tensors
};

inline constexpr double automatic_seconds = 2.0;
inline constexpr std::int64_t automatic_least = 10, automatic_most = 100;

struct Timing {
    std::string error;            ///< why there are no samples; empty when there are
    std::vector<double> samples;  ///< seconds of one call, each the mean of `calls_per_sample`
    std::int64_t calls_per_sample = 1;
    /// Copies of the buffers, used by turns, and whether they are too large for the cache.
    std::int64_t copies = 1;
    bool outgrows_cache = false;
    bool not_served = false, is_refusal = false, device_lost = false;  ///< as of RunStatus
    std::vector<TensorView> tensors{};  ///< as the launcher gets them

    static void fields(auto& self, auto& visit) {
        visit.needed("samples", self.samples);
        visit.needed("calls_per_sample", self.calls_per_sample);
        visit.needed("copies", self.copies);
        visit.needed("outgrows_cache", self.outgrows_cache);
        visit.needed("tensors", self.tensors);
    }
};

struct ArithmeticCeiling {
    std::string name;  ///< `f32 fma`
    double flops = 0.0;

    static void fields(auto& self, auto& visit) {
        visit.needed("name", self.name);
        visit.needed("flops", self.flops);
    }
};

/// What the device reaches with kernels that do nothing else.
struct Ceilings {
    std::string device_name;  ///< `NVIDIA H200`
    double cache_bytes = 0.0;
    double copy_bytes_per_second = 0.0;  ///< read and written
    std::vector<ArithmeticCeiling> arithmetic;

    /// Null when it was not measured.
    const ArithmeticCeiling* find(const std::string& name) const;

    static void fields(auto& self, auto& visit) {
        visit.needed("device_name", self.device_name);
        visit.needed("cache_bytes", self.cache_bytes);
        visit.needed("copy_bytes_per_second", self.copy_bytes_per_second);
        visit.needed("arithmetic", self.arithmetic);
    }
};

inline constexpr const char* ceiling_f32 = "f32 fma";
inline constexpr const char* ceiling_f64 = "f64 fma";
inline constexpr const char* ceiling_f16 = "f16 mma";
inline constexpr const char* ceiling_tf32 = "tf32 mma";

/// The bytes of a call's tensors, each counted once.
double bytes_of(const std::vector<TensorView>& tensors);

/// How large a call and the memory for its copies are.
struct CopiesWanted {
    double bytes = 0.0;        ///< that a call touches
    double cache_bytes = 0.0;  ///< of the device's last cache
    double block_bytes = 0.0;  ///< of one copy in memory
    double free_bytes = 0.0;   ///< of memory beside the first copy
};

/// Copies enough that twice the cache is touched before one is used again; fewer where they would
/// take more than half of the free memory, and at most a thousand.
std::int64_t buffer_copies(const CopiesWanted& wanted);

/// Whether the copies together are too large for the cache.
bool outgrows_cache(const CopiesWanted& wanted, std::int64_t copies);

bool wants_another_sample(const TimingOptions& options, std::size_t taken, double seconds);

}  // namespace gradverify
