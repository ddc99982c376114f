// SPDX-License-Identifier: Apache-2.0
#include "harness/numbers/autodiff/tape.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace gradverify {

Traced Tape::input(double value) {
    Bounded given(value);
    if (const double loss = current_rounding.loss_of_inputs; loss > 0.0)
        given = given.off_by(loss * std::abs(value));
    const Bounded recorded = by_any_formula(given);
    nodes_.push_back({});
    return {recorded, static_cast<Node>(nodes_.size() - 1)};
}

double Tape::scale_of_next() const {
    return nodes_.size() < meetings_->size() ? (*meetings_)[nodes_.size()] : 0.0;
}

void Tape::note(const Traced& a, const Traced& b) {
    const Bounded sum = a.value() + b.value();
    if (sum.additions() > Bounded::short_sum_additions) return;
    const auto note_one = [&](const Traced& term, const Traced& other) {
        if (term.is_constant()) return;
        const auto node = static_cast<std::size_t>(term.node());
        const bool is_input = nodes_[node][0].from == constant && nodes_[node][1].from == constant;
        if (is_input && !other.is_constant()) return;
        if (meetings_->size() <= node) meetings_->resize(nodes_.size());
        (*meetings_)[node] = std::max((*meetings_)[node], sum.magnitude());
    };
    note_one(a, b);
    note_one(b, a);
}

Tape::Node Tape::record(const Link& first, const Link& second) {
    auto& nodes = current->nodes_;
    if (nodes.size() == static_cast<std::size_t>(std::numeric_limits<Node>::max()))
        throw std::length_error("the forward function makes more than 2^31 operations");
    nodes.push_back({first, second});
    return static_cast<Node>(nodes.size() - 1);
}

void Tape::round_gradient_of_last(DType dtype) {
    current->rounded_gradients_.emplace_back(current->nodes_.size() - 1, dtype);
}

std::vector<double> Tape::gradients(std::span<const Seed> seeds) const {
    std::vector<double> adjoints(nodes_.size(), 0.0);
    for (const Seed& seed : seeds)
        if (seed.node != constant) adjoints[static_cast<std::size_t>(seed.node)] += seed.cotangent;
    for (std::size_t i = nodes_.size(); i-- > 0;) {
        if (adjoints[i] == 0.0) continue;  // no path, even where a slope is infinite
        for (const Link& link : nodes_[i])
            if (link.from != constant)
                adjoints[static_cast<std::size_t>(link.from)] += adjoints[i] * link.slope;
    }
    return adjoints;
}

namespace {

// Paths that meet may be summed and factored in any order as far as this many roundings reach:
// those of 256 steps of a recurrence, a chunk of which kernels compute by a matrix of its decays.
constexpr double roundings_to_keep = 512.0;

/// The sums over the paths from the outputs to a node.
struct Paths {
    double sum = 0.0, magnitude = 0.0, error = 0.0;
    double roundings = 0.0;   ///< of the longest chain
    double links = 0.0;       ///< that ended here
    bool is_reached = false;  ///< by any link, if only with zeros
    /// Zero met a factor that may be infinite or NaN: no path, but a kernel's product may be NaN.
    bool is_open = false;
    bool is_no_number = false;  ///< a factor is beyond the largest number in the reference, too

