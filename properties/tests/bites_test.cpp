// SPDX-License-Identifier: Apache-2.0
// The bound of each pass and element type must bite: it catches an output moved by twice its bound,
// a product left out, and products rounded to the next narrower type. Storing half or bfloat16
// hides most errors of a single product, so all products of a problem are rounded. A derived
// gradient has such a bound too: no order of float sums exceeds it, and a forgotten path is caught.
// Attention's weights are caught when they are rounded, wherever that changes what is stored.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/base/random.hpp"
#include "harness/numbers/element_bits.hpp"
#include "properties/checking/context.hpp"
#include "properties/tests/verdicts.hpp"

namespace gradverify {

namespace {

/// A problem with outputs of 2 to 64 terms, without padding.
Problem small_conv_problem(SplitMix64& random, const PassSpec& pass) {
    const Operator& conv = *Registry::instance().find_operator("conv");
    for (;;) {
        std::vector<std::int64_t> of;
        for (const int most : {4, 4, 4, 6, 6, 3, 3, 3, 3}) of.push_back(random.between(1, most));
        const Problem problem = Problem::parse(
            conv.space, fmt::format("n={},c={},k={},in={}x{},filter={}x{},stride={}x{}", of[0],
                                    of[1], of[2], of[3], of[4], of[5], of[6], of[7], of[8]));
        const std::int64_t terms = conv.is_empty(problem) ? 0 : pass.reduction_length(problem);
        if (terms >= 2 && terms <= 64) return problem;
    }
}

double with_digits(double value, int digits) {
    if (value == 0.0) return value;
    const int shift = digits - 1 - std::ilogb(value);
    return std::ldexp(std::nearbyint(std::ldexp(value, shift)), -shift);
}

int digits_below(DType dtype) {
    using enum DType;
    constexpr DType types[] = {f64, f32, f16, bf16, f8e4m3};
    return traits_of(*(std::ranges::find(types, dtype) + 1)).exact_bits;
}

/// A pass on a problem's data, and what a kernel of the type may store.
struct Sample {
    CaseContext context;
    DType dtype;
    Array<double> exact;
    Expected expected;

    explicit Sample(const Case& drawn)
        : context(drawn, Registry::instance(), ValueKind::mantissas),
          dtype(context.types().of(context.op(), context.pass().outputs[0])),
          exact(context.oracle.reference(context.pass())[0]),
          expected(Expected::within(context.pass().outputs[0], context.oracle.bounded()[0])) {}

    std::vector<double> stored(const std::vector<double>& values) const {
        std::vector<double> all;
        for (const double value : values) all.push_back(rounded_to(dtype, value));
        return all;
    }
    bool caught(const std::vector<double>& values) const {
        return !compare(stored(values), expected).ok;
    }

    /// What each output loses when one element of an input is zero.
    std::vector<double> products(std::size_t input, std::size_t element) {
        auto without = context.inputs.of_reference(context.pass());
        without[input].data[element] = 0.0;
        auto lost = exact.data;
        const auto rest = context.oracle.reference(context.pass(), without)[0].data;
        for (std::size_t i = 0; i < lost.size(); ++i) lost[i] -= rest[i];
        return lost;
    }
    /// The same for the first element from `start` on, cyclically, whose product is a share of a
    /// result; zero where it is none, and tiny beside a bias.
    std::optional<std::vector<double>> first_product(std::size_t input, std::size_t start) {
        constexpr double least_share = 0x1p-10;
        const std::size_t count = context.inputs.of_reference(context.pass())[input].data.size();
        for (std::size_t i = 0; i < count; ++i) {
            auto lost = products(input, (start + i) % count);
            bool is_share = false;
            for (std::size_t j = 0; j < lost.size(); ++j)
                if (std::abs(lost[j]) > least_share * std::abs(exact.data[j]))
                    is_share = true;
                else
                    lost[j] = 0.0;
            if (is_share) return lost;
        }
        return std::nullopt;
    }
};

/// The first element from `start` on, cyclically, that is not zero: zero is exact and has no bound.
std::size_t nonzero_from(std::size_t start, const std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); ++i, start = (start + 1) % values.size())
        if (values[start] != 0.0) break;
    return start;
}

