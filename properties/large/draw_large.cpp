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
#include "properties/large/large_plan.hpp"

namespace gradverify {

namespace {

/// How large the tensors of a case are.
enum class Extent {
    limit,              ///< as large as the kernel takes them, by its declaration
    below_limit,        ///< one element less, or one copy
    signed_elements,    ///< just beyond the elements that signed offsets reach
    unsigned_elements,  ///< or unsigned ones
    signed_bytes,       ///< or beyond the bytes
    unsigned_bytes,
};

bool is_at_limit(Extent extent) { return extent == Extent::limit || extent == Extent::below_limit; }

/// What a row's cases have by turns. A limit beyond all offsets is none.
std::vector<Extent> extents_of(const KernelDeclaration& kernel, int offset_bits) {
    using enum Extent;
    const std::int64_t most =
        kernel.most_elements.value_or(std::numeric_limits<std::int64_t>::max());
    if (most > std::int64_t{1} << offset_bits)
        return {signed_elements, signed_bytes, signed_elements, unsigned_elements};
    if (most > std::int64_t{1} << (offset_bits - 1))
        return {limit, below_limit, signed_elements, signed_bytes};
    return {limit, below_limit, unsigned_bytes, signed_bytes};
}

// Not the third, which may lie where a function is flat, nor those with ties.
constexpr std::uint64_t dense_draws[] = {1, 2, 4};
constexpr int attempts = 300;
// Enough beside those that hold drawn data; a sixty-fourth of a call is enough to time.
constexpr std::int64_t fewest_copies = 64;

/// What one large case may cost, for offsets of this number of bits.
struct LargeBudget {
    double multiply_adds, bytes, multiply_adds_of_output, few_multiply_adds;
    // The reference takes some 50 ns for a multiply-add.
    static constexpr double multiply_adds_of_drawn = 0x1p23, elements_of_drawn = 0x1p20;

    explicit LargeBudget(int bits)
        : multiply_adds(std::ldexp(1.25, bits + 6)),
          bytes(std::ldexp(1.25, bits + 4)),
          multiply_adds_of_output(std::ldexp(1.0, std::max(bits - 7, 14))),
          few_multiply_adds(std::ldexp(1.0, bits + 2)) {}
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
          extents_(extents_of(kernel_.any(), offset_bits)),
          budget_(offset_bits),
          random_(mix_seed(case_seed, "large")),
          setting_(setting(case_seed)) {}

    /// Goes on to the next extent where no problem of this one fits.
    std::optional<LargeShape> draw() {
        for (std::size_t step = 0; step < extents_.size(); ++step) {
            const Extent extent =
                extents_[(static_cast<std::size_t>(index_) + step) % extents_.size()];
            if (auto shape = draw(extent)) return shape;
        }
        return std::nullopt;
    }

