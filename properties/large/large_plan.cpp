// SPDX-License-Identifier: Apache-2.0
#include "properties/large/large_plan.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

#include "harness/numbers/element_bits.hpp"
#include "harness/registry/element_types.hpp"

namespace gradverify {

namespace {

// The reference computes each of them.
constexpr int most_drawn = 12;
static_assert(most_drawn <= DrawnCopies::most);

constexpr int offset_bits[] = {32, 31, 16, 15};

bool is_zero(const Array<double>& array) {
    return std::ranges::all_of(array.data, [](double value) { return value == 0.0; });
}

/// The copies of a tensor along this axis; without an axis, all share the tensor.
CopyLayout layout_of(const LargeTensor& tensor, std::optional<std::size_t> axis,
                     std::int64_t copies) {
    if (!axis) return {.run = std::max<std::int64_t>(tensor.elements(), 1)};
    return {.run = tensor.strides[*axis] * (tensor.sizes[*axis] / copies), .copies = copies};
}

/// Copies around the first element that an offset of some bits does not reach, in each tensor.
DrawnCopies drawn_copies(const std::vector<LargeTensor>& tensors, std::int64_t copies) {
    std::vector<std::int64_t> chosen;
    const auto choose = [&](std::int64_t copy) {
        if (static_cast<int>(chosen.size()) < most_drawn && std::ranges::count(chosen, copy) == 0)
            chosen.push_back(copy);
    };
    choose(0);
    choose(copies - 1);
    for (const int bits : offset_bits)
        for (const bool in_bytes : {false, true})
            for (const LargeTensor& tensor : tensors) {
                const std::int64_t first =
                    (std::int64_t{1} << bits) / (in_bytes ? tensor.element_bytes() : 1);
                if (tensor.layout.copies == 1 || first >= tensor.elements()) continue;
                choose(copy_of(tensor.layout, first));
                choose(copy_of(tensor.layout, first - 1));
            }
    std::ranges::sort(chosen);
    DrawnCopies drawn{.count = static_cast<int>(chosen.size())};
    std::ranges::copy(chosen, drawn.at);
    return drawn;
}

std::vector<Array<double>> drawn_for_reference(const Kernel& kernel, const Problem& problem,
                                               const Data& data, ValueKind kind) {
    const ElementTypes types(kernel.any(), *kernel.op);
    const Values values = draw_values(*kernel.op, problem, data, kind, types);
    return pick(*kernel.op, problem, values, kernel.pass->taken_by_reference(), types);
}

/// The same case of a small problem, as the call on it would be without a setting.
Case small_case(const Case& checked, const Problem& problem) {
    Case small = checked;
    small.problem = problem;
    small.setting = {.is_strict = checked.setting.is_strict};
    return small;
}

Data shared_data(CaseContext& drawn, const LargeShape& shape) {
    const Operator& op = drawn.op();
    Data data{.is_explicit = true};
    for (const std::string& name : drawn_tensors(op)) {
        if (axis_of_copies(op, name, shape.one, *shape.along)) continue;
        const auto& values = drawn.inputs[name].data;
        for (std::size_t i = 0; i < values.size(); ++i)
            data.elements.push_back({name, static_cast<std::int64_t>(i), values[i]});
    }
    return data;
}

/// One of the small problems, and its tables in the layouts of the large call.
class SmallProblem {
  public:
    SmallProblem(Case small, const Case& checked, const Registry& registry, ValueKind kind)
        : small_(std::move(small)), setting_(checked.setting), context_(small_, registry, kind) {}

    CaseContext& context() { return context_; }
    std::vector<std::uint64_t> bits(const std::string& name, const Array<double>& values) const {
        const DType dtype = dtype_of(context_.declaration(), context_.op(), name);
        std::vector<std::uint64_t> table(values.data.size());
        for_each_offset(name, [&](std::size_t i, std::size_t offset) {
            table[offset] = bits_of(dtype, values.data[i]);
        });
        return table;
    }
    std::vector<std::uint64_t> input(const std::string& name) {
        return bits(name, context_.inputs[name]);
    }
    /// What an output holds before a call that adds to it; nothing of one that is written over.
    std::vector<std::uint64_t> initial(std::size_t output) {
        if (!context_.declaration().is_added_to(context_.pass().outputs[output])) return {};
        return bits(context_.pass().outputs[output], context_.inputs.initial_outputs()[output]);
    }
    std::vector<WantedValue> wanted_by_any_formula(Expected expected) const {
        if (expected.by_any_formula) expected.bounds = expected.by_any_formula();
        return wanted(expected);
    }
    std::vector<WantedValue> wanted(const Expected& expected) const {
        std::vector<WantedValue> table(expected.values.size());
        for_each_offset(expected.tensor, [&](std::size_t i, std::size_t offset) {
            table[offset] = {expected.values[i], expected.bound_at(i)};
        });
        return table;
    }

  private:
    /// Calls `visit(position in the array, offset in memory)` for each element.
    template <class Visit>
    void for_each_offset(const std::string& name, Visit visit) const {
        const Sizes sizes = context_.op().sizes_of(name, context_.problem());
        const Strides strides = strides_of(context_.op(), context_.declaration(), name, sizes,
                                           setting_.layout_of(name));
        const std::int64_t count = element_count(sizes);
        for (std::int64_t i = 0; i < count; ++i) {
            const Sizes index = unflatten(i, sizes);
            const std::int64_t offset =
                std::inner_product(index.begin(), index.end(), strides.begin(), std::int64_t{0});
            visit(static_cast<std::size_t>(i), static_cast<std::size_t>(offset));
        }
    }

