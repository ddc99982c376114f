// SPDX-License-Identifier: Apache-2.0
// What every property starts from: the case resolved against the registry, its values, the
// reference's results and the calls of the kernel. Knows no particular property or operator.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/cases/compare.hpp"
#include "harness/devices/launch.hpp"
#include "properties/data/values.hpp"

namespace gradverify {

/// Seconds and work spent on a case, for `bench --harness`.
struct Spent {
    double seconds_kernel = 0.0, seconds_reference = 0.0;
};

class CaseContext {
  public:
    /// **Errors** std::invalid_argument when the case's problem is not valid or not supported.
    CaseContext(const Case& checked, const Registry& registry, ValueKind kind);

    const Case& checked() const { return checked_; }
    const Problem& problem() const { return checked_.problem; }
    const Kernel& kernel() const { return kernel_; }
    const KernelDeclaration& declaration() const { return declaration_; }
    const Operator& op() const { return *kernel_.op; }
    const PassSpec& pass() const { return *kernel_.pass; }
    const Registry& registry() const { return registry_; }
    /// The values of an input, of an output's cotangent, or of an output that the forward pass
    /// saves, as the reference gives it; made when first asked for.
    const Array<double>& value(const std::string& name);
    /// Whether sums of integers that fit the kernel's types have one right result.
    bool is_exact_on_integers() const {
        return !declaration_.norm_wise_growth && op().is_exact_at(problem()) && !adds_up_expanded();
    }
    /// That, and each result is a number of its tensor's type. Draws see to it but for sums of many
    /// integers that are stored in 8 bits, and for inputs with a domain of their own.
    bool has_exact_results();
    /// Whether a domain left the inputs integers, of which sums stay exact.
    bool keeps_integers_in_domains();
    /// Whether an index that the pass takes lies outside of its range.
    bool has_invalid_indices();
    int exact_bits() const { return types().exact_bits(); }
    ElementTypes types() const { return {declaration_, op()}; }
    /// The largest of the integers that a direction of a tensor has, which this kernel and, unless
    /// it is null, another one must hold.
    std::int64_t largest_step(std::string_view tensor, const Kernel* other = nullptr) const;
    /// Whether a kernel's tensors hold these inputs of its pass as they are.
    bool can_take(const Kernel& kernel, const std::vector<Array<double>>& inputs) const;
    /// A seed of the case's own for a purpose: from its data seed, or fixed for explicit data.
    std::uint64_t seed_for(std::string_view purpose) const;

    /// A pass's results on the case's values, in double.
    std::vector<Array<double>> reference(const PassSpec& pass);
    /// The same on what its reference takes.
    std::vector<Array<double>> reference(const PassSpec& pass,
                                         const std::vector<Array<double>>& taken);
    /// The results of this case's pass, with a bound on the rounding of the kernel's arithmetic and
    /// on that of storing them, and for a kernel that adds to its outputs with what they held
    /// before.
    std::vector<Array<Bounded>> bounded();
    /// The results of any pass before they are stored, without what the outputs held.
    std::vector<Array<Bounded>> bounded(const PassSpec& pass);

    /// The inputs of a pass from the case's values.
    std::vector<Array<double>> inputs_of(const PassSpec& pass) { return values(pass.inputs); }
    /// The cotangents of the forward pass's outputs, of those that have one.
    std::vector<Array<double>> cotangents();
    /// Whether the case asks for this output of its pass.
    bool asks_for(std::size_t output) const { return checked_.setting.asks_for(output); }

    /// Calls a kernel on these inputs; the case's setting and surroundings unless others are given.
    CallResult call(const Kernel& kernel, const std::vector<Array<double>>& inputs);
    CallResult call(const Kernel& kernel, const std::vector<Array<double>>& inputs,
                    const Setting& setting, const Surroundings& surroundings);
    /// Calls the checked variant of this case's kernel, in the case's setting.
    CallResult call_checked(const std::vector<Array<double>>& inputs);
    std::pair<CallResult, CallResult> call_twice(const std::vector<Array<double>>& inputs,
                                                 const Setting& setting);

    /// What the outputs hold before a call: empty for a kernel that overwrites.
    const std::vector<Array<double>>& initial_outputs() const { return initial_outputs_; }
    /// What the kernel must give on integers: the reference's very numbers; within the bound where
    /// the operator or the kernel declares that integers are not exact.
    std::vector<Expected> expected();
    /// The reference's results as the kernel must leave them, each with its bound; cut off at the
    /// ends of their type where the kernel says so.
    std::vector<Expected> within_rounding();
    /// Whether results may be NaN by definition: of an input that holds NaN, of invalid indices, or
    /// of an empty batch.
    bool holds_nan();

    Surroundings surroundings() const;
    /// The streams to delay, each in a call of its own, so that work which nothing orders shows;
    /// `none` alone where there is one stream, or where the device sees such work by itself.
    std::vector<DelayedStream> streams_to_delay() const;
    const Spent& spent() const { return spent_; }
    /// By a call that is not made through this.
    void spend_in_kernel(double seconds) { spent_.seconds_kernel += seconds; }
    ValueKind kind() const { return kind_; }

  private:
    std::vector<Array<double>> values(const std::vector<std::string>& names);
    void expand(const std::string& name, Array<double>& array) const;
    bool adds_up_expanded() const;
    bool has_domains() const;
    Rounding rounding_of(const PassSpec& pass) const;
    std::vector<Array<Bounded>> computed();
    void admit_branches(const std::vector<Array<double>>& taken,
                        std::vector<Array<Bounded>>& outputs);
    void store(std::vector<Array<Bounded>>& outputs, bool saturates) const;
    std::vector<Array<Bounded>> open_sums(const PassSpec& pass,
                                          const std::vector<Array<double>>& taken);
    void require_exact();
    std::string call_before();
    Call make_call(const Kernel& kernel, const std::vector<Array<double>>& inputs,
                   const Setting& setting, const Surroundings& surroundings) const;

    const Case& checked_;
    const Registry& registry_;
    const Kernel& kernel_;
    Device& device_;
    const KernelDeclaration& declaration_;
    ValueKind kind_;
    Values values_;
    std::vector<Array<double>> initial_outputs_;
    Spent spent_;
    bool called_before_ = false;
};

/// Compares each output of a call that its setting asks for.
std::vector<Comparison> compare_outputs(const CallResult& result,
                                        const std::vector<Expected>& expected,
                                        const Setting& setting = {});

/// A registered forward kernel that gave the reference's very numbers on the case's values.
struct SoundForward {
    const Kernel* kernel = nullptr;  ///< null when there is none
    std::vector<Array<double>> outputs{};
};

/// The first such kernel of the case's operator on its device that is not known to be `unsound`.
SoundForward sound_forward(CaseContext& context, const std::set<const Kernel*>& unsound = {});

/// The rounding of a kernel that computes in this type, as its declaration has it.
Rounding rounding_of(const KernelDeclaration& kernel, DType computed);

/// Sum of products of two arrays of the same size.
double inner_product(const Array<double>& a, const Array<double>& b);

}  // namespace gradverify
