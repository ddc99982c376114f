// SPDX-License-Identifier: Apache-2.0
#include "properties/checking/context.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "harness/base/random.hpp"
#include "harness/devices/call_note.hpp"
#include "harness/numbers/element_bits.hpp"
#include "harness/registry/element_types.hpp"
#include "properties/data/exact_sums.hpp"

namespace gradverify {

namespace {

const Kernel& kernel_of(const Case& checked, const Registry& registry) {
    if (const Kernel* kernel = registry.find_kernel(checked.kernel)) return *kernel;
    throw std::invalid_argument("there is no kernel " + checked.kernel);
}

const KernelDeclaration& declaration_of(const Case& checked, const Kernel& kernel) {
    if (const KernelDeclaration* declaration = kernel.on(checked.device)) return *declaration;
    throw std::invalid_argument(kernel.name + " " + kernel.why_not_on(checked.device));
}

void require_supported(const Kernel& kernel, const Problem& problem) {
    if (const auto why = kernel.op->validate(problem)) throw std::invalid_argument(*why);
    if (const auto why = kernel.why_unsupported(problem)) throw std::invalid_argument(*why);
}

/// By turns, so that the few dense cases of a problem meet each edge and each parity.
Surroundings surroundings_of_dense(std::uint64_t seed) {
    constexpr Surroundings turns[] = {
        {.poison = Poison::nan, .guard_parity = 0, .edge = Edge::end},
        {.poison = Poison::nan, .guard_parity = 1, .edge = Edge::begin},
        {.poison = Poison::positive_huge, .guard_parity = 1, .edge = Edge::end},
        {.poison = Poison::negative_huge, .guard_parity = 0, .edge = Edge::begin}};
    return turns[(seed + 3) % 4];
}

}  // namespace

CaseContext::CaseContext(const Case& checked, const Registry& registry, ValueKind kind)
    : checked_(checked),
      registry_(registry),
      kernel_(kernel_of(checked, registry)),
      device_(device_named(checked.device)),
      declaration_(declaration_of(checked, kernel_)),
      kind_(kind) {
    require_supported(kernel_, problem());
    if (checked.setting.copies) return;  // whose values no host holds
    if (checked.data.is_explicit) {
        values_ = draw_values(op(), problem(), checked.data, kind_, types());
        for (auto& [name, array] : values_) expand(name, array);
    }
    if (checked.data.is_explicit && kind_ == ValueKind::integers && !has_domains()) require_exact();
    if (declaration_.write_mode != WriteMode::accumulates) return;
    for (const std::string& name : pass().outputs) {
        Array<double> initial{.sizes = op().sizes_of(name, problem()), .data = {}};
        initial.data.resize(static_cast<std::size_t>(element_count(initial.sizes)));
        initial_outputs_.push_back(draw_direction(initial, seed_for("initial " + name),
                                                  exact_bits(), longest_reduction(op(), problem()),
                                                  largest_step(name)));
    }
}

std::int64_t CaseContext::largest_step(std::string_view tensor, const Kernel* other) const {
    const std::int64_t largest = std::min<std::int64_t>(64, types().largest_integer(op(), tensor));
    return other ? std::min(largest, ElementTypes(other->any(), op()).largest_integer(op(), tensor))
                 : largest;
}

// Where sums round, a comparison that tolerates nothing would blame a correct kernel.
void CaseContext::require_exact() {
    auto taken = values(pass().taken_by_reference());
    for (std::size_t i = 0; i < taken.size(); ++i) {
        if (op().tensor_named(pass().taken_by_reference()[i]).holds_whole_numbers()) continue;
        for (double& value : taken[i].data) {
            if (std::isfinite(value) && value != std::round(value))
                throw std::invalid_argument("data: " + checked_.property + " needs integers");
            if (!std::isfinite(value)) value = 0.0;
        }
    }
    if (!sums_stay_exact(op(), pass(), problem(), taken, exact_bits()))
        throw std::invalid_argument("data: its sums go beyond 2^" + std::to_string(exact_bits()) +
                                    ", where integers are no longer exact");
}

const Array<double>& CaseContext::value(const std::string& name) {
    auto found = values_.find(name);
    if (found != values_.end()) return found->second;
    if (op().is_output(name)) {
        const auto saved = saved_values(op(), problem(), values(op().forward().inputs), types());
        for (std::size_t i = 0; i < saved.size(); ++i)
            values_.emplace(op().outputs[i].name, saved[i]);
    } else if (op().is_piecewise_polynomial && kind_ == ValueKind::integers) {
        // Its tensors are drawn together or not at all.
        for (auto& [tensor, array] : draw_values(op(), problem(), checked_.data, kind_, types())) {
            expand(tensor, array);
            values_.emplace(tensor, std::move(array));
        }
    } else {
        Array<double> array = draw_tensor(op(), problem(), checked_.data, kind_, types(), name);
        expand(name, array);
        values_.emplace(name, std::move(array));
    }
    return values_.at(name);
}

// Long sums of random integers stay small since their signs differ. Those of an expanded tensor are
// all of one sign.
bool CaseContext::adds_up_expanded() const {
    const bool is_expanded = std::ranges::any_of(
        checked_.setting.layouts, [](const auto& one) { return one.second.expanded != 0; });
    return is_expanded && static_cast<double>(longest_reduction(op(), problem())) >
                              std::ldexp(1.0, exact_bits() - 1);
}

// Of a tensor that lies expanded in memory, all elements along an axis are one: the first of them
// that is not zero, or nothing would be compared where that one happens to be.
void CaseContext::expand(const std::string& name, Array<double>& array) const {
    const TensorLayout layout = checked_.setting.layout_of(name);
    std::size_t inner = array.data.size();
    for (std::size_t axis = 0; axis < array.sizes.size() && inner > 0; ++axis) {
        const auto size = static_cast<std::size_t>(array.sizes[axis]);
        inner /= size;
        if (!layout.is_expanded(axis)) continue;
        for (std::size_t first = 0; first < array.data.size(); ++first) {
            if (first / inner % size != 0) continue;
            double value = 0.0;
            for (std::size_t i = 0; i < size && value == 0.0; ++i)
                value = array.data[first + i * inner];
            for (std::size_t i = 0; i < size; ++i) array.data[first + i * inner] = value;
        }
    }
}

std::vector<Array<double>> CaseContext::values(const std::vector<std::string>& names) {
    std::vector<Array<double>> all;
    all.reserve(names.size());
    for (const std::string& name : names) all.push_back(value(name));
    return all;
}

std::vector<Array<double>> CaseContext::cotangents() {
    std::vector<Array<double>> all;
    for (const std::string& y : op().differentiable_outputs()) all.push_back(value("d" + y));
    return all;
}

std::uint64_t CaseContext::seed_for(std::string_view purpose) const {
    return mix_seed(checked_.data.is_explicit ? 0 : checked_.data.seed, purpose);
}

bool CaseContext::can_take(const Kernel& kernel, const std::vector<Array<double>>& inputs) const {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const DType dtype = dtype_of(kernel.any(), *kernel.op, kernel.pass->inputs[i]);
        if (!are_numbers_of(dtype, inputs[i].data)) return false;
        // As they are once they are multiplied.
        if (kernel.any().multiplies_in_tf32() && is_floating(dtype) &&
            !std::ranges::all_of(inputs[i].data, &is_number_of_tf32))
            return false;
    }
    return true;
}