struct Rates {
    int false_alarms = 0, moved = 0, dropped = 0, all_rounded = 0;
};

Case small_conv_case(const std::string& kernel, SplitMix64& random) {
    const PassSpec& pass = *Registry::instance().find_kernel(kernel)->pass;
    for (;;) {
        const Problem problem = small_conv_problem(random, pass);
        Case drawn = Case::parse(fmt::format("v1:{}:within_rounding_bound:cpu:{}:seed={}", kernel,
                                             problem.print(), random.next() >> 40),
                                 Registry::instance());
        if (Sample(drawn).first_product(0, 0)) return drawn;
    }
}

/// A drawn case with products, and few numbers.
Case small_drawn_case(const std::string& kernel, SplitMix64& random) {
    const KernelSuite suite(Registry::instance());
    const Row row = testing::row_named(kernel, "within_rounding_bound");
    const Operator& op = *row.kernel->op;
    for (;;) {
        const auto number = static_cast<std::int64_t>(random.below(1 << 20));
        const std::optional<Case> drawn = suite.draw(row, 3, number).drawn;
        const auto is_small = [&](const std::string& tensor) {
            return element_count(op.sizes_of(tensor, drawn->problem)) <= 64;
        };
        if (drawn && std::ranges::all_of(row.kernel->pass->tensors(), is_small) &&
            Sample(*drawn).first_product(0, 0))
            return *drawn;
    }
}

using DrawnCase = Case(const std::string& kernel, SplitMix64& random);

Rates rates_of(const std::string& kernel, int problems, DrawnCase* draw) {
    Rates rates;
    SplitMix64 random(mix_seed(3, kernel));
    const PassSpec& pass = *Registry::instance().find_kernel(kernel)->pass;
    for (int i = 0; i < problems; ++i) {
        const Case drawn = draw(kernel, random);
        Sample sample(drawn);
        const std::vector<double>& exact = sample.exact.data;
        rates.false_alarms += sample.caught(exact);

        auto wrong = exact;
        const std::size_t at = nonzero_from(random.below(exact.size()), exact);
        const DTypeTraits traits = traits_of(sample.dtype);
        const double ulp = 2.0 * traits.unit_roundoff *
                           std::max(std::abs(exact[at]), 2.0 * traits.smallest_normal);
        wrong[at] += 2.0 * sample.expected.bounds[at].most() + ulp;
        rates.moved += sample.caught(wrong);

        const auto inputs = sample.context.inputs.of_reference(pass);
        const bool has_two = inputs.size() > 1;
        std::size_t input = has_two && inputs[0].data.size() >= inputs[1].data.size() ? 1 : 0;
        if (!sample.first_product(input, 0)) input = 0;
        const auto lost =
            sample.first_product(input, random.below(inputs[input].data.size())).value();
        wrong = exact;
        const std::size_t reached = nonzero_from(random.below(exact.size()), lost);
        wrong[reached] -= lost[reached];
        rates.dropped += sample.caught(wrong);

        wrong = exact;
        const int digits = digits_below(sample.dtype);
        for (std::size_t element = 0; element < inputs[input].data.size(); ++element) {
            const auto products = sample.products(input, element);
            for (std::size_t j = 0; j < products.size(); ++j)
                wrong[j] += with_digits(products[j], digits) - products[j];
        }
        rates.all_rounded += sample.caught(wrong);
    }
    MESSAGE(kernel << ", of " << problems << " problems: moved by twice the bound " << rates.moved
                   << ", product dropped " << rates.dropped << ", products rounded to the next "
                   << "narrower type " << rates.all_rounded);
    return rates;
}

void check_rates(const std::string& kernel, DrawnCase* draw) {
    constexpr int problems = 200;
    CAPTURE(kernel);
    const Rates rates = rates_of(kernel, problems, draw);
    CHECK(rates.false_alarms == 0);
    CHECK(rates.moved == problems);
    CHECK(rates.dropped >= problems * 95 / 100);
    CHECK(rates.all_rounded >= problems * 95 / 100);
}

