// SPDX-License-Identifier: Apache-2.0
// Decides what running one case can come to, and how it travels from a worker to the driver as
// one line of JSON. A sum type in spirit: "nothing was compared" is never "passed".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/cases/measurement.hpp"
#include "harness/numbers/dtype.hpp"

namespace gradverify {

enum class Verdict { passed, failed, vacuous, skipped, errored };

std::string_view name_of(Verdict verdict);

/// One element that is not what it should be.
struct WrongElement {
    std::string tensor;
    std::vector<std::int64_t> index;
    double got = 0.0, want = 0.0, bound = 0.0;
    /// The type of the tensor; nothing where the element is of none, as an inner product is.
    std::optional<DType> dtype{};
};

/// Where a tensor is wrong.
struct WrongMap {
    std::string tensor;
    std::vector<std::int64_t> sizes;
    std::int64_t wrong = 0, total = 0;
    /// '#' for wrong or '.' for right, per element, row-major; empty where that are too many to
    /// draw.
    std::string marks;
};

/// How the driver came to an outcome.
enum class Discovery {
    answered,     ///< the worker said so
    died,         ///< its worker ended while it ran
    overstepped,  ///< its worker took too much time or memory and was ended
    damaged,      ///< its worker's memory was damaged, or it ended later: shows surely only alone
};

/// How small an error of one element its bound still shows, in ulps of what is expected there.
struct Sensitivity {
    double least_ulps = 0.0;   ///< of the element with the tightest bound
    double median_ulps = 0.0;  ///< of the median element
};

/// What running one case came to.
struct Outcome {
    /// For a single case vacuous means: every expected value was zero.
    Verdict verdict = Verdict::vacuous;
    /// For failed: what is wrong in one sentence. For skipped and errored: the reason.
    std::string message;
    /// Skipped since the launcher refused the problem, as its kernel declares that it may.
    bool is_refusal = false;
    /// For failed, where elements can be named: the worst first.
    std::vector<WrongElement> worst;
    std::vector<WrongMap> maps;
    /// Largest error as a share of its bound; 0 where the comparison was exact.
    double error_over_bound = 0.0;
    /// Where outputs were compared within bounds, and a value other than zero was expected.
    std::optional<Sensitivity> sensitivity;
    double multiply_adds = 0.0;
    /// Seconds that the case took in the worker: in the kernel, in the reference, in total.
    double seconds_kernel = 0.0, seconds_reference = 0.0, seconds_total = 0.0;
    /// Processor time of the whole case, which a loaded machine does not stretch.
    double seconds_cpu = 0.0;

    /// What a request of `bench` found.
    std::variant<std::monostate, Timing, Ceilings> measured;

    /// The driver's own note, which does not travel.
    Discovery discovery = Discovery::answered;

    static Outcome passed() { return {.verdict = Verdict::passed}; }
    static Outcome failed(std::string text) {
        return {.verdict = Verdict::failed, .message = std::move(text)};
    }
    static Outcome skipped(std::string reason) {
        return {.verdict = Verdict::skipped, .message = std::move(reason)};
    }
    static Outcome refused(std::string reason) {
        return {.verdict = Verdict::skipped, .message = std::move(reason), .is_refusal = true};
    }
    static Outcome errored(std::string reason) {
        return {.verdict = Verdict::errored, .message = std::move(reason)};
    }

    std::string to_json() const;
    /// **Errors** std::invalid_argument when the line is not an outcome.
    static Outcome from_json(std::string_view line);
};

/// Whether two failures may be one: both answered, both a worker's end, or both time or memory.
bool is_of_one_kind(const Outcome& a, const Outcome& b);

}  // namespace gradverify
