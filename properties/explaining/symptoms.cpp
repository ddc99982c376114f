// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "harness/base/text.hpp"
#include "harness/cases/compare.hpp"
#include "harness/registry/element_types.hpp"
#include "properties/explaining/explain.hpp"

namespace gradverify {

namespace {

// Fewer wrong elements, or values, agree with something by chance.
constexpr std::int64_t elements_minimum = 6;
constexpr std::size_t values_minimum = 3;
// How many roundings of a tensor's largest value separate it from what a pattern says.
constexpr double roundings = 16.0;

/// A wrong output of a failing run.
struct Sample {
    const FailingRun& run;
    const WrongMap& map;

    const std::vector<double>& want() const { return map.want; }
};

/// By element, what a pattern says that a kernel gives; NaN where it says nothing. Empty: it does
/// not fit the tensor.
using Pattern = std::function<std::vector<double>(const Sample&)>;

struct Agreement {
    bool is_full = true;        ///< all wrong elements agree
    bool is_everywhere = true;  ///< the right ones as well
    std::int64_t elements = 0;  ///< wrong ones that agree
    std::set<double> wanted;    ///< of these

    bool is_telling() const {
        return is_full && elements >= elements_minimum && wanted.size() >= values_minimum;
    }
};

Agreement agreement_of(std::span<const Sample> samples, const Pattern& pattern, double rounding) {
    Agreement all;
    for (const Sample& sample : samples) {
        const std::vector<double> said = pattern(sample);
        double largest = 0.0;
        for (const double value : said)
            if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
        all.is_full &= said.size() == sample.map.got.size();
        for (std::size_t i = 0; i < said.size() && all.is_full; ++i) {
            if (std::isnan(said[i])) continue;
            const double near = roundings * rounding * largest;
            const bool is_wrong = sample.map.marks[i] == '#';
            // What is wanted explains no wrong element.
            const bool agrees = std::abs(sample.map.got[i] - said[i]) <= near &&
                                (!is_wrong || std::abs(said[i] - sample.want()[i]) > 2.0 * near);
            (is_wrong ? all.is_full : all.is_everywhere) &= agrees;
            if (!is_wrong || !agrees) continue;
            ++all.elements;
            all.wanted.insert(sample.want()[i]);
        }
    }
    return all;
}

/// The elements as they lie where two axes are exchanged.
std::vector<double> exchanged(const Sample& sample, std::size_t one, std::size_t other) {
    const auto& sizes = sample.map.sizes;
    if (other >= sizes.size()) return {};
    const auto there = [&](std::size_t axis) {
        return axis == one ? other : axis == other ? one : axis;
    };
    std::vector<double> values = sample.want();
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::vector<std::size_t> index(sizes.size());
        for (std::size_t rest = i, axis = sizes.size(); axis-- > 0;) {
            const auto size = static_cast<std::size_t>(sizes[axis]);
            index[axis] = rest % size;
            rest /= size;
        }
        std::size_t at = 0;
        for (std::size_t axis = 0; axis < sizes.size(); ++axis)
            at = at * static_cast<std::size_t>(sizes[there(axis)]) + index[there(axis)];
        values[at] = sample.want()[i];
    }
    return values;
}

/// The elements that lie `by` further along an axis.
std::vector<double> shifted(const Sample& sample, std::size_t axis, std::int64_t by) {
    const auto& sizes = sample.map.sizes;
    if (axis >= sizes.size()) return {};
    std::int64_t step = 1;
    for (std::size_t i = axis + 1; i < sizes.size(); ++i) step *= sizes[i];
    std::vector<double> values(sample.want().size(), NAN);
    for (std::int64_t i = 0; i < std::ssize(values); ++i)
        if (const std::int64_t at = i / step % sizes[axis] + by; at >= 0 && at < sizes[axis])
            values[static_cast<std::size_t>(i)] =
                sample.want()[static_cast<std::size_t>(i + by * step)];
    return values;
}

std::vector<double> values_of_input(const Sample& sample, const Kernel& kernel,
                                    const std::string& name, const ListData& list_data) {
    const Case& checked = sample.run.checked;
    std::int64_t elements = 1;
    for (const std::int64_t size : kernel.op->sizes_of(name, checked.problem)) elements *= size;
    if (elements != sample.map.total) return {};
    std::vector<double> values(sample.map.got.size());
    for (const DataElement& one : list_data(checked))
        if (one.tensor == name) values.at(static_cast<std::size_t>(one.index)) = one.value;
    return values;
}

std::vector<double> scaled(const Sample& sample, double factor) {
    std::vector<double> values = sample.want();
    for (double& value : values) value *= factor;
    return values;
}

/// Of the wrong element that should be largest: what it is, over what it should be.
double factor_of(std::span<const Sample> samples) {
    double factor = NAN, largest = 0.0;
    for (const Sample& sample : samples)
        for (std::size_t i = 0; i < sample.want().size(); ++i)
            if (sample.map.marks[i] == '#' && std::abs(sample.want()[i]) > largest) {
                largest = std::abs(sample.want()[i]);
                factor = sample.map.got[i] / sample.want()[i];
            }
    return factor;
}

std::string place(const Agreement& agreement, const std::string& output) {
    return (agreement.is_everywhere ? " in all of " : " in all wrong elements of ") + output;
}

/// One factor in all problems, or one in each. `samples` of one problem lie together.
std::string text_of_factor(std::span<const Sample> samples, const std::string& output,
                           double rounding) {
    const auto agrees = [&](std::span<const Sample> some) {
        const double factor = factor_of(some);
        return agreement_of(
            some, [&](const Sample& sample) { return scaled(sample, factor); }, rounding);
    };
    const auto text = [&](std::span<const Sample> some, const Agreement& found) {
        return fmt::format("got = {:.{}g} x want", factor_of(some), rounding < 1e-6 ? 6 : 3) +
               place(found, output);
    };
    if (const Agreement all = agrees(samples); all.is_telling()) return text(samples, all);
    std::span<const Sample> most;
    Agreement best;
    for (auto rest = samples; !rest.empty();) {
        const auto end = std::ranges::find_if(rest, [&](const Sample& sample) {
            return !(sample.run.checked.problem == rest.front().run.checked.problem);
        });
        const auto here = rest.first(static_cast<std::size_t>(end - rest.begin()));
        rest = rest.subspan(here.size());
        const Agreement found = agrees(here);
        if (!found.is_full) return {};
        if (!found.is_telling() || found.elements <= best.elements) continue;
        most = here;
        best = found;
    }
    if (most.empty()) return {};
    return text(most, best) + fmt::format(" at {}, and another factor at other problems",
                                          most.front().run.checked.problem.print());
}

std::string pattern_of_output(const Kernel& kernel, std::span<const Sample> samples,
                              const std::string& output, const ListData& list_data) {
    struct Named {
        std::string text;
        Pattern pattern;
    };
    std::vector<Named> all{{"0", [](const Sample& sample) { return scaled(sample, 0.0); }},
                           {"-want", [](const Sample& sample) { return scaled(sample, -1.0); }}};
    const std::size_t axes = samples.front().map.sizes.size();
    for (std::size_t other = axes; other-- > 0;)
        for (std::size_t one = other; one-- > 0;)
            all.push_back({other == axes - 1 && one == axes - 2
                               ? "want transposed"
                               : fmt::format("want with axes {} and {} exchanged", one, other),
                           [=](const Sample& sample) { return exchanged(sample, one, other); }});
    for (std::size_t axis = 0; axis < axes; ++axis)
        for (const std::int64_t by : {1, -1})
            all.push_back({fmt::format("want one {} along axis {}, where there is one,",
                                       by > 0 ? "further" : "before", axis),
                           [=](const Sample& sample) { return shifted(sample, axis, by); }});
    for (const std::string& other : kernel.pass->outputs)
        if (other != output)
            all.push_back({"what " + other + " should be", [&other](const Sample& sample) {
                               const auto& maps = sample.run.outcome.maps;
                               const auto at = std::ranges::find(maps, other, &WrongMap::tensor);
                               return at == maps.end() ? std::vector<double>() : at->want;
                           }});
    if (list_data)
        for (const std::string& input : kernel.pass->inputs)
            all.push_back({input, [&](const Sample& sample) {
                               return values_of_input(sample, kernel, input, list_data);
                           }});
    const DType stored = dtype_of(kernel.any(), *kernel.op, output);
    const double rounding = std::max(Rounding::of(stored).unit_roundoff,
                                     Rounding::of(kernel.any().accumulator()).unit_roundoff);
    for (const Named& one : all)
        if (const auto found = agreement_of(samples, one.pattern, rounding); found.is_telling())
            return "got = " + one.text + place(found, output);
    return text_of_factor(samples, output, rounding);
}

}  // namespace