// ---- a derived gradient: layer_norm's

struct Mistake {
    bool rounds_cotangent = false;  ///< to bfloat16
    bool forgets_mean = false;      ///< of g
};

/// The sum of term(0) to term(count - 1) in a random order.
template <class Term>
float sum_in_any_order(std::size_t count, SplitMix64& random, const Term& term) {
    std::vector<float> terms;
    for (std::size_t i = 0; i < count; ++i) terms.push_back(term(i));
    float sum = 0.0f;
    while (!terms.empty()) {
        std::swap(terms[random.below(terms.size())], terms.back());
        sum += terms.back();
        terms.pop_back();
    }
    return sum;
}

Case drawn_case(SplitMix64& random, std::int64_t width_maximum) {
    const Kernel& kernel = *Registry::instance().find_kernel("layer_norm.backward/columns");
    Problem problem = Problem::parse(kernel.op->space, "rows=1,width=1");
    problem[0] = random.between(1, 12);
    problem[1] = random.between(1, width_maximum);
    problem[2] = random.between(0, 1);
    return Case::parse(fmt::format("v1:{}:within_rounding_bound:cpu:{}:seed={}", kernel.name,
                                   problem.print(), random.next()),
                       Registry::instance());
}

/// The backward pass on drawn data: what is expected, and what a float kernel returns.
struct NormSample {
    Case drawn;
    CaseContext context;
    std::vector<Array<double>> inputs;  ///< dy, x, gamma, mean, rstd
    std::vector<Expected> expected;

    NormSample(SplitMix64& random, std::int64_t width_maximum)
        : drawn(drawn_case(random, width_maximum)),
          context(drawn, Registry::instance(), ValueKind::mantissas),
          inputs(context.inputs.of(context.pass())),
          expected(context.oracle.within_rounding()) {}

    std::vector<std::vector<double>> in_float(SplitMix64& random, Mistake mistake = {}) const {
        const auto rows = static_cast<std::size_t>(drawn.problem.scalar("rows"));
        const auto width = static_cast<std::size_t>(drawn.problem.scalar("width"));
        const auto read = [&](std::size_t which, std::size_t at) {
            return static_cast<float>(inputs[which].data[at]);
        };
        const auto dy = [&](std::size_t at) {
            return mistake.rounds_cotangent
                       ? static_cast<float>(rounded_to(DType::bf16, inputs[0].data[at]))
                       : read(0, at);
        };
        const auto xhat = [&](std::size_t at) {
            return (read(1, at) - read(3, at / width)) * read(4, at / width);
        };
        const auto sum = [&](std::size_t terms, const auto& term) {
            return sum_in_any_order(terms, random, term);
        };
        std::vector<std::vector<double>> got(3);
        for (std::size_t r = 0; r < rows; ++r) {
            const auto g = [&](std::size_t j) { return dy(r * width + j) * read(2, j); };
            const auto x = [&](std::size_t j) { return xhat(r * width + j); };
            const auto count = static_cast<float>(width);
            const float mean = mistake.forgets_mean ? 0.0f : sum(width, g) / count;
            const float along = sum(width, [&](std::size_t j) { return g(j) * x(j); }) / count;
            for (std::size_t j = 0; j < width; ++j)
                got[0].push_back(static_cast<double>(read(4, r) * (g(j) - mean - x(j) * along)));
        }
        for (std::size_t j = 0; j < width; ++j) {
            const auto dbeta = [&](std::size_t r) { return dy(r * width + j); };
            const auto dgamma = [&](std::size_t r) { return dbeta(r) * xhat(r * width + j); };
            got[1].push_back(static_cast<double>(sum(rows, dgamma)));
            got[2].push_back(static_cast<double>(sum(rows, dbeta)));
        }
        return got;
    }

    bool caught(const std::vector<std::vector<double>>& got) const {
        for (std::size_t i = 0; i < got.size(); ++i)
            if (!compare(got[i], expected[i]).ok) return true;
        return false;
    }
};

}  // namespace