    std::string why_none() const {
        if (const auto most = kernel_.any().most_elements; most && *most < fewest_copies)
            return fmt::format("takes tensors of at most {} elements, as it declares", *most);
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

    /// What a case is asked for beside its extent.
    struct Demands {
        bool is_cheap = false;    ///< few multiply-adds, and no tensor much beyond the extent
        bool is_light = false;    ///< each output is of little work
        bool is_telling = false;  ///< outputs have many elements in the copies that hold data
        bool is_exact = false;    ///< at a limit: the copies have just as many elements
    };

    std::optional<LargeShape> draw(Extent extent) {
        if (is_at_limit(extent)) {
            // Drawn problems rarely divide the limit; the smallest ones mostly do.
            if (auto shape = copies_of_drawn(
                    extent, {.is_light = true, .is_telling = true, .is_exact = true}))
                return shape;
            if (auto shape = copies_of_smallest(extent, {.is_light = true, .is_exact = true}))
                return shape;
            if (extent == Extent::limit)
                if (auto shape = copies_of_smallest(extent, {.is_light = true})) return shape;
        }
        // A wrong offset shows in little work as well.
        constexpr Demands falling[] = {{.is_cheap = true, .is_light = true, .is_telling = true},
                                       {.is_light = true, .is_telling = true},
                                       {}};
        for (const Demands& demands : falling)
            if (auto shape = copies_of_drawn(extent, demands)) return shape;
        return std::nullopt;
    }

    const SeparableSpec& along_at(int attempt) const {
        return op_.separable[static_cast<std::size_t>(index_ + attempt) % op_.separable.size()];
    }

    std::optional<LargeShape> copies_of_drawn(Extent extent, Demands demands) {
        for (int attempt = 0; attempt < attempts; ++attempt) {
            const SeparableSpec& along = along_at(attempt);
            if (auto shape = copies_of(drawn_along(along), along, extent, demands)) return shape;
        }
        return std::nullopt;
    }

    std::optional<LargeShape> copies_of_smallest(Extent extent, Demands demands) {
        for (const Problem& smallest : generator_.edge_problems())
            for (int axis = 0; axis < std::ssize(op_.separable); ++axis)
                if (auto shape = copies_of(smallest, along_at(axis), extent, demands)) return shape;
        return std::nullopt;
    }

    std::optional<LargeShape> copies_of(const Problem& one, const SeparableSpec& along,
                                        Extent extent, Demands demands) try {
        if (lawless_.contains(&along)) return std::nullopt;
        if (op_.is_empty(one) || why_not_multiplied(along, one)) return std::nullopt;
        draw_orders(one);
        const LargeShape single =
            large_shape(kernel_, *kernel_.on(row_.device), one, along, 1, setting_);
        const auto copies = is_at_limit(extent) ? copies_at_limit(single, extent, demands.is_exact)
                                                : copies_for(single, extent);
        if (!copies || *copies < fewest_copies) return std::nullopt;
        LargeShape shape =
            large_shape(kernel_, *kernel_.on(row_.device), one, along, *copies, setting_);
        // First, as a kernel need not know the workspace of what it does not support.
        if (const auto why = why_unsupported(kernel_, shape)) return refuse(*why);
        if (!fits(shape, extent, demands))
            return refuse("more work, or memory, than a case may take");
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

    /// A problem with other axes multiplied, such as channels, so that many threads sum.
    Problem drawn_along(const SeparableSpec& along) {
        Problem one = generator_.draw_freely(random_.next());
        const auto rounds = random_.below(3);
        for (std::uint64_t round = 0; round < rounds; ++round) {
            const SeparableSpec& other = op_.separable[random_.below(op_.separable.size())];
            if (&other == &along || why_not_multiplied(other, one)) continue;
            one = multiplied(one, other, std::int64_t{1} << random_.below(11));
        }
        return one;
    }

    std::vector<const LargeTensor*> copied_of(const LargeShape& one) const {
        std::vector<const LargeTensor*> copied;
        for (const LargeTensor& tensor : one.tensors)
            if (axis_of_copies(op_, tensor.name, one.one, *one.along)) copied.push_back(&tensor);
        return copied;
    }

    /// The elements or bytes that an extent's offsets reach, or that the kernel takes.
    struct Reach {
        std::int64_t most;
        bool in_bytes = false;

        std::int64_t elements_of(const LargeTensor& tensor) const {
            return in_bytes ? most / tensor.element_bytes() : most;
        }
    };
    Reach reach_of(Extent extent) const {
        const std::int64_t of_signed = std::int64_t{1} << (bits_ - 1);
        switch (extent) {
            case Extent::limit:
            case Extent::below_limit:
                return {*kernel_.any().most_elements};
            case Extent::signed_elements:
                return {of_signed};
            case Extent::unsigned_elements:
                return {2 * of_signed};
            case Extent::signed_bytes:
                return {of_signed, true};
            case Extent::unsigned_bytes:
                return {2 * of_signed, true};
        }
        return {};
    }

    /// The copies that make a tensor just larger than the extent asks for.
    std::optional<std::int64_t> copies_for(const LargeShape& one, Extent extent) {
        const std::vector<const LargeTensor*> copied = copied_of(one);
        if (copied.empty()) return std::nullopt;
        const LargeTensor& target = *copied[random_.below(copied.size())];
        return reach_of(extent).elements_of(target) / target.elements() + random_.between(1, 3);
    }

    /// The copies whose largest tensor has as many elements as the kernel takes, or one less; or,
    /// where there are none and others will do, the most that the kernel takes, or one less.
    std::optional<std::int64_t> copies_at_limit(const LargeShape& one, Extent extent,
                                                bool exactly) const {
        std::int64_t elements = 0;
        for (const LargeTensor* tensor : copied_of(one))
            elements = std::max(elements, tensor->elements());
        if (elements == 0) return std::nullopt;
        const std::int64_t limit = reach_of(extent).most;
        const std::int64_t less = extent == Extent::below_limit ? 1 : 0;
        if ((limit - less) % elements == 0) return (limit - less) / elements;
        if (exactly) return std::nullopt;
        return limit / elements - less;
    }

    bool fits(const LargeShape& shape, Extent extent, Demands demands) const {
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
        const auto is_lean = [&](const LargeTensor& tensor) {
            return tensor.elements() / 5 <= reach_of(extent).elements_of(tensor) / 4;
        };
        // Operators of functions count many for each element, which take no longer than memory
        // does.
        const bool is_little =
            op_.algebra != Algebra::products || work <= budget_.few_multiply_adds;
        return bytes <= budget_.bytes && work <= budget_.multiply_adds &&
               (!demands.is_cheap || (is_little && std::ranges::all_of(shape.tensors, is_lean))) &&
               (!demands.is_light || work / fewest_outputs <= budget_.multiply_adds_of_output) &&
               (!demands.is_telling || is_telling(shape.of_drawn())) && is_small(shape.of_drawn());
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
    std::vector<Extent> extents_;
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