Symptoms symptoms_of(const Kernel& kernel, std::vector<FailingRun> runs,
                     const ListData& list_data) {
    std::ranges::stable_sort(runs, {}, [](const FailingRun& run) { return run.checked.problem; });
    std::vector<std::string> wrong, right, patterns;
    const auto& outputs = kernel.pass->outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        std::vector<Sample> samples;
        bool is_told = true, is_asked = false;
        for (const FailingRun& run : runs) {
            is_asked |= run.checked.setting.asks_for(i);
            const auto& maps = run.outcome.maps;
            const auto at = std::ranges::find(maps, outputs[i], &WrongMap::tensor);
            if (at == maps.end()) continue;
            is_told &= !at->got.empty() && !at->marks.empty();
            samples.push_back({run, *at});
        }
        if (samples.empty() && is_asked) right.push_back(outputs[i]);
        if (samples.empty()) continue;
        wrong.push_back(outputs[i]);
        if (!is_told) continue;
        std::string pattern = pattern_of_output(kernel, samples, outputs[i], list_data);
        if (!pattern.empty()) patterns.push_back(std::move(pattern));
    }
    Symptoms told{.pattern = joined(patterns, "; ")};
    const auto are = [](const std::vector<std::string>& some) {
        return joined(some) + (some.size() == 1 ? " is " : " are ");
    };
    if (outputs.size() > 1 && !wrong.empty()) told.outputs = are(wrong) + "wrong";
    if (!told.outputs.empty() && !right.empty())
        told.outputs += fmt::format("; {}right in all {} failing runs", are(right), runs.size());
    return told;
}