TEST_CASE("the rounding bound of each pass and element type catches small errors") {
    for (const char* kernel :
         {"conv.grad_weight/general_f64", "conv.grad_weight/general",
          "conv.grad_weight/general_f16", "conv.grad_weight/general_bf16", "conv.forward/naive",
          "conv.forward/naive_f16", "conv.forward/naive_bf16", "conv.grad_input/direct",
          "conv.grad_bias/direct"})
        check_rates(kernel, small_conv_case);
}

TEST_CASE("so does that of the gallery's products") {
    for (const char* kernel : {"grouped_gemm.forward/naive", "grouped_gemm.forward/naive_bf16",
                               "grouped_gemm.forward/tiled_mma", "grouped_gemm.grad_x/naive",
                               "grouped_gemm.grad_x/naive_bf16", "grouped_gemm.grad_w/naive",
                               "grouped_gemm.grad_w/naive_bf16", "moe_combine.forward/naive",
                               "moe_combine.forward/rows_bf16", "rope.forward/naive",
                               "rope.forward/tokens_bf16", "rope.grad_x/naive"})
        check_rates(kernel, small_drawn_case);
}

TEST_CASE("no order of a float kernel's sums exceeds the bound of a derived gradient") {
    SplitMix64 random(6);
    for (int i = 0; i < 400; ++i) {
        const NormSample sample(random, 100);
        for (int order = 0; order < 10; ++order)
            CHECK_FALSE(sample.caught(sample.in_float(random)));
    }
}

TEST_CASE("the bound of a derived gradient bites") {
    constexpr int samples = 400;
    SplitMix64 random(7);
    int imprecise = 0, moved = 0, rounded = 0, forgotten = 0;
    for (int i = 0; i < samples; ++i) {
        const NormSample sample(random, 32);
        auto got = sample.in_float(random);
        const std::size_t which = random.below(3), at = random.below(got[which].size());
        const Expected& expected = sample.expected[which];
        const auto move_beyond = [&](const Bound& bound) {
            got[which][at] = expected.values[at] + 2.0 * bound.most() +
                             std::abs(expected.values[at]) * 0x1p-23 +
                             std::numeric_limits<float>::denorm_min();  // a zero may be exact
        };
        move_beyond(expected.bounds[at]);
        const Comparison near = compare(got[which], expected);
        imprecise += !expected.bounds[at].is_limited() || near.imprecision || !near.ok;
        const Bound of_any_formula = expected.by_any_formula()[at];
        move_beyond(of_any_formula);
        moved += !of_any_formula.is_limited() || sample.caught(got);
        rounded += sample.caught(sample.in_float(random, {.rounds_cotangent = true}));
        forgotten += sample.caught(sample.in_float(random, {.forgets_mean = true}));
    }
    CHECK(imprecise >= samples * 99 / 100);
    CHECK(moved >= samples * 99 / 100);
    CHECK(rounded >= samples * 95 / 100);
    CHECK(forgotten >= samples * 95 / 100);
}

TEST_CASE("attention's bound catches weights that are rounded where a result shows it") {
    const Registry& registry = Registry::instance();
    const Kernel& rounding = *registry.find_kernel("attention.forward/bug_undeclared_weights");
    const Kernel& right = *registry.find_kernel("attention.forward/right_whole_weights");
    const KernelSuite suite(registry);
    int changed = 0, caught = 0;
    for (int i = 0; i < 400; ++i) {
        const Case drawn =
            suite.draw(testing::row_named(rounding.name, "within_rounding_bound"), 5, i)
                .drawn.value();
        CaseContext context(drawn, registry, ValueKind::mantissas);
        const auto inputs = context.inputs.of(context.pass());
        const auto got = context.caller.call(rounding, inputs).outputs[0].data;
        if (got == context.caller.call(right, inputs).outputs[0].data) continue;
        ++changed;
        caught += !compare(got, context.oracle.within_rounding()[0]).ok;
    }
    MESSAGE("caught " << caught << " of " << changed);
    CHECK(changed > 200);
    CHECK(caught * 100 >= changed * 95);
}

}  // namespace gradverify