    void open(bool meets_no_number) {
        is_open = true;
        is_no_number |= meets_no_number;
    }
    void add(double value, double reach, double off, double chain) {
        sum += value;
        magnitude += reach;
        error += off;
        roundings = std::max(roundings, chain);
        links += 1.0;
    }
    /// The additions of what ended here come on top of the longest chain.
    double chain() const { return roundings + std::max(links - 1.0, 0.0); }
    /// Roundings beyond those that are kept are counted for the paths that have met so far, and not
    /// for those that join them later.
    void settle() {
        const double more = chain() - roundings_to_keep;
        if (!(more > 0.0)) return;
        const double gamma = current_rounding.gamma(more);
        error += gamma * (magnitude + 2.0 * error) + more * current_rounding.smallest_normal;
        roundings = roundings_to_keep;
        links = 1.0;
    }
    bool is_none() const { return magnitude == 0.0 && error == 0.0; }
    bool has_bound() const { return !is_open && magnitude + error <= current_rounding.largest; }
    /// A kernel forms the sum, and rounds it to a type.
    void round_to(DType dtype) {
        error += Bounded(Bounded::Sum{sum, error, magnitude + error, chain()}).loss_in(dtype);
    }
};

bool is_beyond(double size) { return !(size <= current_rounding.largest); }

/// The product, where zero times infinity is 0: no path.
double times(double a, double b) { return a == 0.0 || b == 0.0 ? 0.0 : a * b; }

/// The error of a step back along a link where tensor cores multiply the path by the slope.
template <class Link>
double error_of_cut(const Paths& from, const Link& link) {
    const auto share = [](double value, bool is_data) {
        return is_data && !current_rounding.cuts(value) ? 0.0 : current_rounding.factor_truncation;
    };
    const bool is_seed = from.links == 1.0 && from.roundings == 0.0;
    const double of_path = share(from.sum, is_seed),
                 of_slope = share(link.slope, link.error == 0.0);
    const double reach = from.magnitude + from.error, steepest = std::abs(link.slope) + link.error;
    const double lost = (of_path > 0.0 ? steepest : 0.0) + (of_slope > 0.0 ? reach : 0.0);
    return times(reach * (of_path + of_slope + of_path * of_slope), steepest) +
           times(current_rounding.factor_underflow, lost);
}

}  // namespace

std::vector<Bounded> Tape::bounded_gradients(std::span<const Seed> seeds) const {
    const double tiny = current_rounding.smallest_normal;
    std::vector<Paths> paths(nodes_.size());
    for (const Seed& seed : seeds) {
        if (seed.node == constant) continue;
        Paths& at = paths[static_cast<std::size_t>(seed.node)];
        at.is_reached = true;
        if (seed.cotangent != 0.0) at.add(seed.cotangent, std::abs(seed.cotangent), 0.0, 0.0);
    }
    auto rounded = rounded_gradients_.rbegin();
    for (std::size_t i = nodes_.size(); i-- > 0;) {
        Paths& from = paths[i];
        for (; rounded != rounded_gradients_.rend() && rounded->first == i; ++rounded)
            from.round_to(rounded->second);
        if (!from.is_reached) continue;
        const bool is_input = nodes_[i][0].from == constant && nodes_[i][1].from == constant;
        if (!is_input) from.settle();
        for (const Link& link : nodes_[i]) {
            if (link.from == constant) continue;
            Paths& to = paths[static_cast<std::size_t>(link.from)];
            to.is_reached = true;
            const double steepest = std::abs(link.slope) + link.error;
            if (from.is_none() || steepest == 0.0) {
                const double reach = from.magnitude + from.error;
                if (from.is_open || current_rounding.may_overflow(reach) ||
                    current_rounding.may_overflow(steepest))
                    to.open(from.is_no_number || is_beyond(std::abs(link.slope)));
                continue;
            }
            if (from.is_open) to.open(from.is_no_number);
            const bool is_exact = std::abs(link.slope) == 1.0 && link.error == 0.0;
            const double error = times(from.error, steepest) + times(from.magnitude, link.error) +
                                 (is_exact ? 0.0 : tiny + error_of_cut(from, link));
            if (current_rounding.may_overflow(times(from.magnitude, steepest) + error))
                to.open(is_beyond(std::abs(link.slope)) ||
                        (std::isfinite(from.magnitude) &&
                         is_beyond(from.magnitude * std::abs(link.slope))));
            to.add(times(from.sum, link.slope), times(from.magnitude, steepest), error,
                   from.chain() + (is_exact ? 0.0 : 1.0));
        }
    }
    std::vector<Bounded> gradients;
    gradients.reserve(paths.size());
    const double lost = current_rounding.loss_of_formula + current_rounding.loss_of_inputs;
    for (const Paths& at : paths) {
        const double error = at.error + times(lost, at.magnitude);
        const double reach = at.magnitude + error;
        // The running sum stays open: a kernel that accumulates adds the former value to it.
        if (at.has_bound())
            gradients.emplace_back(Bounded::Sum{at.sum, error, reach, at.chain()});
        else
            gradients.push_back(Bounded::unbounded(
                at.sum, at.is_no_number || (!at.is_open && std::isfinite(reach))));
    }
    return gradients;
}

}  // namespace gradverify
