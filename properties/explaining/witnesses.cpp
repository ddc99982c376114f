// SPDX-License-Identifier: Apache-2.0
#include "properties/explaining/witnesses.hpp"

#include <algorithm>
#include <array>

#include "harness/devices/call_note.hpp"
#include "properties/checking/tangent.hpp"
#include "properties/explaining/testimony.hpp"

namespace gradverify {

namespace {

using Arrays = std::vector<Array<double>>;

// Each element is a direction up to this many; always some random ones.
constexpr std::size_t elementwise_maximum = 24;
constexpr int random_directions = 2;

bool equal(const Arrays& a, const Arrays& b) {
    return std::ranges::equal(
        a, b, [](const auto& left, const auto& right) { return left.data == right.data; });
}

/// A direction in one input of the forward pass.
struct Direction {
    std::string tensor;
    Array<double> step;
};

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
        const auto inputs = context_.inputs.of(context_.pass());
        const auto result = own(inputs);
        if (!result) return Outcome::skipped("the kernel gave no result: " + complaint_);
        const Arrays expected = context_.oracle.reference(context_.pass());
        testimony_.kernel_is_reference = equal(*result, expected);
        if (testimony_.is_forward)
            hear_of_forward(*result);
        else
            hear_of_gradient(*result, expected);
        hear_peers(inputs, *result, expected);
        const std::string sentence = judge(testimony_).sentence;
        if (!testimony_.kernel_is_reference) return Outcome::failed(sentence);
        Outcome agrees = Outcome::passed();
        agrees.message = sentence;
        return agrees;
    }

  private:
    /// What the case's kernel adds to its outputs on these inputs; nothing when its call failed.
    std::optional<Arrays> own(const Arrays& inputs) {
        CallResult result = context_.caller.call(context_.kernel(), inputs);
        complaint_ = result.complaint();
        if (!complaint_.empty()) return std::nullopt;
        for (std::size_t i = 0; i < context_.inputs.initial_outputs().size(); ++i)
            for (std::size_t j = 0; j < result.outputs[i].data.size(); ++j)
                result.outputs[i].data[j] -= context_.inputs.initial_outputs()[i].data[j];
        return std::move(result.outputs);
    }

    /// The same of another kernel.
    std::optional<Arrays> other(const Kernel& kernel, const Arrays& inputs) {
        if (!can_take(kernel, inputs)) return std::nullopt;
        CallResult result = context_.caller.call(kernel, inputs);
        if (!result.complaint().empty()) return std::nullopt;
        return std::move(result.outputs);
    }

    bool can_ask(const Kernel& kernel) const {
        return &kernel != &context_.kernel() && kernel.op == &context_.op() &&
               kernel.on(context_.checked().device) &&
               kernel.any().write_mode != WriteMode::accumulates &&
               !kernel.any().norm_wise_growth && !is_distrusted(kernel.name) &&
               !kernel.why_unsupported(context_.problem());
    }

    std::vector<Direction> directions(const std::string& tensor, const Array<double>& like) const {
        std::vector<Direction> all;
        const std::size_t count = like.data.size();
        for (std::size_t i = 0; count <= elementwise_maximum && i < count; ++i) {
            all.push_back({tensor, {like.sizes, std::vector<double>(count, 0.0)}});
            all.back().step.data[i] = 1.0;
        }
        for (int i = 0; i < random_directions; ++i)
            all.push_back(
                {tensor,
                 draw_direction(like, context_.seed_for("witness " + tensor + std::to_string(i)),
                                context_.exact_bits(),
                                longest_reduction(context_.op(), context_.problem()))});
        return all;
    }

    double with_cotangent(const Arrays& outputs) const {
        double sum = 0.0;
        for (std::size_t i = 0; i < outputs.size(); ++i)
            if (context_.op().outputs[i].differentiable)
                sum += inner_product(context_.inputs["d" + forward_.outputs[i]], outputs[i]);
        return sum;
    }

    Arrays stepped(const Direction& direction) const {
        Arrays inputs = inputs_;
        for (std::size_t i = 0; i < inputs.size(); ++i)
            if (forward_.inputs[i] == direction.tensor)
                for (std::size_t j = 0; j < direction.step.data.size(); ++j)
                    inputs[i].data[j] += direction.step.data[j];
        return inputs;
    }

    /// One step, exact in integers: the map is linear in each tensor.
    bool is_derivative_of_reference(const Array<double>& gradient, const Direction& direction) {
        const double difference =
            with_cotangent(context_.oracle.reference(forward_, stepped(direction))) -
            with_cotangent(outputs_);
        return inner_product(gradient, direction.step) == difference;
    }

    std::string input_of(const std::string& gradient) const { return gradient.substr(1); }

