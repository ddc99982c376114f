// SPDX-License-Identifier: Apache-2.0
#include "harness/cases/measurement.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "harness/base/json_fields.hpp"
#include "harness/operators/operator.hpp"

namespace gradverify {

namespace {

// Caches don't keep strictly what was used last; after twice their size nothing of a copy is left.
constexpr double caches_touched = 2.0;
// More copies, for a tiny call, are not worth the time to make them.
constexpr double copies_most = 1000.0;

}  // namespace

BenchData bench_data_named(std::string_view name) {
    for (const BenchData data : all_bench_data)
        if (name_of(data) == name) return data;
    throw std::invalid_argument("there is no data '" + std::string(name) +
                                "'; there are zeros, integers, decimals");
}

std::string MeasureRequest::to_json() const { return ordered_json(*this).dump(); }

MeasureRequest MeasureRequest::from_json(std::string_view line) {
    try {
        return parse_json(line).get<MeasureRequest>();
    } catch (const std::exception& wrong) {
        throw std::invalid_argument(std::string("measure: ") + wrong.what());
    }
}

const ArithmeticCeiling* Ceilings::find(const std::string& name) const {
    return find_named(arithmetic, name);
}

double bytes_of(const std::vector<TensorView>& tensors) {
    double bytes = 0.0;
    for (const TensorView& tensor : tensors)
        bytes += static_cast<double>(tensor.elements()) *
                 static_cast<double>(traits_of(tensor.dtype).bytes);
    return bytes;
}

std::int64_t buffer_copies(const CopiesWanted& wanted) {
    if (wanted.bytes <= 0.0 || wanted.block_bytes <= 0.0) return 1;
    const double touched = std::ceil(caches_touched * wanted.cache_bytes / wanted.bytes);
    const double room = 1.0 + std::floor(0.5 * wanted.free_bytes / wanted.block_bytes);
    return static_cast<std::int64_t>(std::max(1.0, std::min({touched, room, copies_most})));
}

bool outgrows_cache(const CopiesWanted& wanted, std::int64_t copies) {
    return wanted.bytes * static_cast<double>(copies) >= caches_touched * wanted.cache_bytes;
}

bool wants_another_sample(const TimingOptions& options, std::size_t taken, double seconds) {
    const auto count = static_cast<std::int64_t>(taken);
    if (options.repetitions > 0) return count < options.repetitions;
    return count < automatic_least || (count < automatic_most && seconds < automatic_seconds);
}

}  // namespace gradverify
