// SPDX-License-Identifier: Apache-2.0
#include "harness/numbers/autodiff/tape.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
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
    const auto is_number = [](const Traced& c) {
        return c.is_constant() && c.value().value() != 0.0;
    };
    if (is_number(b)) go_on(a);
    if (is_number(a)) go_on(b);
    const Bounded sum = a.value() + b.value();
    if (sum.additions() > Bounded::short_sum_additions) return;
    const auto note_one = [&](const Traced& term, const Traced& other) {
        if (term.is_constant()) return;
        const auto node = static_cast<std::size_t>(term.node());
        if (is_input(node) && !other.is_constant()) return;
        if (meetings_->size() <= node) meetings_->resize(nodes_.size());
        (*meetings_)[node] = std::max((*meetings_)[node], sum.magnitude());
    };
    note_one(a, b);
    note_one(b, a);
}

void Tape::go_on(const Traced& product) {
    const auto at = std::ranges::lower_bound(products_, product.node(), {}, &Product::node);
    if (at != products_.end() && at->node == product.node()) at->goes_on = true;
}

void Tape::note_factors(const Traced& a, const Traced& b) {
    if (a.is_constant() && b.is_constant()) return;
    Product product{static_cast<Node>(nodes_.size() - 1)};
    const auto note_one = [&](const Traced& carried, const Traced& factor) {
        if (factor.is_constant() || is_input(static_cast<std::size_t>(factor.node()))) return;
        // The first factor is multiplied by 1.
        const bool is_carried =
            carried.is_constant()
                ? carried.value().value() == 1.0
                : std::ranges::binary_search(products_, carried.node(), {}, &Product::node);
        if (!is_carried || factor.value().value() == 0.0) return;
        go_on(carried);
        product.factor = factor.node();
        product.value = std::abs(factor.value().value());
    };
    note_one(a, b);
    if (product.factor == constant) note_one(b, a);
    products_.push_back(product);
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

/// Sets of seeds, each kept once, since most nodes of a row lead to the same outputs.
class SeedSets {
  public:
    static constexpr int none = -1;

    explicit SeedSets(std::span<const Tape::Seed> seeds) : seeds_(seeds), before_{0.0} {
        for (const Tape::Seed& seed : seeds) before_.push_back(before_.back() + seed.off);
    }
    int of(int seed) { return number_of({{seed}, seed, seed}); }
    int join(int a, int b) {
        if (a == b || b == none) return a;
        if (a == none) return b;
        const auto [at, is_new] = joined_.emplace(std::minmax(a, b), none);
        if (!is_new) return at->second;
        const Seeds &one = in(a), &other = in(b);
        Seeds both{{}, std::min(one.first, other.first), std::max(one.last, other.last)};
        if (!one.each.empty() && !other.each.empty())
            std::ranges::set_union(one.each, other.each, std::back_inserter(both.each));
        if (both.each.size() > each_maximum) both.each.clear();
        return at->second = number_of(std::move(both));
    }
    /// What they are off by together.
    double off(int set) const {
        const Seeds& seeds = in(set);
        double sum = 0.0;
        for (const int seed : seeds.each) sum += seeds_[static_cast<std::size_t>(seed)].off;
        if (!seeds.each.empty()) return sum;
        sum = before_[static_cast<std::size_t>(seeds.last) + 1] -
              before_[static_cast<std::size_t>(seeds.first)];
        return std::isnan(sum) ? INFINITY : sum;
    }

  private:
    // Of more, all from the first to the last are taken, or sets would grow with their square.
    static constexpr std::size_t each_maximum = 64;
    struct Seeds {
        std::vector<int> each;  ///< empty: all between the two
        int first, last;
        auto operator<=>(const Seeds&) const = default;
    };
    int number_of(Seeds seeds) {
        const auto [at, is_new] =
            numbers_.emplace(std::move(seeds), static_cast<int>(sets_.size()));
        if (is_new) sets_.push_back(&at->first);
        return at->second;
    }
    const Seeds& in(int set) const { return *sets_[static_cast<std::size_t>(set)]; }

    std::span<const Tape::Seed> seeds_;
    std::vector<double> before_;  ///< the sum over the seeds before each
    std::map<Seeds, int> numbers_;
    std::vector<const Seeds*> sets_;
    std::map<std::pair<int, int>, int> joined_;
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

std::vector<double> Tape::errors_from_saved(std::span<const Seed> seeds) const {
    const auto is_saved = [](const Seed& seed) { return seed.node != constant && seed.off > 0.0; };
    if (products_.empty() || std::ranges::none_of(seeds, is_saved)) return {};
    std::vector<double> errors(nodes_.size(), 0.0);
    SeedSets sets(seeds);
    std::vector<int> outputs(nodes_.size(), SeedSets::none);  // that depend on each node
    for (std::size_t i = 0; i < seeds.size(); ++i) {
        if (!is_saved(seeds[i])) continue;
        int& at = outputs[static_cast<std::size_t>(seeds[i].node)];
        at = sets.join(at, sets.of(static_cast<int>(i)));
    }
    std::vector<bool> is_used(nodes_.size(), false);
    for (std::size_t i = nodes_.size(); i-- > 0;)
        for (const Link& link : nodes_[i])
            if (link.from != constant) {
                is_used[static_cast<std::size_t>(link.from)] = true;
                int& at = outputs[static_cast<std::size_t>(link.from)];
                at = sets.join(at, outputs[i]);
            }
    // Nothing may be made of the last factor, as of the last 1 - p: what p leads to counts there.
    std::vector<int> of_last = outputs;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (of_last[i] == SeedSets::none)
            for (const Link& link : nodes_[i])
                if (link.from != constant)
                    of_last[i] =
                        sets.join(of_last[i], of_last[static_cast<std::size_t>(link.from)]);
    for (const Product& product : products_) {
        if (product.factor == constant) continue;
        const bool is_last = !is_used[static_cast<std::size_t>(product.node)];
        if (!product.goes_on && !is_last) continue;
        const auto at = static_cast<std::size_t>(product.factor);
        const int behind = is_last ? of_last[at] : outputs[at];
        if (behind != SeedSets::none) errors[at] = sets.off(behind) / product.value;
    }
    // By the slopes alone: what a slope is off by as well would be of the second order.
    for (std::size_t i = nodes_.size(); i-- > 0;)
        for (const Link& link : nodes_[i])
            if (link.from != constant)
                errors[static_cast<std::size_t>(link.from)] +=
                    times(errors[i], std::abs(link.slope));
    return errors;
}

std::vector<Bounded> Tape::bounded_gradients(std::span<const Seed> seeds) const {
    const double tiny = current_rounding.smallest_normal;
    std::vector<Paths> paths(nodes_.size());
    for (const Seed& seed : seeds) {
        if (seed.node == constant) continue;
        Paths& at = paths[static_cast<std::size_t>(seed.node)];
        at.is_reached = true;
        if (seed.cotangent != 0.0) at.add(seed.cotangent, std::abs(seed.cotangent), 0.0, 0.0);
    }
    const std::vector<double> from_saved = errors_from_saved(seeds);
    auto rounded = rounded_gradients_.rbegin();
    for (std::size_t i = nodes_.size(); i-- > 0;) {
        Paths& from = paths[i];
        for (; rounded != rounded_gradients_.rend() && rounded->first == i; ++rounded)
            from.round_to(rounded->second);
        if (!from.is_reached) continue;
        if (!is_input(i)) from.settle();
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
        const double of_saved =
            from_saved.empty() ? 0.0 : from_saved[static_cast<std::size_t>(&at - paths.data())];
        const double error = at.error + of_saved + times(lost, at.magnitude);
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
