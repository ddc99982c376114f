// SPDX-License-Identifier: Apache-2.0
#include "properties/data/values.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/numbers/element_bits.hpp"
#include "properties/data/drawn_numbers.hpp"
#include "properties/tests/drawn_values.hpp"

namespace gradverify {

using namespace testing;

namespace {

const Operator& conv() { return operator_named("conv"); }

/// The largest sum of magnitudes in any output of the pass.
double largest_sum(const char* pass_name, const Problem& problem, Values values) {
    const PassSpec& pass = *conv().find_pass(pass_name);
    for (auto& [name, array] : values)
        for (double& element : array.data) element = std::abs(element);
    const auto outputs =
        reference_outputs(conv(), pass, problem, pick(conv(), problem, values, pass.inputs, 24));
    return outputs[0].data.empty() ? 0.0 : std::ranges::max(outputs[0].data);
}

std::set<double> different(const Values& values) {
    std::set<double> numbers;
    for (const auto& [name, array] : values) numbers.insert(array.data.begin(), array.data.end());
    return numbers;
}

std::size_t total(const Values& values) {
    std::size_t elements = 0;
    for (const auto& [name, array] : values) elements += array.data.size();
    return elements;
}

}  // namespace

TEST_CASE("every sum of products of integers stays within 2^p, with room for a step") {
    for (const std::string text :
         {"in=1x1", "c=2,k=2,groups=2,in=1x1", "n=3,c=4,k=4,in=9x9,filter=3x3", "n=2000,in=10x10",
          "c=64,k=2,in=12x12,filter=5x5", "n=65536,in=2x2"})
        for (const int bits : {24, 11, 8})
            for (std::uint64_t seed = 1; seed <= 6; ++seed) {
                CAPTURE(text);
                CAPTURE(bits);
                const Problem problem = Problem::parse(conv().space, text);
                const bool is_dense = seed % 2 == 0;
                const Values values = all_drawn(conv(), text, {.seed = seed, .is_dense = is_dense},
                                                ValueKind::integers, bits);
                // A step of the values' own size in one factor doubles a sum at most.
                for (const char* pass : {"forward", "grad_input", "grad_weight"})
                    CHECK(2.0 * largest_sum(pass, problem, values) <= std::ldexp(1.0, bits));
                const std::set<double> numbers = different(values);
                if (is_dense && longest_reduction(conv(), problem) <= 1 << (bits - 1))
                    CHECK_FALSE(numbers.contains(0.0));
                CHECK(std::ranges::all_of(numbers, [](double v) { return v == std::round(v); }));
                if (is_dense && bits == 24 && total(values) < 1000)
                    CHECK(numbers.size() == total(values));
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

TEST_CASE("values are numbers of their tensor's type, with all of its digits") {
    for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
        const KernelDeclaration kernel = KernelDeclaration().storage(dtype);
        const auto digits = static_cast<int>(traits_of(dtype).exact_bits);
        CAPTURE(digits);
        for_each_draw(40, [&](ValueKind kind, const Data& data) {
            const Values values =
                all_drawn(conv(), "n=3,c=3,in=9x9,filter=2x2", data, kind, ElementTypes(kernel));
            for (const auto& [name, array] : values) {
                CHECK(are_numbers_of(dtype, array.data));
                // Sums of products of halves must not overflow.
                if (dtype != DType::f16) continue;
                for (const double value : array.data) CHECK(std::abs(value) < 0x1p+6);
            }
            if (kind != ValueKind::mantissas) return;
            for (const double element : values.at("x").data) {
                int exponent = 0;
                const double all = std::ldexp(std::frexp(element, &exponent), digits);
                REQUIRE(std::fmod(std::abs(all), 2.0) == 1.0);
            }
        });
    }
}

TEST_CASE("values of 8 bits are numbers of their type, of its whole range where they are factors") {
    for (const DType dtype : {DType::f8e4m3, DType::f8e5m2}) {
        const KernelDeclaration kernel =
            KernelDeclaration().storage(dtype).storage("y", DType::f32).storage("b", DType::f32);
        const DTypeTraits traits = traits_of(dtype);
        const ElementTypes types(kernel, conv());
        const auto most = static_cast<double>(types.largest_integer(conv(), "x"));
        int least = 0, largest = 0, integers = 0;
        for_each_draw(40, [&](ValueKind kind, const Data& data) {
            const auto x = drawn(conv(), "n=3,c=3,in=9x9,filter=2x2", "x", data, kind, types);
            CHECK(are_numbers_of(dtype, x));
            if (data.is_dense) CHECK(std::ranges::count(x, 0.0) == 0);
            for (const double value : x) {
                const double size = std::abs(value);
                if (kind == ValueKind::mantissas) {
                    least += size > 0.0 && size < traits.smallest_normal;
                    largest += 2.0 * size > traits.largest;
                    continue;
                }
                CHECK(size <= most);
                integers += size > 1.0;
            }
        });
        CHECK(least > 200);
        CHECK(largest > 200);
        CHECK(integers > 5000);
    }
}

TEST_CASE("every other dense draw has the whole range of 8 bits, of factors in sums of products") {
    Operator op = conv();
    const KernelDeclaration kernel = KernelDeclaration().storage(DType::f8e4m3);
    const auto is_wide = [&](std::uint64_t seed) {
        return std::ranges::any_of(drawn(op, "n=3,c=3,in=9x9", "x", dense(seed),
                                         ValueKind::mantissas, ElementTypes(kernel)),
                                   [](double v) { return std::abs(v) < 0.5 || std::abs(v) > 2.0; });
    };
    for (std::uint64_t seed = 1; seed <= 12; ++seed) CHECK(is_wide(seed) == (seed % 2 == 0));
    // Draws without an offset and outliers.
    op.algebra = Algebra::smooth;
    for (const std::uint64_t seed : {1, 4, 7, 10}) CHECK_FALSE(is_wide(seed));
}

TEST_CASE("a type that has no infinities is given none where NaN is drawn") {
    Operator op = conv();
    op.inputs[0].may_be_nan = true;
    const KernelDeclaration kernel = KernelDeclaration().storage(DType::f8e4m3);
    int no_numbers = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed)
        for (const double value :
             drawn(op, "in=9x9", "x", {.seed = seed}, ValueKind::integers, ElementTypes(kernel))) {
            CHECK_FALSE(std::isinf(value));
            no_numbers += std::isnan(value);
        }
    CHECK(no_numbers > 0);
}

TEST_CASE("a domain holds once its values are numbers of a narrow type") {
    constexpr double inf = INFINITY;
    for (const DType dtype : {DType::f8e5m2, DType::f16, DType::bf16})
        for (const ValueDomain domain :
             {ValueDomain{1000.0, inf}, ValueDomain{0.0, 1.0}, ValueDomain{-inf, -1000.0}}) {
            Operator op = conv();
            op.inputs[0].domain = [=](const Problem&) { return domain; };
            const KernelDeclaration kernel = KernelDeclaration().storage(dtype);
            for (const bool is_explicit : {false, true})
                for (std::uint64_t seed = 0; seed < 20; ++seed) {
                    const auto x =
                        drawn(op, "in=9x9", "x", {.seed = seed, .is_explicit = is_explicit},
                              ValueKind::mantissas, ElementTypes(kernel));
                    CHECK(are_numbers_of(dtype, x));
                    for (const double value : x)
                        CHECK(op.inputs[0].admits(value, Problem::parse(op.space, "in=9x9")));
                }
        }
}

TEST_CASE("integer data is neither constant nor all of one sign, and small tensors have no zero") {
    for (const auto& [name, array] :
         all_drawn(conv(), "n=2,c=3,k=2,in=4x4", {.seed = 5}, ValueKind::integers)) {
        CAPTURE(name);
        if (array.data.size() < 8) continue;
        CHECK(std::set<double>(array.data.begin(), array.data.end()).size() > 4);
        CHECK(std::ranges::min(array.data) < 0.0);
        CHECK(std::ranges::max(array.data) > 0.0);
    }
    for (std::uint64_t seed = 0; seed < 200; ++seed)
        CHECK_FALSE(different(all_drawn(conv(), "in=2x2", {.seed = seed}, ValueKind::integers))
                        .contains(0.0));
}

TEST_CASE(
    "data of one seed is the same whichever tensor is drawn first; seeds and tensors differ") {
    for_each_draw(1, [](ValueKind kind, const Data& data) {
        const std::string text = "c=2,in=3x3,filter=3x3";
        const Data other{.seed = 2, .is_dense = data.is_dense};
        const Values all = all_drawn(conv(), text, data, kind);
        for (const char* name : {"x", "w", "b", "dy"}) {
            CHECK(drawn(conv(), text, name, data, kind) == all.at(name).data);
            CHECK(drawn(conv(), text, name, other, kind) != all.at(name).data);
        }
        CHECK(all.at("x").data != all.at("w").data);
    });
}

TEST_CASE("no two numbers of dense real data are alike") {
    const Values values = all_drawn(conv(), "n=2,c=8,k=3,in=64x64,filter=2x2", dense(3));
    std::set<double> significands;
    for (const auto& [name, array] : values)
        for (const double element : array.data)
            significands.insert(std::abs(std::ldexp(element, std::abs(element) < 1.0 ? 1 : 0)));
    CHECK(significands.size() == total(values));
}

}  // namespace gradverify
