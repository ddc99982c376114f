// SPDX-License-Identifier: Apache-2.0
// A kernel that is right on small tensors is right on those of more than 2^31 elements, or bytes.
// The large problem is made of copies of a small one along a separable axis, so the small one's
// reference says what every element must be, and every element is compared, on the device. Shares
// of the copies are run first, each 64 times the one before: a kernel that would be too slow with
// the next is skipped.
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "harness/base/text.hpp"
#include "harness/devices/large/large_lock.hpp"
#include "harness/devices/sanitized_process.hpp"
#include "harness/operators/copies.hpp"
#include "properties/large/copy_times.hpp"
#include "properties/large/large_plan.hpp"
#include "properties/properties.hpp"

namespace gradverify {

namespace {

constexpr std::int64_t shares[] = {1 << 18, 1 << 12, 1 << 6};
// Fewer copies would nearly all hold drawn data.
constexpr std::int64_t fewest_rehearsed = 32;
// The limits on a GPU. The CPU device has none: a loaded machine must not decide what tests see.
constexpr double most_seconds = 6.0, most_seconds_rehearsed = 1.0;
// The CPU device takes a minute for this.
constexpr std::int64_t most_elements_on_cpu = std::int64_t{1} << 24;

const LargeTensor& largest_of(const LargeShape& shape) {
    return *std::ranges::max_element(shape.tensors, {}, &LargeTensor::elements);
}

/// `y has 2147483712 elements, 8 GiB`: the largest tensor of the call.
std::string size_of(const LargeShape& shape) {
    const LargeTensor& largest = largest_of(shape);
    return largest.name + " has " + std::to_string(largest.elements()) + " elements, " +
           print_bytes(static_cast<double>(largest.bytes()));
}

struct LargeRun {
    CaseContext& context;
    LargePlan plan;
    LargeResult result{};

    std::optional<Outcome> failure() {
        const Surroundings surroundings = context.caller.surroundings();
        result = call_on_large({.kernel = context.kernel(),
                                .device = context.device(),
                                .problem = plan.shape.large,
                                .setting = context.checked().setting,
                                .tensors = plan.shape.tensors,
                                .poison = surroundings.poison,
                                .guard_parity = surroundings.guard_parity});
        context.caller.spend(result.seconds);
        if (!result.lacks_memory.empty()) return Outcome::skipped(result.lacks_memory);
        if (!result.complaint.empty())
            return Outcome::failed(result.complaint + " (" + size_of(plan.shape) + ")");
        Outcome outcome = verdict();
        if (outcome.verdict != Verdict::failed) return std::nullopt;
        outcome.message += ": " + result.places + " (" + size_of(plan.shape) + ")";
        return outcome;
    }
    Outcome verdict() const {
        return combine(result.comparisons, "differs from what the copies of a small problem give");
    }
};

/// The same with a share of the copies; nothing where there are too few, or the kernel does not
/// take them.
std::optional<LargeShape> with_share(CaseContext& context, const LargeShape& shape,
                                     std::int64_t share) {
    const std::int64_t copies = shape.copies / share;
    if (copies < fewest_rehearsed) return std::nullopt;
    LargeShape fewer = large_shape(context.kernel(), context.declaration(), shape.one, *shape.along,
                                   copies, context.checked().setting);
    if (why_unsupported(context.kernel(), fewer)) return std::nullopt;
    return fewer;
}

/// The outcome of a call on fewer copies, where it makes the next larger one, of `next_copies`,
/// pointless.
std::optional<Outcome> rehearse(LargeRun& rehearsal, CopyTimes& times, std::int64_t next_copies,
                                std::int64_t all_copies) {
    const bool is_timed = rehearsal.context.checked().device != "cpu";
    const std::int64_t copies = rehearsal.plan.shape.copies;
    const double limit = next_copies == all_copies ? most_seconds : most_seconds_rehearsed;
    // The first call loads the kernel, which the second need not.
    for (int round = 0; round < 2; ++round) {
        if (auto failure = rehearsal.failure()) {
            failure->message = "with " + std::to_string(copies) + " copies: " + failure->message;
            return failure;
        }
        times.add(copies, rehearsal.result.seconds);
        if (!is_timed || times.seconds_for(next_copies) <= limit) return std::nullopt;
    }
    return Outcome::skipped("too slow at this size: a call would take about " +
                            print_seconds(times.seconds_for(all_copies)));
}

}  // namespace

Outcome holds_when_large(CaseContext& context) {
    const Case& checked = context.checked();
    if (!checked.setting.copies)
        throw std::invalid_argument("holds_when_large needs a case with copies=..., as copies=n*9");
    if (is_under_compute_sanitizer())
        return Outcome::skipped("large tensors are not watched by compute-sanitizer");
    const auto [along_name, copies] = *checked.setting.copies;
    const SeparableSpec& along = *find_named(context.op().separable, along_name);
    const LargeShape shape =
        large_shape(context.kernel(), context.declaration(),
                    *one_copy(checked.problem, along, copies), along, copies, checked.setting);
    if (const auto why = why_unsupported(context.kernel(), shape))
        throw std::invalid_argument(*why);
    if (checked.device == "cpu" && largest_of(shape).elements() > most_elements_on_cpu)
        return Outcome::skipped("too large for the device cpu: " + size_of(shape));
    const auto plan = [&](LargeShape of) {
        return plan_large(checked, context.registry(), context.kind(), std::move(of));
    };
    LargeRun large{context, plan(shape)};
    if (!large.plan.why_inapplicable.empty()) return Outcome::skipped(large.plan.why_inapplicable);
    std::vector<LargeRun> fewer;
    for (const std::int64_t share : shares)
        if (auto of_share = with_share(context, shape, share))
            fewer.push_back(LargeRun{context, plan(std::move(*of_share))});
    const LargeLock lock(checked.device);
    CopyTimes times;
    for (std::size_t i = 0; i < fewer.size(); ++i) {
        const std::int64_t next = i + 1 < fewer.size() ? fewer[i + 1].plan.shape.copies : copies;
        if (auto outcome = rehearse(fewer[i], times, next, copies)) return *outcome;
    }
    if (auto failure = large.failure()) return *failure;
    return large.verdict();
}

}  // namespace gradverify