Surroundings CaseContext::surroundings() const {
    if (checked_.data.is_dense) return surroundings_of_dense(checked_.data.seed);
    SplitMix64 random(seed_for("surroundings"));
    Surroundings drawn{.guard_parity = static_cast<int>(random.below(2))};
    // Mostly NaN; now and then a finite poison, which a maximum or a comparison can't swallow.
    const std::uint64_t poison = random.below(8);
    if (poison < 2) drawn.poison = poison == 0 ? Poison::positive_huge : Poison::negative_huge;
    if (random.below(2) == 1) drawn.edge = Edge::begin;
    return drawn;
}

std::vector<DelayedStream> CaseContext::streams_to_delay() const {
    if (!checked_.setting.own_stream || !device_.overlaps_streams()) return {DelayedStream::none};
    return {DelayedStream::default_stream, DelayedStream::given};
}

Call CaseContext::make_call(const Kernel& kernel, const std::vector<Array<double>>& inputs,
                            const Setting& setting, const Surroundings& surroundings) const {
    return {.kernel = kernel,
            .device = device_,
            .problem = problem(),
            .inputs = inputs,
            .setting = setting,
            .surroundings = surroundings,
            .initial_outputs = &kernel == &kernel_ ? std::span(initial_outputs_)
                                                   : std::span<const Array<double>>()};
}

CallResult CaseContext::call(const Kernel& kernel, const std::vector<Array<double>>& inputs) {
    // The setting was drawn for this case's kernel; a partner gets the default one.
    const Setting setting = &kernel == &kernel_ ? checked_.setting : Setting{};
    return call(kernel, inputs, setting, surroundings());
}

