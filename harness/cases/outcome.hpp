// SPDX-License-Identifier: Apache-2.0
// Decides what running one case can come to, and how that travels from a worker to the driver as
// one line of JSON. A case that compared nothing has never passed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/cases/crowding.hpp"
#include "harness/cases/magnitudes.hpp"
#include "harness/cases/measurement.hpp"
#include "harness/cases/uncompared.hpp"
#include "harness/numbers/dtype.hpp"

namespace gradverify {

enum class Verdict { passed, failed, vacuous, skipped, errored };

inline constexpr Verdict all_verdicts[] = {Verdict::passed, Verdict::failed, Verdict::vacuous,
                                           Verdict::skipped, Verdict::errored};

std::string_view name_of(Verdict verdict);

/// One element that is not what it should be.
struct WrongElement {
    std::string tensor;
    std::vector<std::int64_t> index;
    double got = 0.0, want = 0.0, bound = 0.0;
    std::optional<DType> dtype{};  ///< of the tensor; nothing for an inner product

    /// As JSON names them, to the driver and in result files; see json_fields.hpp.
    static void fields(auto& self, auto& visit) {
        visit.needed("tensor", self.tensor);
        visit.always("index", self.index);
        visit.needed("got", self.got);
        visit.needed("want", self.want);
        visit.needed("bound", self.bound);
        visit.one_of("dtype", self.dtype, all_dtypes,
                     [](DType one) { return traits_of(one).name; });
    }
};

/// Where a tensor is wrong.
struct WrongMap {
    std::string tensor;
    std::vector<std::int64_t> sizes;
    std::int64_t wrong = 0, total = 0;
    /// '#' for wrong or '.' for right, per element, row-major; empty where there are too many.
    std::string marks;
    /// Per element as well; empty where there are too many to be told.
    std::vector<double> got{}, want{};

    static void fields(auto& self, auto& visit) {
        visit.needed("tensor", self.tensor);
        visit.needed("sizes", self.sizes);
        visit.whole("wrong", self.wrong);
        visit.whole("total", self.total);
        visit("marks", self.marks);
        visit("got", self.got);
        visit("want", self.want);
    }
};

/// Whole numbers that an input of a failing case holds, such as offsets: they decide what a kernel
/// does, and a printed case may not show them.
struct GivenNumbers {
    std::string tensor;
    std::vector<std::int64_t> first;  ///< as many as a reader takes in
    std::int64_t total = 0;
    bool operator==(const GivenNumbers&) const = default;

    static void fields(auto& self, auto& visit) {
        visit.needed("tensor", self.tensor);
        visit.needed("first", self.first);
        visit.whole("elements", self.total);
    }
};

/// Elements further off than the operator's formula may be, and within any reasonable one's bound.
struct Imprecision {
    WrongElement worst;
    std::int64_t elements = 0;
    double largest = 0.0;  ///< magnitude in the tensor

    static void fields(auto& self, auto& visit) {
        visit.needed("worst", self.worst);
        visit.whole("elements", self.elements);
        visit.needed("largest", self.largest);
    }
};

/// How the driver came to an outcome.
enum class Discovery {
    answered,     ///< the worker said so
    died,         ///< its worker ended while it ran
    overstepped,  ///< its worker took too much time or memory and was ended
    damaged,      ///< its worker's memory was damaged, or it ended later: only a run alone shows it
};

/// How small an error of one element its bound still shows, in ulps of what is expected there.
struct Sensitivity {
    double least_ulps = 0.0;   ///< of the element with the tightest bound
    double median_ulps = 0.0;  ///< of the median element

    static void fields(auto& self, auto& visit) {
        visit.needed("least", self.least_ulps);
        visit.needed("median", self.median_ulps);
    }
};

/// What running one case came to.
struct Outcome {
    Verdict verdict = Verdict::vacuous;  ///< vacuous: every expected value was zero
    std::string message;                 ///< of failed, skipped and errored: the reason
    bool is_refusal = false;          ///< skipped, since the launcher refused the problem as it may
    bool is_of_two_calls = false;     ///< failed: what is wanted is what another call gave
    std::vector<WrongElement> worst;  ///< of failed, where elements can be named: the worst first
    std::vector<WrongMap> maps;
    std::vector<GivenNumbers> given;  ///< of failed
    double error_over_bound = 0.0;    ///< the largest; 0 where the comparison was exact
    /// Where outputs were compared within bounds, and a value other than zero was expected.
    std::optional<Sensitivity> sensitivity;
    std::optional<Imprecision> imprecision;
    std::optional<Uncompared> uncompared;  ///< of outputs that were compared within bounds
    Magnitudes values;  ///< passed, and compared with right values: of the numbers drawn
    Crowding crowding;  ///< passed
    /// Where signed integers wrapped in a checked variant: `int overflow at their.cu:12: 46341 *
    /// 46341 in block ...`. Empty where none did. The message of a failure ends with it.
    std::string overflows;
    /// Passed: the cotangents that the kernel, which declares nothing of them, takes for
    /// contiguous, as "dy". Empty where that was not asked, or it goes by their strides.
    std::string contiguous_alone;
    /// Calls that a launcher process completed, and those of them that launched nothing.
    std::int64_t calls_apart = 0, calls_without_launch = 0;
    double multiply_adds = 0.0;
    /// Seconds in the worker: of the kernel, of the reference, of the whole case.
    double seconds_kernel = 0.0, seconds_reference = 0.0, seconds_total = 0.0;
    double seconds_cpu = 0.0;                                 ///< processor time of the whole case
    std::variant<std::monostate, Timing, Ceilings> measured;  ///< for a request of `bench`
    Discovery discovery = Discovery::answered;  ///< the driver's note; does not travel

    static void fields(auto& self, auto& visit) {
        visit.one_of("verdict", self.verdict, all_verdicts,
                     [](Verdict one) { return name_of(one); });
        visit("message", self.message);
        visit("refusal", self.is_refusal);
        visit("two_calls", self.is_of_two_calls);
        visit("worst", self.worst);
        visit("maps", self.maps);
        visit("given", self.given);
        visit("error_over_bound", self.error_over_bound);
        visit("ulps", self.sensitivity);
        visit("imprecision", self.imprecision);
        visit("uncompared", self.uncompared);
        visit("magnitudes", self.values);
        visit("crowding", self.crowding);
        visit("overflows", self.overflows);
        visit("contiguous_alone", self.contiguous_alone);
        visit("calls_apart", self.calls_apart);
        visit("calls_without_a_launch", self.calls_without_launch);
    }

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

    /// Takes what the device noted of them.
    void add_overflows(std::string noted);

    std::string to_json() const;
    /// **Errors** std::invalid_argument when the line is not an outcome.
    static Outcome from_json(std::string_view line);
};

/// Whether two failures may be one: both were answered, ended a worker, or overstepped a limit.
bool is_of_one_kind(const Outcome& a, const Outcome& b);
/// The same; also both with wrong values, one output in common, or both with what no kernel may do;
/// both with NaN where a number is wanted, or neither.
bool fails_likewise(const Outcome& a, const Outcome& b);

struct SourceLine {
    std::string file;
    std::int64_t line = 0;
    bool operator==(const SourceLine&) const = default;
};

/// The lines of CUDA sources that a message names, "relu.cu:12", each once.
std::vector<SourceLine> source_lines_in(std::string_view message);
/// The first of them; nothing where it names none.
std::optional<SourceLine> source_line_in(std::string_view message);

}  // namespace gradverify
