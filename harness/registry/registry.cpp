// SPDX-License-Identifier: Apache-2.0
// All declarations become kernels at once, and all that is wrong with them is said at once.
#include "harness/registry/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "harness/base/refuse.hpp"
#include "harness/base/text.hpp"
#include "harness/operators/copies.hpp"
#include "harness/registry/element_types.hpp"
#include "harness/registry/layout.hpp"
#include "harness/registry/not_supported.hpp"

namespace gradverify {

namespace {

std::string place_of(const KernelDeclaration& declaration) {
    return fmt::format("{}:{}", declaration.file, declaration.line);
}

std::string file_name(const KernelDeclaration& declaration) {
    return std::filesystem::path(declaration.file).filename().string();
}

/// Whether a name can be a field of a printed case and be found by a glob: without `:` and `*`.
bool is_name(const std::string& name) {
    return !name.empty() && !glob_matches("*[!a-zA-Z0-9_.-]*", name);
}

std::vector<std::string> mistakes_of(const Operator& op) {
    if (!op.mistakes.empty()) return op.mistakes;
    std::vector<std::string> mistakes = mistakes_in_separable(op);
    if (op.benchmark.empty()) return mistakes;
    std::optional<std::string> why;
    try {
        why = op.validate(Problem::parse(op.space, op.benchmark));
    } catch (const std::invalid_argument& wrong) {
        why = wrong.what();
    }
    if (why) add(mistakes, "its benchmark problem {}: {}", op.benchmark, *why);
    return mistakes;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
}

/// Where a declaration names tensors that its pass lacks, or that can't be what it says of them.
std::vector<std::string> mistakes_in_tensors(const KernelDeclaration& declaration,
                                             const Operator& op, const PassSpec& pass) {
    Mistakes mistakes;
    for (const Alias& alias : declaration.aliases)
        if (!has(pass.outputs, alias.output) || !has(pass.inputs, alias.input))
            add(mistakes,
                "in_place(\"{}\", \"{}\") needs an output and an input of the pass; "
                "its outputs are "
                "{}, its inputs {}",
                alias.output, alias.input, joined(pass.outputs), joined(pass.inputs));
    for (const std::string& output : declaration.added_to)
        if (!has(pass.outputs, output))
            add(mistakes, "adds_to(\"{}\") needs an output of the pass; there are {}", output,
                joined(pass.outputs));
    for (const auto* names : {&declaration.padding_left, &declaration.padding_open})
        for (const std::string& output : *names)
            if (!has(pass.outputs, output) ||
                !has(pass.inputs, op.tensor_named(output).lengths.tensor))
                add(mistakes,
                    "{}(\"{}\") needs an output of the pass that the operator declares padded(), "
                    "and a pass that takes its lengths",
                    names == &declaration.padding_left ? "leaves_padding" : "any_padding", output);
    for (const std::string& input : declaration.always_zero)
        if (const TensorSpec* of = find_named(op.inputs, input);
            !of || of->holds_whole_numbers() || !has(pass.inputs, input))
            add(mistakes,
                "without(\"{}\") needs an input of the pass that holds numbers; it takes {}", input,
                joined(pass.inputs));
    return mistakes;
}

/// Where a declaration as a whole needs what its operator or a number lacks.
std::vector<std::string> mistakes_in_conditions(const KernelDeclaration& declaration,
                                                const Operator& op, const PassSpec& pass) {
    const auto may_be_invalid = [&](const std::string& input) {
        return op.tensor_named(input).may_be_invalid;
    };
    const double growth = declaration.norm_wise_growth.value_or(1.0);
    const std::pair<bool, const char*> rules[] = {
        {declaration.accepts_invalid_indices && std::ranges::none_of(pass.inputs, may_be_invalid),
         "with_invalid_indices() needs an input of the pass that the operator declares with "
         "or_invalid()"},
        {declaration.takes_finite_numbers_alone &&
             std::ranges::none_of(op.inputs, &TensorSpec::may_be_nan),
         "finite_numbers_alone() needs an operator that declares defined_for_nan() of an input; of "
         "others no NaN is drawn"},
        {declaration.most_elements && *declaration.most_elements < 1,
         "up_to_elements(N) needs an N of at least 1"},
        {!(growth >= 1.0 && std::isfinite(growth)),
         "norm_wise(growth) needs a finite growth of at least 1"},
    };
    Mistakes mistakes;
    for (const auto& [is_broken, what] : rules)
        if (is_broken) mistakes.emplace_back(what);
    return mistakes;
}

/// Enters one declaration into the kernels found so far, or says why it can't be.
class Resolver {
  public:
    explicit Resolver(const Registry& registry, std::vector<std::string> operator_names)
        : registry_(registry), operator_names_(std::move(operator_names)) {}