/// Why there can be no other call after it, where it cost the device. Else what it returns is not
/// looked at: its problem is a case of its own.
std::string CaseContext::call_before() {
    const auto& before = checked_.setting.before;
    if (!before || std::exchange(called_before_, true)) return {};
    const Values values = draw_values(op(), *before, {.seed = seed_for("before")}, kind_, types());
    const auto inputs = pick(op(), *before, values, pass().inputs, types());
    std::string error;
    try {
        const CallResult result = call_kernel({.kernel = kernel_,
                                               .device = device_,
                                               .problem = *before,
                                               .inputs = inputs,
                                               .setting = {},
                                               .surroundings = {},
                                               .initial_outputs = {}});
        spent_.seconds_kernel += result.seconds;
        error = result.error;
    } catch (const NotServed& reason) {
        error = reason.what();
    }
    if (!device_was_lost()) return {};
    return error + " in the call before, on " + before->print();
}

CallResult CaseContext::call(const Kernel& kernel, const std::vector<Array<double>>& inputs,
                             const Setting& setting, const Surroundings& surroundings) {
    if (&kernel == &kernel_)
        if (std::string lost = call_before(); !lost.empty()) return {.error = std::move(lost)};
    // If the partner kills this process, the case is run again without it.
    if (&kernel != &kernel_) note_partner(kernel.name);
    CallResult result;
    try {
        result = call_kernel(make_call(kernel, inputs, setting, surroundings));
    } catch (const NotServed& reason) {
        // A partner that is not served is only one witness less.
        if (&kernel == &kernel_) throw;
        result.error = reason.what();
    }
    spent_.seconds_kernel += result.seconds;
    if (&kernel != &kernel_ && device_was_lost())
        end_without_device(kernel.name +
                           ", called for its result, lost the device: " + result.error);
    return result;
}

CallResult CaseContext::call_checked(const std::vector<Array<double>>& inputs) {
    if (std::string lost = call_before(); !lost.empty()) return {.error = std::move(lost)};
    Call call = make_call(kernel_, inputs, checked_.setting, surroundings());
    call.checked = true;
    CallResult result = call_kernel(call);
    spent_.seconds_kernel += result.seconds;
    return result;
}

std::pair<CallResult, CallResult> CaseContext::call_twice(const std::vector<Array<double>>& inputs,
                                                          const Setting& setting) {
    if (const std::string lost = call_before(); !lost.empty())
        return {{.error = lost}, {.error = lost}};
    // Not at the edge of `call`: a property that does both has seen both.
    auto results =
        call_kernel_twice(make_call(kernel_, inputs, setting, surroundings().with_other_edge()));
    spent_.seconds_kernel += results.first.seconds + results.second.seconds;
    return results;
}

std::vector<Comparison> compare_outputs(const CallResult& result,
                                        const std::vector<Expected>& expected,
                                        const Setting& setting) {
    std::vector<Comparison> comparisons;
    for (std::size_t i = 0; i < expected.size(); ++i)
        if (setting.asks_for(i)) {
            comparisons.push_back(compare(result.outputs[i].data, expected[i]));
            for (WrongElement& wrong : comparisons.back().worst)
                wrong.dtype = result.output_types[i];
        }
    return comparisons;
}

SoundForward sound_forward(CaseContext& context, const std::set<const Kernel*>& unsound) {
    const PassSpec& forward = context.op().forward();
    const auto inputs = context.inputs_of(forward);
    std::vector<Expected> expected;
    for (const Kernel& candidate : context.registry().kernels()) {
        if (candidate.pass != &forward || !candidate.on(context.checked().device) ||
            candidate.any().write_mode == WriteMode::accumulates || unsound.contains(&candidate) ||
            candidate.any().norm_wise_growth || is_distrusted(candidate.name) ||
            candidate.why_unsupported(context.problem()))
            continue;
        if (!context.can_take(candidate, inputs)) continue;
        if (expected.empty()) {
            const auto results = context.reference(forward, inputs);
            for (std::size_t i = 0; i < results.size(); ++i)
                expected.push_back(Expected::exactly(forward.outputs[i], results[i]));
        }
        CallResult result = context.call(candidate, inputs);
        if (!result.complaint().empty()) continue;
        const auto comparisons = compare_outputs(result, expected, Setting{});
        if (std::ranges::all_of(comparisons, &Comparison::ok))
            return {.kernel = &candidate, .outputs = std::move(result.outputs)};
    }
    return {};
}

double inner_product(const Array<double>& a, const Array<double>& b) {
    return std::inner_product(a.data.begin(), a.data.end(), b.data.begin(), 0.0);
}

}  // namespace gradverify