    void hear_of_gradient(const Arrays& result, const Arrays& expected) {
        std::vector<Direction> all;
        std::vector<std::size_t> output_of;
        testimony_.reference_is_consistent = testimony_.kernel_is_consistent = true;
        for (std::size_t i = 0; i < result.size(); ++i)
            for (Direction& direction :
                 directions(input_of(context_.pass().outputs[i]), result[i])) {
                testimony_.reference_is_consistent &=
                    is_derivative_of_reference(expected[i], direction);
                testimony_.kernel_is_consistent &= is_derivative_of_reference(result[i], direction);
                all.push_back(std::move(direction));
                output_of.push_back(i);
            }
        for (const Kernel& partner : context_.registry().kernels()) {
            if (partner.pass != &forward_ || !can_ask(partner)) continue;
            const auto at_values = other(partner, inputs_);
            if (!at_values) continue;
            bool is_sound = equal(*at_values, outputs_), is_adjoint = true, answered = true;
            for (std::size_t d = 0; d < all.size() && answered; ++d) {
                const Arrays at = tangent_inputs(context_, all[d].tensor, all[d].step);
                const auto tangent = other(partner, at);
                answered = tangent.has_value();
                if (!answered) break;
                is_sound &= equal(*tangent, context_.oracle.reference(forward_, at));
                is_adjoint &=
                    with_cotangent(*tangent) == inner_product(result[output_of[d]], all[d].step);
            }
            if (answered) take_note(partner, is_sound, is_adjoint);
        }
    }

    void forget_partners() {
        for (auto* names : {&testimony_.sound_with, &testimony_.sound_against, &testimony_.allies})
            names->clear();
    }

    void take_note(const Kernel& partner, bool is_sound, bool is_adjoint) {
        if (is_sound)
            (is_adjoint ? testimony_.sound_with : testimony_.sound_against).push_back(partner.name);
        else if (is_adjoint)
            testimony_.allies.push_back(partner.name);
    }

    /// <dy, J v> of the case's forward kernel, once from J v itself and once as a difference.
    struct Derivatives {
        double tangent = 0.0, difference = 0.0;
    };
    std::optional<Derivatives> derivatives_of_own(const Direction& direction, double here) {
        const auto tangent = own(tangent_inputs(context_, direction.tensor, direction.step));
        const auto there = own(stepped(direction));
        if (!tangent || !there) return std::nullopt;
        return Derivatives{with_cotangent(*tangent), with_cotangent(*there) - here};
    }

    void hear_of_forward(const Arrays& result) {
        testimony_.reference_is_consistent = testimony_.kernel_is_consistent = true;
        for (const PassSpec& pass : context_.op().passes)
            if (!pass.is_forward()) hear_gradients(pass, with_cotangent(result));
    }

    /// A wrong forward kernel may have the right derivative by some tensors: those are no witnesses
    /// of what is wrong.
    void hear_gradients(const PassSpec& pass, double here) {
        const Arrays inputs = context_.inputs.of(pass);
        const Arrays gradients = context_.oracle.reference(pass);
        std::vector<Direction> all;
        std::vector<double> own_derivatives;
        std::vector<std::size_t> output_of;
        bool is_consistent = true;
        for (std::size_t i = 0; i < gradients.size(); ++i)
            for (Direction& direction : directions(input_of(pass.outputs[i]), gradients[i])) {
                const auto derivatives = derivatives_of_own(direction, here);
                const double right = inner_product(gradients[i], direction.step);
                testimony_.reference_is_consistent &=
                    is_derivative_of_reference(gradients[i], direction);
                is_consistent &= derivatives && derivatives->tangent == right &&
                                 derivatives->difference == right;
                if (!derivatives) break;
                own_derivatives.push_back(derivatives->tangent);
                all.push_back(std::move(direction));
                output_of.push_back(i);
            }
        if (is_consistent && !testimony_.kernel_is_consistent) return;
        if (!is_consistent && testimony_.kernel_is_consistent) forget_partners();
        testimony_.kernel_is_consistent &= is_consistent;
        for (const Kernel& partner : context_.registry().kernels()) {
            if (partner.pass != &pass || !can_ask(partner)) continue;
            const auto result = other(partner, inputs);
            if (!result) continue;
            bool is_adjoint = true;
            for (std::size_t d = 0; d < all.size(); ++d)
                is_adjoint &=
                    inner_product((*result)[output_of[d]], all[d].step) == own_derivatives[d];
            take_note(partner, equal(*result, gradients), is_adjoint);
        }
    }

    void hear_peers(const Arrays& inputs, const Arrays& result, const Arrays& expected) {
        for (const Kernel& peer : context_.registry().kernels()) {
            if (peer.pass != &context_.pass() || !can_ask(peer)) continue;
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

Outcome ask(CaseContext& context) { return Hearing(context).hear(); }

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
        ask};
    return property;
}

}  // namespace gradverify
