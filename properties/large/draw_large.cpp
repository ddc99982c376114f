// SPDX-License-Identifier: Apache-2.0
#include "properties/large/draw_large.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "harness/base/random.hpp"
#include "properties/data/seeds.hpp"
#include "properties/data/setting.hpp"
#include "properties/large/plan.hpp"

namespace gradverify {

namespace {

constexpr int kinds = 4;
// Not the third, which may lie where a function is flat, nor those with ties.
constexpr std::uint64_t dense_draws[] = {1, 2, 4};
// The first half of them wants many outputs, each of little work.
constexpr int attempts = 600;
// Enough beside those that hold drawn data; a sixty-fourth of a call is enough to time.
constexpr std::int64_t fewest_copies = 64;

/// What one large case may cost, for offsets of this number of bits.
struct LargeBudget {
    double multiply_adds, bytes, multiply_adds_of_output;
    // The reference takes some 50 ns for a multiply-add.
    static constexpr double multiply_adds_of_drawn = 0x1p23, elements_of_drawn = 0x1p20;

    explicit LargeBudget(int bits)
        : multiply_adds(std::ldexp(1.25, bits + 6)),
          bytes(std::ldexp(1.25, bits + 4)),
          multiply_adds_of_output(std::ldexp(1.0, std::max(bits - 7, 14))) {}
};

class LargeDraw {
  public:
    LargeDraw(const Row& row, const ProblemGenerator& generator, ValueKind kind,
              std::uint64_t case_seed, std::int64_t index, int offset_bits)
        : row_(row),
          kernel_(*row.kernel),
          op_(*row.kernel->op),
          generator_(generator),
          values_(kind),
          index_(index),
          bits_(offset_bits),
          budget_(offset_bits),
          random_(mix_seed(case_seed, "large")),
          setting_(setting(case_seed)) {}

    /// Goes on to the next kind where no problem of this one fits.
    std::optional<LargeShape> draw() {
        for (std::int64_t step = 0; step < kinds; ++step) {
            const int kind = static_cast<int>((index_ + step) % kinds);
            for (int attempt = 0; attempt < attempts; ++attempt)
                if (auto shape = try_once(kind, attempt)) return shape;
        }
        return std::nullopt;
    }

    std::string why_none() const {
        if (kernel_.any().most_elements)
            return fmt::format("takes tensors of at most {} elements, as it declares",
                               *kernel_.any().most_elements);
        return "no large problem is drawn: " + why_;
    }

    const Setting& drawn_setting() const { return setting_; }

  private:
    /// Without moved pointers and padded rows, which other properties check.
    Setting setting(std::uint64_t case_seed) const {
        const Setting all = draw_setting(kernel_, mix_seed(case_seed, "setting"));
        return {.block_size = all.block_size, .own_stream = all.own_stream};
    }

    void draw_orders(const Problem& one) {
        setting_.layouts.clear();
        Setting all;
        draw_layouts(kernel_, one, random_.next(), all);
        for (const auto& [tensor, layout] : all.layouts)
            if (!layout.order.empty()) setting_.layouts[tensor] = {.order = layout.order};
    }

    std::optional<LargeShape> try_once(int kind, int attempt) try {
        const auto which = static_cast<std::size_t>(index_ + attempt) % op_.separable.size();
        const SeparableSpec& along = op_.separable[which];
        if (lawless_.contains(&along)) return std::nullopt;
        Problem one = generator_.draw_freely(random_.next());
        grow(one, along);
        if (op_.is_empty(one) || why_not_multiplied(along, one)) return std::nullopt;
        draw_orders(one);
        const LargeShape single =
            large_shape(kernel_, *kernel_.on(row_.device), one, along, 1, setting_);
        const auto copies = copies_for(single, kind);
        if (!copies) return std::nullopt;
        LargeShape shape =
            large_shape(kernel_, *kernel_.on(row_.device), one, along, *copies, setting_);
        if (!fits(shape, attempt < attempts / 2))
            return refuse("more work, or memory, than a case may take");
        if (const auto why = why_unsupported(kernel_, shape)) return refuse(*why);
        if (const auto why = why_law_fails(kernel_, one, along, values_)) {
            // A pass that breaks the law once is not asked again.
            lawless_.insert(&along);
            return refuse(*why);
        }
        if (gives_only_zeros(kernel_, shape.of_drawn(), values_))
            return refuse("nothing but zeros comes of any");
        return shape;
    } catch (const std::invalid_argument& wrong) {
        return refuse(wrong.what());
    }

    std::nullopt_t refuse(std::string why) {
        why_ = std::move(why);
        return std::nullopt;
    }

