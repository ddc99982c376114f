// SPDX-License-Identifier: Apache-2.0
#include "properties/explaining/explain.hpp"

#include <algorithm>

#include "properties/checking/tangents.hpp"
#include "properties/explaining/testimony.hpp"

namespace gradverify {

namespace {

using Arrays = std::vector<Array<double>>;

// Each element is a direction up to this many; there are always some random ones.
constexpr std::size_t elementwise_maximum = 24;
constexpr int random_directions = 2;

bool equal(const Arrays& a, const Arrays& b) {
    return std::ranges::equal(
        a, b, [](const auto& left, const auto& right) { return left.data == right.data; });
}

/// A direction in one input of the forward pass, for one output of a gradient pass.
struct Direction {
    std::size_t output;
    std::string tensor;
    Array<double> step;
};

/// <dy, J v> by direction v.
using Slopes = std::vector<double>;

class Hearing {
  public:
    explicit Hearing(CaseContext& context)
        : context_(context),
          forward_(context.op().forward()),
          inputs_(context.inputs.of(forward_)),
          outputs_(context.oracle.reference(forward_, inputs_)) {
        testimony_.pass = context.pass().name;
        testimony_.is_forward = context.pass().is_forward();
        testimony_.saturates = context.declaration().saturates_results;
    }

    Outcome hear() {
        if (!context_.op().is_exact_at(context_.problem()))
            return Outcome::skipped("exact only where " + context_.op().exact_if_text);
        if (!context_.inputs.stay_integers())
            return Outcome::skipped("the inputs' domains leave no integers whose sums are exact");
        if (yields_tangents(context_.op(), context_.pass()))
            return Outcome::skipped("tangents have no witnesses but the properties");
        const auto inputs = context_.inputs.of(context_.pass());
        const auto result = own(inputs);
        if (!result) return Outcome::skipped("the kernel gave no result: " + complaint_);
        const Arrays expected = context_.oracle.reference(context_.pass());
        testimony_.kernel_is_reference = equal(*result, expected);
        if (testimony_.is_forward)
            hear_of_forward();
        else
            hear_of_gradient(*result, expected);
        hear_peers(inputs, *result, expected);
        const std::string sentence = judge(testimony_);
        if (!testimony_.kernel_is_reference) return Outcome::failed(sentence);
        Outcome agrees = Outcome::passed();
        agrees.message = sentence;
        return agrees;
    }

  private:
    /// The result of the case's kernel, without what its outputs held; nothing when it failed.
    std::optional<Arrays> own(const Arrays& inputs) {
        CallResult result = context_.caller.call(context_.kernel(), inputs);
        complaint_ = result.complaint();
        if (!complaint_.empty()) return std::nullopt;
        context_.inputs.add_initial(result.outputs, -1.0);
        return std::move(result.outputs);
    }

    /// The result of another kernel; nothing when it cannot be called.
    std::optional<Arrays> other(const Kernel& kernel, const Arrays& inputs) {
        if (!can_take(kernel, inputs)) return std::nullopt;
        CallResult result = context_.caller.call(kernel, inputs);
        if (!result.complaint().empty()) return std::nullopt;
        return std::move(result.outputs);
    }

    std::vector<Direction> directions(const PassSpec& pass, const Arrays& gradients) const {
        std::vector<Direction> all;
        for (std::size_t output = 0; output < gradients.size(); ++output) {
            const Array<double>& like = gradients[output];
            const std::string tensor = pass.outputs[output].substr(1);
            const std::size_t count = like.data.size();
            for (std::size_t i = 0; count <= elementwise_maximum && i < count; ++i) {
                all.push_back({output, tensor, {like.sizes, std::vector<double>(count, 0.0)}});
                all.back().step.data[i] = 1.0;
            }
            for (int i = 0; i < random_directions; ++i) {
                const std::string purpose = "witness " + tensor + std::to_string(i);
                all.push_back({output, tensor, context_.direction_for(purpose, like)});
            }
        }
        return all;
    }

    static Slopes slopes_of(const Arrays& gradients, const std::vector<Direction>& all) {
        Slopes slopes;
        for (const Direction& v : all) slopes.push_back(inner_product(gradients[v.output], v.step));
        return slopes;
    }

