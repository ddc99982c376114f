// SPDX-License-Identifier: Apache-2.0
#include "properties/data/values.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "harness/numbers/element_bits.hpp"
#include "harness/registry/registry.hpp"
#include "properties/data/numbers.hpp"

namespace gradverify {

namespace {

const Operator& conv_operator() { return *Registry::instance().find_operator("conv"); }

Problem problem_of(const char* text) { return Problem::parse(conv_operator().space, text); }

Values draw(const Problem& problem, std::uint64_t seed, ValueKind kind, int exact_bits = 24) {
    return draw_values(conv_operator(), problem,
                       {.seed = seed, .is_explicit = false, .elements = {}}, kind, exact_bits);
}

/// The largest sum of magnitudes in any output of the pass.
double largest_sum(const char* pass_name, const Problem& problem, Values values) {
    const PassSpec& pass = *conv_operator().find_pass(pass_name);
    for (auto& [name, array] : values)
        for (double& element : array.data) element = std::abs(element);
    std::vector<Array<double>> outputs;
    for (const std::string& name : pass.outputs) {
        const Sizes sizes = conv_operator().sizes_of(name, problem);
        outputs.push_back(
            {sizes, std::vector<double>(static_cast<std::size_t>(element_count(sizes)), 0.0)});
    }
    pass.reference(problem, pick(conv_operator(), problem, values, pass.inputs, 24), outputs);
    return outputs[0].data.empty() ? 0.0 : *std::ranges::max_element(outputs[0].data);
}

}  // namespace

TEST_CASE("every sum of products of integers stays within 2^p, with room for a step") {
    const char* problems[] = {
        "in=1x1",          "c=2,k=2,groups=2,in=1x1",      "n=3,c=4,k=4,in=9x9,filter=3x3",
        "n=2000,in=10x10", "c=64,k=2,in=12x12,filter=5x5", "n=65536,in=2x2"};
    for (const char* text : problems)
        for (const int bits : {24, 11, 8})
            for (std::uint64_t seed = 1; seed <= 6; ++seed) {
                CAPTURE(std::string(text));
                CAPTURE(bits);
                const Problem problem = problem_of(text);
                const bool is_dense = seed % 2 == 0;
                const Values values =
                    draw_values(conv_operator(), problem, {.seed = seed, .is_dense = is_dense},
                                ValueKind::integers, bits);
                // A step of the values' own size in one factor doubles a sum at most. Reductions
                // without a second factor are long sums of single values.
                for (const char* pass : {"forward", "grad_input", "grad_weight"})
                    CHECK(2.0 * largest_sum(pass, problem, values) <= std::ldexp(1.0, bits));
                const bool has_zeros =
                    !is_dense || longest_reduction(conv_operator(), problem) > (1 << (bits - 1));
                std::set<double> different;
                std::size_t total = 0;
                for (const auto& [name, array] : values) {
                    CAPTURE(name);
                    CHECK((has_zeros || std::ranges::count(array.data, 0.0) == 0));
                    CHECK(std::ranges::all_of(array.data,
                                              [](double v) { return v == std::round(v); }));
                    different.insert(array.data.begin(), array.data.end());
                    total += array.data.size();
                }
                if (is_dense && bits == 24 && total < 1000) CHECK(different.size() == total);
            }
}

TEST_CASE("in the longest sums ones are drawn, and as many as keep the sum exact") {
    CHECK(exact_amplitude(0, 24) == exact_amplitude(1, 24));
    CHECK(exact_amplitude(1 << 20, 8) == 0);
    // One element in 2^8 is kept, and one at least.
    Array<double> one{{1}, {0.0}}, many{{1 << 16}, std::vector<double>(1 << 16)};
    std::set<double> drawn;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        fill_integers(one, SplitMix64(seed), 1 << 20, 8);
        drawn.insert(one.data[0]);
    }
    CHECK(drawn == std::set{-1.0, 1.0});
    fill_integers(many, SplitMix64(1), 1 << 20, 8);
    const auto kept = std::ranges::count_if(many.data, [](double v) { return v != 0.0; });
    CHECK(kept > 200);
    CHECK(kept < 300);
    CHECK(std::ranges::all_of(many.data, [](double v) { return std::abs(v) <= 1.0; }));
}

TEST_CASE("a kernel that accumulates in double still stores its sums in floats") {
    KernelDeclaration kernel;
    CHECK(kernel.exact_bits() == 24);
    CHECK(kernel.accumulates_in(DType::f64).exact_bits() == 24);
}