    /// Multiplies other axes, such as channels, so that many threads sum.
    void grow(Problem& one, const SeparableSpec& along) {
        const auto rounds = random_.below(3);
        for (std::uint64_t round = 0; round < rounds; ++round) {
            const SeparableSpec& other = op_.separable[random_.below(op_.separable.size())];
            if (&other == &along || why_not_multiplied(other, one)) continue;
            one = multiplied(one, other, std::int64_t{1} << random_.below(11));
        }
    }

    /// The copies that make a tensor just larger than the kind asks for, if they are enough.
    std::optional<std::int64_t> copies_for(const LargeShape& one, int kind) {
        std::vector<const LargeTensor*> copied;
        for (const LargeTensor& tensor : one.tensors)
            if (axis_of_copies(op_, tensor.name, one.one, *one.along)) copied.push_back(&tensor);
        if (copied.empty()) return std::nullopt;
        const LargeTensor& target = *copied[random_.below(copied.size())];
        const bool in_bytes = kind == 1;
        const std::int64_t threshold = (std::int64_t{1} << (kind == 3 ? bits_ : bits_ - 1)) /
                                       (in_bytes ? target.element_bytes() : 1);
        const std::int64_t copies = threshold / target.elements() + random_.between(1, 3);
        if (copies < fewest_copies) return std::nullopt;
        return copies;
    }

    bool fits(const LargeShape& shape, bool is_choosy) const {
        const auto workspace = kernel_.any().workspace_bytes;
        double bytes = workspace ? static_cast<double>(workspace(shape.large)) : 0.0;
        double fewest_outputs = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < shape.tensors.size(); ++i) {
            bytes += static_cast<double>(shape.tensors[i].bytes());
            if (i >= kernel_.pass->inputs.size())
                fewest_outputs =
                    std::min(fewest_outputs, static_cast<double>(shape.tensors[i].elements()));
        }
        const double work = kernel_.pass->multiply_adds(shape.large);
        return bytes <= budget_.bytes && work <= budget_.multiply_adds &&
               (!is_choosy || (work / fewest_outputs <= budget_.multiply_adds_of_output &&
                               is_telling(shape.of_drawn()))) &&
               is_small(shape.of_drawn());
    }

    /// Whether no output is small: a few numbers may all be nearly zero.
    bool is_telling(const Problem& problem) const {
        constexpr std::int64_t fewest = 32;
        return std::ranges::all_of(kernel_.pass->outputs, [&](const std::string& output) {
            return element_count(op_.sizes_of(output, problem)) >= fewest;
        });
    }

    bool is_small(const Problem& problem) const {
        double elements = 0.0;
        for (const auto* tensors : {&op_.inputs, &op_.outputs})
            for (const TensorSpec& tensor : *tensors)
                elements += static_cast<double>(element_count(tensor.sizes(problem)));
        return elements <= LargeBudget::elements_of_drawn &&
               std::max(kernel_.pass->multiply_adds(problem),
                        op_.forward().multiply_adds(problem)) <=
                   LargeBudget::multiply_adds_of_drawn;
    }

    const Row& row_;
    const Kernel& kernel_;
    const Operator& op_;
    const ProblemGenerator& generator_;
    ValueKind values_;
    std::int64_t index_;
    int bits_;
    LargeBudget budget_;
    SplitMix64 random_;
    Setting setting_;
    std::set<const SeparableSpec*> lawless_;
    std::string why_ = "too few copies";
};

}  // namespace

Suite::Draw draw_large(const Row& row, const ProblemGenerator& generator, ValueKind kind,
                       std::uint64_t case_seed, std::int64_t index, int offset_bits) {
    if (!generator.why_none().empty())
        return {.drawn = {}, .why_none = generator.why_none(), .is_skip = false};
    LargeDraw draw(row, generator, kind, case_seed, index, offset_bits);
    const auto shape = draw.draw();
    if (!shape) return {.drawn = {}, .why_none = draw.why_none(), .is_skip = true};
    Case drawn{.kernel = row.kernel->name,
               .property = row.property_name(),
               .device = row.device,
               .problem = shape->large,
               // Without zeros, so that no two copies are alike as far as there are numbers.
               .data = {.seed = dense_draws[mix_seed(case_seed, "data") % std::size(dense_draws)],
                        .is_dense = true},
               .setting = draw.drawn_setting()};
    drawn.setting.copies = {.along = shape->along->name, .count = shape->copies};
    return {.drawn = std::move(drawn), .why_none = {}};
}

}  // namespace gradverify