    void resolve(KernelDeclaration& declaration) {
        if (!is_name(declaration.variant))
            return wrong(declaration,
                         "a variant's name holds letters, digits, '_', '-' and '.', not '{}'",
                         declaration.variant);
        const Operator* op = registry_.find_operator(declaration.operator_name);
        if (!op)
            return wrong(declaration, "there is no operator '{}'{}; there are: {}",
                         declaration.operator_name,
                         registry_.leaves_out(declaration.operator_name)
                             ? " in this build of gradverify (GRADVERIFY_PARTS can name it)"
                             : "",
                         joined_or_none(operator_names_));
        if (!op->mistakes.empty()) return;  // said once, for the operator
        const PassSpec* pass = op->find_pass(declaration.pass_name);
        if (!pass)
            return wrong(declaration, "operator {} has no pass '{}'; it has: {}", op->name,
                         declaration.pass_name, joined_or_none(names_of(op->passes)));
        check_problems(declaration, *op);
        for (const auto& mistakes_in :
             {mistakes_in_tensors, mistakes_in_conditions, mistakes_in_types, mistakes_in_layouts})
            for (const std::string& mistake : mistakes_in(declaration, *op, *pass))
                wrong(declaration, "{}", mistake);
        const std::string name = declaration.full_name();
        const Kernel kernel{.name = name, .op = op, .pass = pass};
        enter(kernels.try_emplace(name, kernel).first->second, declaration);
    }

    std::map<std::string, Kernel> kernels;
    std::vector<std::string> errors;

  private:
    template <class... Values>
    void wrong(const KernelDeclaration& declaration, fmt::format_string<Values...> what,
               Values&&... values) {
        const std::string error =
            fmt::format("kernel {} ({}): {}", declaration.full_name(), place_of(declaration),
                        fmt::format(what, std::forward<Values>(values)...));
        // A file that is compiled for two devices makes each mistake twice.
        if (!has(errors, error)) errors.push_back(error);
    }

    /// What limits the problems: features, ranks and constraints.
    void check_problems(KernelDeclaration& declaration, const Operator& op) {
        for (const std::string& feature : declaration.features)
            if (!find_named(op.features, feature))
                wrong(declaration, "there is no feature '{}' of {}; there are: {}", feature,
                      op.name, joined_or_none(names_of(op.features)));
        const std::optional<RankRange>& ranks = declaration.ranks;
        const RankRange possible = op.space.ranks();
        if (ranks && (ranks->least > ranks->most || !possible.contains(ranks->least) ||
                      !possible.contains(ranks->most)))
            wrong(declaration, "spatial_axes({}, {}) must lie within those of {}: {}", ranks->least,
                  ranks->most, op.name, possible.print());
        else
            complete(declaration, op);
        try {
            check_names(declaration.constraints, op.space, ranks.value_or(possible));
        } catch (const std::invalid_argument& unknown) {
            wrong(declaration, "{}", unknown.what());
        }
    }

    /// Adds the ranks and constraints of ordinary kernels where the declaration says nothing else.
    static void complete(KernelDeclaration& declaration, const Operator& op) {
        if (std::exchange(declaration.is_complete, true)) return;
        if (!declaration.ranks) declaration.ranks = op.usual_ranks;
        for (const Feature& feature : op.features)
            if (!has(declaration.features, feature.name))
                declaration.constraints.insert(declaration.constraints.end(),
                                               feature.without.begin(), feature.without.end());
    }

    void enter(Kernel& kernel, const KernelDeclaration& declaration) {
        const auto clash = [&](const std::string& how, const KernelDeclaration& first) {
            errors.push_back(fmt::format(
                "kernel {} is registered twice{}: {} and {}; give one of them another variant name",
                kernel.name, how, place_of(first), place_of(declaration)));
        };
        if (const auto first = kernel.by_device.find(declaration.device);
            first != kernel.by_device.end())
            return clash(" for " + declaration.device, *first->second);
        // One file is compiled for each device; two files would be two kernels of one name.
        if (!kernel.by_device.empty() && file_name(kernel.any()) != file_name(declaration))
            return clash("", kernel.any());
        kernel.by_device[declaration.device] = &declaration;
    }