    /// The reference's, by one step: the map is linear in each tensor, so that is exact.
    Slopes slopes_of_reference(const std::vector<Direction>& all) {
        Slopes slopes;
        for (const Direction& v : all) {
            const Arrays moved = inputs_along(context_, v.tensor, v.step);
            slopes.push_back(with_cotangents(context_, context_.oracle.reference(forward_, moved)) -
                             with_cotangents(context_, outputs_));
        }
        return slopes;
    }

    /// Those of a forward kernel; nothing when a call of it failed.
    template <class Call>
    std::optional<Slopes> slopes_of_forward(Call call, const std::vector<Direction>& all) {
        Slopes slopes;
        for (const Direction& v : all) {
            const std::optional<Arrays> tangent = call(tangent_inputs(context_, v.tensor, v.step));
            if (!tangent) return std::nullopt;
            slopes.push_back(with_cotangents(context_, *tangent));
        }
        return slopes;
    }

    void take_note(const Kernel& partner, bool is_sound, bool is_adjoint) {
        if (is_sound)
            (is_adjoint ? testimony_.sound_with : testimony_.sound_against).push_back(partner.name);
        else if (is_adjoint)
            testimony_.allies.push_back(partner.name);
    }

    void hear_of_gradient(const Arrays& result, const Arrays& expected) {
        const std::vector<Direction> all = directions(context_.pass(), expected);
        const Slopes right = slopes_of_reference(all), mine = slopes_of(result, all);
        testimony_.reference_is_consistent = slopes_of(expected, all) == right;
        testimony_.kernel_is_consistent = mine == right;
        for (const Kernel& partner : context_.registry().kernels()) {
            if (partner.pass != &forward_ || !can_be_partner(context_, partner)) continue;
            bool is_sound = true;
            const auto call = [&](const Arrays& inputs) {
                auto given = other(partner, inputs);
                is_sound &= given && equal(*given, context_.oracle.reference(forward_, inputs));
                return given;
            };
            if (!call(inputs_)) continue;
            if (const auto slopes = slopes_of_forward(call, all))
                take_note(partner, is_sound, *slopes == mine);
        }
    }

    /// Gradients by tensors in which a wrong forward kernel has the right derivative do not count.
    void hear_of_forward() {
        testimony_.reference_is_consistent = testimony_.kernel_is_consistent = true;
        for (const PassSpec& pass : context_.op().passes) {
            if (pass.is_forward()) continue;
            const Arrays inputs = context_.inputs.of(pass);
            const Arrays gradients = context_.oracle.reference(pass);
            const std::vector<Direction> all = directions(pass, gradients);
            const Slopes right = slopes_of(gradients, all);
            testimony_.reference_is_consistent &= slopes_of_reference(all) == right;
            const auto mine = slopes_of_forward([&](const Arrays& at) { return own(at); }, all);
            if (mine == right && !testimony_.kernel_is_consistent) continue;
            if (mine != right && testimony_.kernel_is_consistent) {
                testimony_.kernel_is_consistent = false;
                for (auto* names :
                     {&testimony_.sound_with, &testimony_.sound_against, &testimony_.allies})
                    names->clear();
            }
            for (const Kernel& partner : context_.registry().kernels()) {
                if (partner.pass != &pass || !can_be_partner(context_, partner)) continue;
                if (const auto given = other(partner, inputs))
                    take_note(partner, equal(*given, gradients), slopes_of(*given, all) == mine);
            }
        }
    }

    void hear_peers(const Arrays& inputs, const Arrays& result, const Arrays& expected) {
        for (const Kernel& peer : context_.registry().kernels()) {
            if (peer.pass != &context_.pass() || !can_be_partner(context_, peer)) continue;
            const auto given = other(peer, inputs);
            if (!given) continue;
            if (equal(*given, expected)) testimony_.peers_of_reference.push_back(peer.name);
            if (equal(*given, result)) testimony_.peers_of_kernel.push_back(peer.name);
        }
    }

    CaseContext& context_;
    const PassSpec& forward_;
    Arrays inputs_, outputs_;  ///< of the reference's forward map
    Testimony testimony_;
    std::string complaint_;
};

}  // namespace

const DefinedProperty& witnesses() {
    static constexpr DefinedProperty property{
        {.name = "witnesses",
         .summary = "says who is wrong",
         .applies_to =
             [](const Kernel& kernel) {
                 return kernel.op->algebra == Algebra::products && !kernel.any().norm_wise_growth;
             }},
        [](const Operator&) { return ValueKind::integers; },
        [](CaseContext& context) { return Hearing(context).hear(); }};
    return property;
}

}  // namespace gradverify
