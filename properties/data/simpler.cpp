// SPDX-License-Identifier: Apache-2.0
#include "properties/data/simpler.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "harness/cases/compare.hpp"

namespace gradverify {
namespace {

/// The most choices of one element of each of some tensors that are tried.
constexpr std::int64_t most_choices = 300;
constexpr std::size_t most_tensors = 3;
/// The most choices in all: a reduction, which comes next, needs its runs, too.
constexpr std::size_t most_one_hot = 500;
/// In the order in which a reader finds them simple.
constexpr std::array simple_values{1.0, -1.0, 2.0};

using Elements = std::vector<DataElement>;

Data explicit_data(Elements elements) {
    return {.is_explicit = true, .elements = std::move(elements)};
}

struct TensorSize {
    std::string name;
    std::int64_t elements;
};

/// The tensors of a listing, in its order.
std::vector<TensorSize> tensors_of(const Operator& op, const Problem& problem,
                                   const Elements& listed) {
    std::vector<TensorSize> tensors;
    for (const DataElement& element : listed)
        if (std::ranges::count(tensors, element.tensor, &TensorSize::name) == 0)
            tensors.push_back(
                {element.tensor, element_count(op.sizes_of(element.tensor, problem))});
    return tensors;
}

/// Collects one element of each chosen tensor, all with one value, in every position.
class OneHot {
  public:
    explicit OneHot(std::vector<TensorSize> tensors) : tensors_(std::move(tensors)) {
        for (const double value : simple_values)
            for (std::size_t count = 1; count <= most_tensors; ++count) {
                Elements none;
                choose_tensors(none, 0, count, 1, value);
            }
    }
    std::vector<Data> found{explicit_data({})};

  private:
    void choose_tensors(Elements& chosen, std::size_t first, std::size_t missing,
                        std::int64_t choices, double value) {
        if (choices > most_choices) return;
        if (missing == 0) return choose_positions(chosen, 0);
        for (std::size_t t = first; t < tensors_.size(); ++t) {
            chosen.push_back({.tensor = tensors_[t].name, .value = value});
            choose_tensors(chosen, t + 1, missing - 1, choices * tensors_[t].elements, value);
            chosen.pop_back();
        }
    }

    void choose_positions(Elements& chosen, std::size_t which) {
        if (found.size() == most_one_hot) return;
        if (which == chosen.size()) return found.push_back(explicit_data(chosen));
        const auto size = std::ranges::find(tensors_, chosen[which].tensor, &TensorSize::name);
        for (std::int64_t index = 0; index < size->elements; ++index) {
            chosen[which].index = index;
            choose_positions(chosen, which + 1);
        }
    }

    std::vector<TensorSize> tensors_;
};

/// The state of a listing's reduction. Its steps are, in order: chunks are left out, of half the
/// length each time all were tried, as long as the rest fails (Zeller and Hildebrandt, Simplifying
/// and isolating failure-inducing input, 2002, without its complements); then elements get simpler
/// values. An accepted step goes on from where it was made.
struct Reduction {
    Elements elements;
    std::size_t length, begin = 0;       ///< of the chunk that is left out next; then 0
    std::size_t element = 0, value = 0;  ///< what is made simple next

    rc::Maybe<rc::Shrinkable<Data>> operator()();

    std::optional<Reduction> leave_out() {
        for (; length > 0; length /= 2, begin = 0) {
            if (begin >= elements.size()) continue;
            Reduction rest = *this;
            const std::size_t end = std::min(begin + length, elements.size());
            const auto first = rest.elements.begin();
            rest.elements.erase(first + static_cast<std::ptrdiff_t>(begin),
                                first + static_cast<std::ptrdiff_t>(end));
            begin = end;
            return rest;
        }
        return std::nullopt;
    }