std::vector<SettingField> fields_that_differ(const Kernel& kernel, const Setting& setting) {
    std::vector<SettingField> fields;
    const auto add = [&](const std::string& text, const auto& change) {
        SettingField field{.text = text, .without = setting};
        change(field.without);
        if (!(field.without == setting)) fields.push_back(std::move(field));
    };
    const Setting usual;
    add(setting.order == ThreadOrder::descending ? "with threads in descending order"
                                                 : "with threads in random order",
        [&](Setting& one) { one.order = usual.order, one.order_seed = usual.order_seed; });
    add("with buffers off their alignment", [](Setting& one) { one.offsets.clear(); });
    add(fmt::format("with blocks of {} threads", setting.block_size),
        [](Setting& one) { one.block_size = 0; });
    add("on a stream of its own", [](Setting& one) { one.own_stream = false; });
    add("in place", [](Setting& one) { one.place = 0; });
    std::vector<std::string> asked;
    for (std::size_t i = 0; i < kernel.pass->outputs.size(); ++i)
        if (setting.asks_for(i)) asked.push_back(kernel.pass->outputs[i]);
    add(fmt::format("where {} alone {} asked for", joined(asked), asked.size() == 1 ? "is" : "are"),
        [&](Setting& one) { one.output_mask = usual.output_mask; });
    for (const auto& [name, layout] : setting.layouts) {
        const auto change = [&, &name = name](auto member, const std::string& text) {
            add(text, [&](Setting& one) { one.layouts[name].*member = TensorLayout{}.*member; });
        };
        std::vector<std::int64_t> axes;
        for (std::size_t axis = 0; axis < 32; ++axis)
            if (layout.is_expanded(axis)) axes.push_back(static_cast<std::int64_t>(axis));
        change(&TensorLayout::expanded,
               fmt::format("with {} expanded along {} {}", name, axes.size() == 1 ? "axis" : "axes",
                           fmt::join(axes, ", ")));
        change(&TensorLayout::row_padding, fmt::format("with gaps between the rows of {}", name));
        change(&TensorLayout::order, fmt::format("with {} as {}", name, layout.order));
    }
    return fields;
}

}  // namespace gradverify