    Case small_;
    Setting setting_;
    CaseContext context_;
};

/// Why the copies without data of their own would change what is summed over all.
std::string why_others_add(CaseContext& others, const LargeShape& shape) {
    const auto results = others.oracle.reference(others.pass());
    for (std::size_t i = 0; i < results.size(); ++i) {
        const std::string& name = others.pass().outputs[i];
        if (!axis_of_copies(others.op(), name, shape.one, *shape.along) && !is_zero(results[i]))
            return "along " + shape.along->name + ", copies without data add to " + name;
    }
    return {};
}

}  // namespace

LargeShape large_shape(const Kernel& kernel, const KernelDeclaration& declaration,
                       const Problem& one, const SeparableSpec& along, std::int64_t copies,
                       const Setting& setting) {
    LargeShape shape{
        .one = one, .large = multiplied(one, along, copies), .along = &along, .copies = copies};
    const Operator& op = *kernel.op;
    const auto& inputs = kernel.pass->inputs;
    for (const std::string& name : kernel.pass->tensors()) {
        LargeTensor tensor{.name = name,
                           .dtype = dtype_of(declaration, op, name),
                           .sizes = op.sizes_of(name, shape.large)};
        tensor.strides = strides_of(op, declaration, name, tensor.sizes, setting.layout_of(name));
        tensor.layout = layout_of(tensor, axis_of_copies(op, name, one, along), copies);
        if (shape.tensors.size() >= inputs.size())
            if (const Alias* alias = declaration.alias_of(name, 0))
                tensor.lies_in = static_cast<std::size_t>(std::ranges::find(inputs, alias->input) -
                                                          inputs.begin());
        shape.tensors.push_back(std::move(tensor));
    }
    shape.drawn = drawn_copies(shape.tensors, copies);
    for (LargeTensor& tensor : shape.tensors)
        tensor.drawn = tensor.layout.copies == 1 ? DrawnCopies{.at = {0}, .count = 1} : shape.drawn;
    return shape;
}

std::optional<std::string> why_unsupported(const Kernel& kernel, const LargeShape& shape) {
    for (const Problem& problem : {shape.large, shape.of_drawn(), shape.one}) {
        for (std::size_t i = 0; i < problem.slots().size(); ++i)
            if (problem[static_cast<int>(i)] > problem.space().spec(problem.slots()[i]).maximum)
                return problem.slots()[i].name + " is beyond its largest value";
        if (auto why = kernel.op->validate(problem)) return why;
        if (auto why = kernel.why_unsupported(problem)) return why;
    }
    return std::nullopt;
}

std::optional<std::string> why_law_fails(const Kernel& kernel, const Problem& one,
                                         const SeparableSpec& along, ValueKind kind) try {
    constexpr std::int64_t copies = 3;
    const auto taken =
        drawn_for_reference(kernel, multiplied(one, along, copies), {.seed = 1}, kind);
    return why_not_separable(*kernel.op, *kernel.pass, one, along, taken, copies);
} catch (const std::exception& wrong) {
    return wrong.what();
}

bool gives_only_zeros(const Kernel& kernel, const Problem& one, ValueKind kind) {
    const auto taken = drawn_for_reference(kernel, one, {.seed = 1, .is_dense = true}, kind);
    return std::ranges::all_of(reference_outputs(*kernel.op, *kernel.pass, one, taken), is_zero);
}

LargePlan plan_large(const Case& checked, const Registry& registry, ValueKind kind,
                     LargeShape shape) {
    LargePlan plan{.shape = std::move(shape)};
    LargeShape& made = plan.shape;
    const auto of_drawn = std::make_shared<SmallProblem>(small_case(checked, made.of_drawn()),
                                                         checked, registry, kind);
    CaseContext& drawn = of_drawn->context();
    const Kernel& kernel = drawn.kernel();
    if (auto why = why_not_separable(*kernel.op, *kernel.pass, made.one, *made.along,
                                     drawn.inputs.of_reference(drawn.pass()), made.drawn.count)) {
        plan.why_inapplicable = *why;
        return plan;
    }
    Case other_case = small_case(checked, made.one);
    other_case.data = shared_data(drawn, made);
    const auto of_others =
        std::make_shared<SmallProblem>(std::move(other_case), checked, registry, kind);
    CaseContext& others = of_others->context();
    others.oracle.is_part_of(drawn.oracle);
    plan.why_inapplicable = why_others_add(others, made);
    if (!plan.why_inapplicable.empty()) return plan;

    const std::size_t inputs = kernel.pass->inputs.size();
    for (std::size_t i = 0; i < inputs; ++i) {
        made.tensors[i].bits_of_drawn = of_drawn->input(made.tensors[i].name);
        made.tensors[i].bits_of_others = of_others->input(made.tensors[i].name);
    }
    const auto expected = drawn.oracle.expected(), expected_of_others = others.oracle.expected();
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const Expected &first = expected[i], &second = expected_of_others[i];
        LargeTensor& tensor = made.tensors[inputs + i];
        tensor.bits_of_drawn = of_drawn->initial(i);
        tensor.bits_of_others = of_others->initial(i);
        tensor.wanted = {of_drawn->wanted(first), of_others->wanted(second)};
        if (first.by_any_formula || second.by_any_formula)
            tensor.wanted_by_any_formula = [=] {
                return WantedTables{of_drawn->wanted_by_any_formula(first),
                                    of_others->wanted_by_any_formula(second)};
            };
        tensor.admits_nan = first.admits_nan || second.admits_nan;
    }
    return plan;
}

}  // namespace gradverify