TEST_CASE("values are numbers of their tensor's type, with all of its digits") {
    for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
        const KernelDeclaration kernel = KernelDeclaration().storage(dtype);
        const auto digits = static_cast<int>(traits_of(dtype).exact_bits);
        CAPTURE(digits);
        for (const ValueKind kind : {ValueKind::mantissas, ValueKind::integers})
            for (std::uint64_t seed = 0; seed < 40; ++seed)
                for (const bool is_dense : {false, true}) {
                    const Values values = draw_values(
                        conv_operator(), problem_of("n=3,c=3,in=9x9,filter=2x2"),
                        {.seed = seed, .is_dense = is_dense}, kind, ElementTypes(kernel));
                    for (const auto& [name, array] : values) {
                        CHECK(are_numbers_of(dtype, array.data));
                        // Sums of products of halves must not overflow.
                        if (dtype != DType::f16) continue;
                        for (const double value : array.data) CHECK(std::abs(value) < 0x1p+6);
                    }
                    if (kind != ValueKind::mantissas) continue;
                    for (const double element : values.at("x").data) {
                        int exponent = 0;
                        const double all = std::ldexp(std::frexp(element, &exponent), digits);
                        REQUIRE(std::fmod(std::abs(all), 2.0) == 1.0);
                    }
                }
    }
}

TEST_CASE("values of 8 bits are numbers of their type, of its whole range where they are factors") {
    for (const DType dtype : {DType::f8e4m3, DType::f8e5m2}) {
        const KernelDeclaration kernel =
            KernelDeclaration().storage(dtype).storage("y", DType::f32).storage("b", DType::f32);
        const Operator op = conv_operator();
        const DTypeTraits traits = traits_of(dtype);
        const ElementTypes types(kernel, op);
        int least = 0, largest = 0, integers = 0;
        for (const ValueKind kind : {ValueKind::mantissas, ValueKind::integers})
            for (std::uint64_t seed = 1; seed < 41; ++seed)
                for (const bool is_dense : {false, true}) {
                    const auto x =
                        draw_tensor(op, problem_of("n=3,c=3,in=9x9,filter=2x2"),
                                    {.seed = seed, .is_dense = is_dense}, kind, types, "x");
                    CHECK(are_numbers_of(dtype, x.data));
                    if (is_dense) CHECK(std::ranges::count(x.data, 0.0) == 0);
                    for (const double value : x.data) {
                        const double size = std::abs(value);
                        if (kind == ValueKind::mantissas) {
                            least += size > 0.0 && size < traits.smallest_normal;
                            largest += 2.0 * size > traits.largest;
                            continue;
                        }
                        CHECK(size <= static_cast<double>(types.largest_integer(op, "x")));
                        integers += size > 1.0;
                    }
                }
        CHECK(least > 200);
        CHECK(largest > 200);
        CHECK(integers > 5000);
    }
}

TEST_CASE("a type that has no infinities is given none where NaN is drawn") {
    Operator op = conv_operator();
    op.inputs[0].may_be_nan = true;
    const KernelDeclaration kernel = KernelDeclaration().storage(DType::f8e4m3);
    int no_numbers = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed)
        for (const double value : draw_tensor(op, problem_of("in=9x9"), {.seed = seed},
                                              ValueKind::integers, ElementTypes(kernel), "x")
                                      .data) {
            CHECK_FALSE(std::isinf(value));
            no_numbers += std::isnan(value);
        }
    CHECK(no_numbers > 0);
}

TEST_CASE("a domain holds once its values are numbers of a narrow type") {
    const auto domain = [](double lowest, double highest) {
        return [=](const Problem&) { return ValueDomain{lowest, highest}; };
    };
    for (const DType dtype : {DType::f8e5m2, DType::f16, DType::bf16})
        for (const auto& [lowest, highest] :
             {std::pair{1000.0, static_cast<double>(INFINITY)}, std::pair{0.0, 1.0},
              std::pair{-static_cast<double>(INFINITY), -1000.0}}) {
            Operator op = conv_operator();
            op.inputs[0].domain = domain(lowest, highest);
            const KernelDeclaration kernel = KernelDeclaration().storage(dtype);
            const Problem problem = problem_of("in=9x9");
            for (const bool is_explicit : {false, true})
                for (std::uint64_t seed = 0; seed < 20; ++seed) {
                    const auto array =
                        draw_tensor(op, problem, {.seed = seed, .is_explicit = is_explicit},
                                    ValueKind::mantissas, ElementTypes(kernel), "x");
                    CHECK(are_numbers_of(dtype, array.data));
                    for (const double value : array.data)
                        CHECK(op.inputs[0].admits(value, problem));
                }
        }
}