    std::optional<Reduction> simplify() {
        if (elements.size() > most_elements) return std::nullopt;
        for (; element < elements.size(); ++element, value = 0) {
            if (value == simple_values.size()) continue;
            const double simple = simple_values[value++];
            if (elements[element].value == simple) continue;
            Reduction simpler = *this;
            simpler.elements[simpler.element++].value = simple;
            simpler.value = 0;
            return simpler;
        }
        return std::nullopt;
    }
};

rc::Shrinkable<Data> reduced(Reduction state) {
    const auto shared = std::make_shared<const Reduction>(std::move(state));
    return rc::shrinkable::lambda([=] { return explicit_data(shared->elements); },
                                  [=] { return rc::makeSeq<Reduction>(*shared); });
}

rc::Maybe<rc::Shrinkable<Data>> Reduction::operator()() {
    if (auto fewer = leave_out()) return reduced(std::move(*fewer));
    if (auto simpler = simplify()) return reduced(std::move(*simpler));
    return rc::Nothing;
}

/// The place in a tensor of other sizes that is nearest to one of these, on each axis.
std::int64_t nearest_place(std::int64_t index, const Sizes& from, const Sizes& to) {
    if (from.size() != to.size()) return std::min(index, element_count(to) - 1);
    const Sizes at = unflatten(index, from);
    std::int64_t place = 0;
    for (std::size_t axis = 0; axis < to.size(); ++axis)
        place = place * to[axis] + std::min(at[axis], to[axis] - 1);
    return place;
}

using Change = std::function<void(Setting&)>;

/// The changes that are tried on a setting, each once, in order.
std::vector<Change> changes_of(const Setting& setting) {
    std::vector<Change> changes{[](Setting& any) { any = {.copies = any.copies}; }};
    for (const ThreadOrder order : {ThreadOrder::ascending, ThreadOrder::descending})
        changes.push_back([=](Setting& any) {
            if (any.order == ThreadOrder::ascending) return;
            any.order = order;
            any.order_seed = 0;
        });
    changes.push_back([](Setting& any) { any.offsets.clear(); });
    for (std::size_t i = 0; i < setting.offsets.size(); ++i)
        for (const int offset : {0, 1})
            changes.push_back([=](Setting& any) {
                if (i < any.offsets.size()) any.offsets[i] = std::min(any.offsets[i], offset);
            });
    changes.push_back([](Setting& any) { any.layouts.clear(); });
    for (const auto& named : setting.layouts) {
        const std::string& tensor = named.first;
        const auto change = [&](auto field) {
            changes.push_back([=](Setting& any) {
                const auto found = any.layouts.find(tensor);
                if (found != any.layouts.end()) field(found->second);
            });
        };
        changes.push_back([=](Setting& any) { any.layouts.erase(tensor); });
        change([](TensorLayout& layout) { layout.expanded = 0; });
        change([](TensorLayout& layout) { layout.order.clear(); });
        change([](TensorLayout& layout) { layout.row_padding = 0; });
        change([](TensorLayout& layout) { layout.row_padding = std::min(layout.row_padding, 1); });
    }
    changes.push_back([](Setting& any) { any.before.reset(); });
    changes.push_back([](Setting& any) { any.own_stream = false; });
    changes.push_back([](Setting& any) { any.place = 0; });
    changes.push_back([](Setting& any) { any.place = std::min(any.place, 1); });
    changes.push_back([](Setting& any) { any.output_mask = Setting::every_output; });
    changes.push_back([](Setting& any) { any.block_size = 0; });
    return changes;
}

/// A setting to which the changes from `first` on have not been tried.
rc::Shrinkable<Setting> changed(Setting setting, std::shared_ptr<const std::vector<Change>> changes,
                                std::size_t first) {
    return rc::shrinkable::lambda(
        [=] { return setting; },
        [=] {
            return rc::seq::mapMaybe(rc::seq::range(first, changes->size()),
                                     [=](std::size_t which) -> rc::Maybe<rc::Shrinkable<Setting>> {
                                         Setting simpler = setting;
                                         (*changes)[which](simpler);
                                         if (simpler == setting) return rc::Nothing;
                                         return changed(std::move(simpler), changes, which + 1);
                                     });
        });
}

}  // namespace

rc::Seq<rc::Shrinkable<Data>> one_hot_data(const Operator& op, const Problem& problem,
                                           const std::vector<DataElement>& listed) {
    return rc::seq::map(rc::seq::fromContainer(OneHot(tensors_of(op, problem, listed)).found),
                        [](Data&& data) { return rc::shrinkable::just(std::move(data)); });
}

bool hangs_on_values(const Data& data) {
    return std::ranges::any_of(data.elements, [](const DataElement& element) {
        return std::ranges::find(simple_values, element.value) == simple_values.end();
    });
}

std::optional<Data> carried_data(const Operator& op, const Problem& from, const Problem& to,
                                 const std::vector<DataElement>& elements) {
    Elements carried;
    std::map<std::string, std::set<std::int64_t>> taken;
    for (DataElement element : elements) {
        const TensorSpec* const tensor = op.find_tensor(element.tensor);
        if (tensor == nullptr) return std::nullopt;
        const Sizes sizes = op.sizes_of(element.tensor, to);
        const std::int64_t room = element_count(sizes);
        std::set<std::int64_t>& places = taken[element.tensor];
        if (std::ssize(places) == room) continue;
        element.index = nearest_place(element.index, op.sizes_of(element.tensor, from), sizes);
        while (!places.insert(element.index).second) element.index = (element.index + 1) % room;
        if (tensor->holds_whole_numbers()) {
            const ValueDomain range = tensor->domain_at(to);
            element.value = std::clamp(element.value, range.lowest, range.highest);
        }
        carried.push_back(std::move(element));
    }
    return explicit_data(std::move(carried));
}

rc::Shrinkable<Data> listed_data(std::vector<DataElement> elements) {
    const std::size_t half = elements.size() / 2;
    return reduced({.elements = std::move(elements), .length = half});
}

rc::Shrinkable<Setting> setting_tree(Setting setting) {
    const auto changes = std::make_shared<const std::vector<Change>>(changes_of(setting));
    return changed(std::move(setting), changes, 0);
}

}  // namespace gradverify
