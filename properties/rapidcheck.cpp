// SPDX-License-Identifier: Apache-2.0
#include "properties/rapidcheck.hpp"

#include <rapidcheck.h>

#include <ostream>
#include <stdexcept>

#include "harness/base/text.hpp"
#include "properties/data/gen.hpp"
#include "properties/problems/generator.hpp"
#include "properties/properties.hpp"

namespace gradverify {
namespace {

/// The registry of this process, checked here where no main of ours did.
const Registry& checked_registry() {
    static const Registry& checked = []() -> const Registry& {
        Registry& registry = Registry::instance();
        try {
            registry.kernels();
        } catch (const std::logic_error&) {
            registry.check();
        }
        return registry;
    }();
    return checked;
}

const Kernel& kernel_named(std::string_view name) {
    if (const Kernel* kernel = checked_registry().find_kernel(name)) return *kernel;
    std::string known;
    for (const Kernel& kernel : checked_registry().kernels()) known += " " + kernel.name;
    throw std::invalid_argument("there is no kernel " + std::string(name) + "; there are" + known);
}

const DefinedProperty& property_named(const Kernel& kernel, std::string_view name) {
    std::string known;
    for (const DefinedProperty& property : all_properties()) {
        if (!property.applies_to(kernel) || property.own_cases > 0) continue;
        if (property.name == name) return property;
        known += " " + std::string(property.name);
    }
    throw std::invalid_argument("no property " + std::string(name) + " applies to " + kernel.name +
                                "; those that do are" + known);
}

/// Made once for each kernel, for the whole process, since shrink trees refer to it.
const ProblemGenerator& generator_of(const Kernel& kernel) {
    static std::map<std::string, std::unique_ptr<const ProblemGenerator>> generators;
    auto& generator = generators[kernel.name];
    if (!generator)
        generator =
            std::make_unique<const ProblemGenerator>(*kernel.op, *kernel.pass, kernel.any());
    if (!generator->why_none().empty()) throw std::invalid_argument(generator->why_none());
    return *generator;
}

Tensors named(const std::vector<std::string>& names, std::vector<Array<double>> values) {
    Tensors tensors;
    for (std::size_t i = 0; i < names.size(); ++i) tensors[names[i]] = std::move(values[i]);
    return tensors;
}

}  // namespace

struct DrawnCase::State {
    explicit State(Case of)
        : drawn(std::move(of)),
          kernel(kernel_named(drawn.kernel)),
          context(drawn, checked_registry(),
                  property_named(kernel, drawn.property).values(*kernel.op)) {}

    std::vector<Expected> expected() {
        return context.kind() == ValueKind::integers ? context.oracle.expected()
                                                     : context.oracle.within_rounding();
    }

    const Case drawn;
    const Kernel& kernel;
    CaseContext context;
};

DrawnCase::DrawnCase(Case of) : state_(std::make_shared<State>(std::move(of))) {}

DrawnCase DrawnCase::parse(std::string_view word) {
    return DrawnCase(Case::parse(word, checked_registry()));
}

const Case& DrawnCase::as_case() const { return state_->drawn; }

Tensors DrawnCase::inputs() const {
    const PassSpec& pass = state_->context.pass();
    return named(pass.inputs, state_->context.inputs.of(pass));
}

Tensors DrawnCase::call(const Tensors& inputs) const {
    std::vector<Array<double>> given;
    for (const std::string& name : state_->context.pass().inputs) given.push_back(inputs.at(name));
    CallResult result;
    try {
        result = state_->context.caller.call(state_->kernel, given);
    } catch (const NotServed& reason) {
        RC_DISCARD(std::string(reason.what()));
    }
    if (const std::string complaint = result.complaint(); !complaint.empty())
        throw std::runtime_error(complaint);
    return named(state_->context.pass().outputs, std::move(result.outputs));
}

Tensors DrawnCase::expected() const {
    Tensors tensors;
    for (Expected& one : state_->expected())
        tensors[one.tensor] = {std::move(one.sizes), std::move(one.values)};
    return tensors;
}

std::string DrawnCase::difference(const Tensors& outputs) const {
    std::vector<Comparison> comparisons;
    const std::vector<Expected> expected = state_->expected();
    for (std::size_t i = 0; i < expected.size(); ++i)
        if (state_->drawn.setting.asks_for(i))
            comparisons.push_back(compare(outputs.at(expected[i].tensor).data, expected[i]));
    const Outcome outcome = combine(comparisons, "differs from the reference");
    return outcome.verdict == Verdict::failed ? outcome.message : "";
}

void showValue(const DrawnCase& drawn, std::ostream& out) {
    out << "gradverify repro " << shell_quoted(drawn.as_case().print());
}

void showValue(const Problem& problem, std::ostream& out) { out << problem.print(); }

namespace gen {

rc::Gen<Problem> problems(std::string_view kernel) {
    return problem_gen(generator_of(kernel_named(kernel)));
}

rc::Gen<Data> data(std::string_view kernel, const Problem& problem, std::string_view property) {
    const Kernel& of = kernel_named(kernel);
    return data_gen(of, problem, property_named(of, property).values(*of.op));
}

rc::Gen<Setting> settings(std::string_view kernel, const Problem& problem) {
    return setting_gen(kernel_named(kernel), problem);
}

rc::Gen<DrawnCase> cases(std::string_view kernel, std::string_view property,
                         std::string_view device) {
    const Kernel& of = kernel_named(kernel);
    if (!of.on(device)) throw std::invalid_argument(of.name + " " + of.why_not_on(device));
    const auto drawn =
        case_gen({&of, &property_named(of, property), std::string(device)},
                 property_named(of, property).values(*of.op), problem_gen(generator_of(of)),
                 rc::gen::just(std::optional<Problem>()));
    // A listed value may leave no case at all, as where a sum is no longer exact.
    return [=](const rc::Random& random, int size) {
        using Tree = rc::Shrinkable<std::optional<DrawnCase>>;
        const Tree tree = rc::shrinkable::map(drawn(random, size), [](Case&& one) {
            try {
                return std::optional(DrawnCase(std::move(one)));
            } catch (const std::invalid_argument&) {
                return std::optional<DrawnCase>();
            }
        });
        const auto sound = rc::shrinkable::filter(
            tree, [](const std::optional<DrawnCase>& one) { return one.has_value(); });
        if (!sound) throw std::logic_error("what was drawn is no case");
        return rc::shrinkable::map(*sound, [](std::optional<DrawnCase>&& one) { return *one; });
    };
}

}  // namespace gen
}  // namespace gradverify