TEST_CASE("integer data is neither constant nor all of one sign, and small tensors have no zero") {
    const Values values = draw(problem_of("n=2,c=3,k=2,in=4x4"), 5, ValueKind::integers);
    for (const auto& [name, array] : values) {
        CAPTURE(name);
        if (array.data.size() < 8) continue;
        CHECK(std::set<double>(array.data.begin(), array.data.end()).size() > 4);
        CHECK(*std::ranges::min_element(array.data) < 0.0);
        CHECK(*std::ranges::max_element(array.data) > 0.0);
    }
    for (std::uint64_t seed = 0; seed < 200; ++seed)
        for (const auto& [name, array] : draw(problem_of("in=2x2"), seed, ValueKind::integers))
            CHECK(std::ranges::count(array.data, 0.0) == 0);
}

TEST_CASE("explicit data is what is listed and zero elsewhere; a bad element is named") {
    const Problem problem = problem_of("in=1x2");
    const auto listed = [&](std::vector<DataElement> elements) {
        return draw_values(conv_operator(), problem,
                           {.seed = 0, .is_explicit = true, .elements = std::move(elements)},
                           ValueKind::integers, 24);
    };
    CHECK(listed({{"x", 1, 3.0}}).at("x").data == std::vector<double>{0.0, 3.0});
    CHECK(listed({}).at("dy").data == std::vector<double>{0.0, 0.0});
    CHECK_THROWS_WITH_AS(listed({{"z", 0, 1.0}}),
                         "data: there is no tensor 'z'; there are b dy w x", std::invalid_argument);
    CHECK_THROWS_WITH_AS(listed({{"x", 2, 1.0}}), "data: x[2] is outside of its 2 elements",
                         std::invalid_argument);
}

TEST_CASE("listing a case's elements and setting them gives the same values") {
    const Problem problem = problem_of("c=2,in=3x3,filter=2x2");
    const Values values = draw(problem, 3, ValueKind::integers);
    const std::vector<std::string> names{"x", "w", "b", "dy"};
    const Values again =
        draw_values(conv_operator(), problem,
                    {.seed = 0,
                     .is_explicit = true,
                     .elements = list_elements(conv_operator(), problem, values, names, 24)},
                    ValueKind::integers, 24);
    for (const std::string& name : names) CHECK(again.at(name).data == values.at(name).data);
}

TEST_CASE("a direction is never zero where there is an element") {
    const Array<double> like{{1}, {0.0}};
    for (std::uint64_t seed = 0; seed < 100; ++seed)
        CHECK(draw_direction(like, seed, 8, 1 << 20).data[0] != 0.0);
}

TEST_CASE(
    "data of one seed is the same whichever tensor is drawn first; seeds and tensors differ") {
    const Problem problem = problem_of("c=2,in=3x3,filter=3x3");
    for (const ValueKind kind : {ValueKind::integers, ValueKind::mantissas})
        for (const bool is_dense : {false, true}) {
            const auto tensor = [&](std::uint64_t seed, const char* name) {
                return draw_tensor(conv_operator(), problem, {.seed = seed, .is_dense = is_dense},
                                   kind, 24, name)
                    .data;
            };
            const Values all =
                draw_values(conv_operator(), problem, {.seed = 1, .is_dense = is_dense}, kind, 24);
            for (const char* name : {"x", "w", "b", "dy"}) {
                CHECK(tensor(1, name) == all.at(name).data);
                CHECK(tensor(1, name) != tensor(2, name));
            }
            CHECK(tensor(1, "x") != tensor(1, "w"));
        }
}

TEST_CASE("no two numbers of dense real data are alike") {
    const Values values =
        draw_values(conv_operator(), problem_of("n=2,c=8,k=3,in=64x64,filter=2x2"),
                    {.seed = 3, .is_dense = true}, ValueKind::mantissas, 24);
    std::set<double> different;
    std::size_t total = 0;
    for (const auto& [name, array] : values) {
        total += array.data.size();
        for (const double element : array.data)
            different.insert(std::abs(std::ldexp(element, std::abs(element) < 1.0 ? 1 : 0)));
    }
    CHECK(different.size() == total);
}

}  // namespace gradverify