    const Registry& registry_;
    std::vector<std::string> operator_names_;
};

}  // namespace

const KernelDeclaration* Kernel::on(std::string_view device) const {
    const auto found = why_absent.empty() ? by_device.find(std::string(device)) : by_device.end();
    return found == by_device.end() ? nullptr : found->second;
}

std::string Kernel::why_not_on(std::string_view device) const {
    if (by_device.contains(std::string(device)) && !why_absent.empty())
        return "can't run on this machine: " + why_absent;
    return "is not built for the device " + std::string(device);
}

std::vector<std::string> Kernel::devices() const {
    std::vector<std::string> devices;
    for (const auto& [device, declaration] : by_device)
        if (device != checked_variant) devices.push_back(device);
    return devices;
}

std::vector<std::string> Kernel::conditions() const {
    const KernelDeclaration& declared = any();
    std::vector<std::string> conditions;
    if (declared.ranks && declared.ranks != op->space.ranks())
        conditions.push_back(declared.ranks->print());
    for (const Constraint& constraint : declared.constraints)
        conditions.push_back(constraint.print());
    if (declared.predicate) conditions.push_back(declared.predicate_text);
    if (declared.most_elements)
        conditions.push_back(
            fmt::format("tensors of at most {} elements", *declared.most_elements));
    if (!declared.accepts_empty) conditions.emplace_back("no empty tensors");
    return conditions;
}

std::optional<std::string> Kernel::why_unsupported(const Problem& problem) const {
    const KernelDeclaration& declared = any();
    if (declared.ranks && !declared.ranks->contains(problem.rank()))
        return "needs " + declared.ranks->print();
    if (const Constraint* violated = first_violated(declared.constraints, problem))
        return "needs " + violated->print();
    if (declared.predicate && !declared.predicate(problem))
        return "needs " + declared.predicate_text;
    if (declared.most_elements)
        for (const std::string& tensor : pass->tensors())
            if (element_count(op->sizes_of(tensor, problem)) > *declared.most_elements)
                return fmt::format(
                    "needs tensors of at most {} elements (up_to_elements() is declared); {} has "
                    "more",
                    *declared.most_elements, tensor);
    if (!declared.accepts_empty && op->is_empty(problem))
        return "needs a problem whose tensors have elements (with_empty_problems() is not "
               "declared)";
    return std::nullopt;
}

NotSupported::~NotSupported() = default;

Registry& Registry::instance() {
    static Registry registry;
    return registry;
}

// Before main: an exception would end the process without a word of who is wrong.
const Operator& Registry::add(Operator op, const char* file, int line) {
    checked_ = false;
    const Operator* first = find_operator(op.name);
    if (first == nullptr) {
        operators_.push_back(std::make_unique<Operator>(std::move(op)));
        first = operators_.back().get();
    }
    // A file that is compiled for several devices registers it for each.
    std::vector<Place>& places = places_[first];
    if (std::ranges::find(places, Place{file, line}) == places.end())
        places.push_back({file, line});
    return *first;
}

KernelDeclaration& Registry::add(KernelDeclaration declaration) {
    declarations_.push_back(std::make_unique<KernelDeclaration>(std::move(declaration)));
    checked_ = false;
    return *declarations_.back();
}

const KernelDeclaration* Registry::find_declaration(std::string_view operator_name,
                                                    std::string_view pass_name,
                                                    std::string_view variant,
                                                    std::string_view device) const {
    for (const auto& one : declarations_)
        if (one->operator_name == operator_name && one->pass_name == pass_name &&
            one->variant == variant && one->device == device)
            return one.get();
    return nullptr;
}

void Registry::check() {
    Resolver resolver(*this, operator_names());
    for (const auto& declaration : declarations_) resolver.resolve(*declaration);
    for (const auto& op : operators_) {
        for (const std::string& mistake : mistakes_of(*op))
            resolver.errors.push_back(fmt::format("operator {}: {}", op->name, mistake));
        const std::vector<Place>& places = places_.at(op.get());
        for (std::size_t i = 1; i < places.size(); ++i)
            resolver.errors.push_back(fmt::format(
                "operator {} is registered twice: {}:{} and {}:{}; give one of them another name",
                op->name, places[0].file, places[0].line, places[i].file, places[i].line));
    }
    if (!resolver.errors.empty()) throw std::invalid_argument(joined(resolver.errors, "\n"));
    kernels_.clear();
    for (auto& [name, kernel] : resolver.kernels) {
        if (const auto why_absent = kernel.any().why_absent) kernel.why_absent = why_absent();
        kernels_.push_back(std::move(kernel));
    }
    checked_ = true;
}

const std::vector<Kernel>& Registry::kernels() const {
    if (!checked_) throw std::logic_error("Registry::check() has not run");
    return kernels_;
}

const Kernel* Registry::find_kernel(std::string_view full_name) const {
    return find_named(kernels(), full_name);
}

const Operator* Registry::find_operator(std::string_view name) const {
    const auto found = std::ranges::find(operators_, name, [](const auto& op) { return op->name; });
    return found == operators_.end() ? nullptr : found->get();
}

void Registry::leave_out(std::string_view names) {
    for (const std::string_view name : split(names, ' '))
        if (!name.empty()) left_out_.emplace_back(name);
}

bool Registry::leaves_out(std::string_view name) const {
    return std::ranges::find(left_out_, name) != left_out_.end();
}

std::string Registry::all_left_out(const char* command) const {
    if (left_out_.empty() || !command) return "";
    return fmt::format(
        "Not verified, as this build leaves it out: {0}. `{1} --all` verifies all kernels, "
        "`{1} 'OPERATOR.*'` those of one operator.\n",
        joined(left_out_), command);
}

std::string Registry::why_left_out(const std::string& filter) const {
    const std::string meant(filter.substr(0, filter.find('.')));
    std::vector<std::string> names;
    for (const std::string& name : left_out_)
        if (glob_matches(meant, name.substr(name.find('/') + 1)))
            names.push_back(name.find('/') == std::string::npos ? name
                                                                : "the kernels of kernels/" + name);
    if (names.empty()) return "";
    return fmt::format("; this build leaves out {}; in a clone `./run verify {}` builds it",
                       joined(names), shell_quoted(filter));
}

std::vector<std::string> Registry::operator_names() const {
    std::vector<std::string> names;
    for (const auto& op : operators_) names.push_back(op->name);
    std::ranges::sort(names);
    return names;
}

}  // namespace gradverify
