// SPDX-License-Identifier: Apache-2.0
#include "properties/shrinking/data.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <stdexcept>

namespace gradverify {
namespace {

/// More elements than this make no reproducer that a person reads.
constexpr std::size_t most_elements = 32;
/// Listings longer than this are not reduced: each run would carry them all.
constexpr std::size_t most_listed = 4096;
/// Choices of one element of each of some tensors, beyond which they are not all tried.
constexpr std::int64_t most_choices = 300;
constexpr std::size_t most_tensors = 3;
/// In the order in which a reader finds them simple.
constexpr std::array simple_values{1.0, -1.0, 2.0};

using Elements = std::vector<DataElement>;

bool fails_with(ShrinkTrials& trials, const Elements& elements) {
    if (!trials.may_go_on()) return false;
    Case candidate = trials.smallest();
    candidate.data = {.is_explicit = true, .elements = elements};
    return trials.fails(candidate);
}

struct TensorSize {
    std::string name;
    std::int64_t elements;
};

/// The tensors of a listing, in its order.
std::vector<TensorSize> tensors_of(const Operator& op, const Problem& problem,
                                   const Elements& listed) {
    std::vector<TensorSize> tensors;
    for (const DataElement& element : listed) {
        const auto found = std::ranges::find(tensors, element.tensor, &TensorSize::name);
        if (found != tensors.end()) {
            found->elements = std::max(found->elements, element.index + 1);
            continue;
        }
        tensors.push_back({element.tensor, element.index + 1});
        try {
            tensors.back().elements = element_count(op.sizes_of(element.tensor, problem));
        } catch (const std::invalid_argument&) {
            // Data of a property's own, such as a direction: as long as what is listed.
        }
    }
    return tensors;
}

/// Tries one element of each chosen tensor, all with one value, in every position.
class OneHot {
  public:
    OneHot(ShrinkTrials& trials, const std::vector<TensorSize>& tensors)
        : trials_(trials), tensors_(tensors) {}

    /// Fewer elements first.
    bool find() {
        if (fails_with(trials_, {})) return true;
        for (const double value : simple_values)
            for (std::size_t count = 1; count <= most_tensors; ++count) {
                Elements none;
                if (choose_tensors(none, 0, count, 1, value)) return true;
            }
        return false;
    }

  private:
    bool choose_tensors(Elements& chosen, std::size_t first, std::size_t missing,
                        std::int64_t choices, double value) {
        if (choices > most_choices) return false;
        if (missing == 0) return try_positions(chosen, 0);
        for (std::size_t t = first; t < tensors_.size(); ++t) {
            chosen.push_back({.tensor = tensors_[t].name, .value = value});
            if (choose_tensors(chosen, t + 1, missing - 1, choices * tensors_[t].elements, value))
                return true;
            chosen.pop_back();
        }
        return false;
    }

    bool try_positions(Elements& chosen, std::size_t which) {
        if (which == chosen.size()) return fails_with(trials_, chosen);
        const auto size = std::ranges::find(tensors_, chosen[which].tensor, &TensorSize::name);
        for (std::int64_t index = 0; index < size->elements; ++index) {
            chosen[which].index = index;
            if (try_positions(chosen, which + 1)) return true;
        }
        return false;
    }

    ShrinkTrials& trials_;
    const std::vector<TensorSize>& tensors_;
};

/// Removes chunks, halving their length, as long as the rest fails (Zeller and Hildebrandt,
/// Simplifying and isolating failure-inducing input, 2002, without its complements). All of them at
/// once are not tried.
Elements remove_needless(ShrinkTrials& trials, Elements elements) {
    for (std::size_t length = elements.size() / 2; length > 0; length /= 2)
        for (std::size_t begin = 0; begin < elements.size();) {
            Elements rest = elements;
            const auto from = rest.begin() + static_cast<std::ptrdiff_t>(begin);
            const std::size_t end = std::min(begin + length, rest.size());
            rest.erase(from, rest.begin() + static_cast<std::ptrdiff_t>(end));
            if (fails_with(trials, rest))
                elements = std::move(rest);
            else
                begin = end;
        }
    return elements;
}

void simplify_values(ShrinkTrials& trials, Elements elements) {
    for (DataElement& element : elements)
        for (const double value : simple_values) {
            if (element.value == value) break;
            const double before = element.value;
            element.value = value;
            if (fails_with(trials, elements)) break;
            element.value = before;
        }
}

}  // namespace

void shrink_data(ShrinkTrials& trials, const Operator& op, const std::vector<DataElement>& listed) {
    const Problem problem = trials.smallest().problem;
    const std::vector<TensorSize> tensors = tensors_of(op, problem, listed);
    if (OneHot(trials, tensors).find() || listed.size() > most_listed) return;
    // Reducing goes through cases that are larger than the seed's one word; they are kept only if
    // the last is small.
    ShrinkTrials reduction = trials;
    const auto is_reduced = [&] {
        if (!fails_with(reduction, listed)) return false;
        const Elements needed = remove_needless(reduction, listed);
        if (needed.size() > most_elements) return false;
        simplify_values(reduction, needed);
        return true;
    };
    if (is_reduced())
        trials = reduction;
    else
        trials.count(reduction.runs() - trials.runs());
}

void shrink_setting(ShrinkTrials& trials) {
    const auto fails_set = [&](auto change) {
        Case candidate = trials.smallest();
        change(candidate.setting);
        return candidate.setting == trials.smallest().setting || trials.fails(candidate);
    };
    fails_set([](Setting& setting) { setting = {}; });
    fails_set([](Setting& setting) {
        setting.order = ThreadOrder::ascending;
        setting.order_seed = 0;
    });
    if (trials.smallest().setting.order != ThreadOrder::ascending)
        fails_set([](Setting& setting) {
            setting.order = ThreadOrder::descending;
            setting.order_seed = 0;
        });
    if (!fails_set([](Setting& setting) { setting.offsets.clear(); }))
        for (std::size_t i = 0; i < trials.smallest().setting.offsets.size(); ++i)
            for (const int offset : {0, 1})
                if (fails_set([&](Setting& setting) { setting.offsets[i] = offset; })) break;
    if (!fails_set([](Setting& setting) { setting.layouts.clear(); }))
        for (const auto& found : std::map(trials.smallest().setting.layouts)) {
            const std::string& tensor = found.first;
            if (fails_set([&](Setting& setting) { setting.layouts.erase(tensor); })) continue;
            fails_set([&](Setting& setting) { setting.layouts.at(tensor).expanded = 0; });
            fails_set([&](Setting& setting) { setting.layouts.at(tensor).order.clear(); });
            if (!fails_set([&](Setting& setting) { setting.layouts.at(tensor).row_padding = 0; }))
                fails_set([&](Setting& setting) { setting.layouts.at(tensor).row_padding = 1; });
        }
    fails_set([](Setting& setting) { setting.before.reset(); });
    fails_set([](Setting& setting) { setting.own_stream = false; });
    if (!fails_set([](Setting& setting) { setting.place = 0; }))
        fails_set([](Setting& setting) { setting.place = 1; });
    fails_set([](Setting& setting) { setting.output_mask = Setting::every_output; });
    fails_set([](Setting& setting) { setting.block_size = 0; });
}

}  // namespace gradverify
