// SPDX-License-Identifier: Apache-2.0
// What the two calls have in common and what not, by kernels that see what they must not.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "properties/tests/made_case.hpp"

namespace gradverify {

using namespace testing;

namespace {

const std::string memory = "an output depends on memory outside the inputs",
                  unwritten = "some outputs keep what was in memory before",
                  no_number = "an output is NaN: it is made from memory outside the inputs";

Outcome outcome_of(const KernelDeclaration& kernel, Script script, const std::string& data,
                   bool is_exact = false) {
    return testing::outcome_of(stays_in_bounds, product(is_exact), kernel, std::move(script),
                               "n=3:" + data);
}

const KernelDeclaration same_bits;
const KernelDeclaration varies = KernelDeclaration().not_deterministic();

/// Two elements that are right, behind one that is given to both calls.
std::string with_first(double number) {
    return fmt::format("data=a[0]={0},b[0]={0},a[1]=2,b[1]=3", number);
}
/// Writes this to the first element in the first call, and that in the second.
Script first_element(double first, double second) {
    return [=](const ScriptedElement& element) {
        if (element.index > 0) return element.product();
        return element.call == 0 ? first : second;
    };
}

}  // namespace

TEST_CASE("the calls differ in poison and in guards, whatever the case's surroundings") {
    for (const std::uint64_t seed : {1, 2, 3, 4}) {
        CAPTURE(seed);
        const auto said_of = [&](const Script& script) {
            return said(outcome_of(same_bits, script, fmt::format("dense={}", seed)));
        };
        CHECK(said_of([](const ScriptedElement& element) { return element.product(); }) ==
              "passed: ");
        CHECK(said_of([](const ScriptedElement& element) {
                  return element.product() * (std::isnan(element.old) ? 2.0 : 1.0);
              }).starts_with("failed: " + memory));
        CHECK(said_of([](const ScriptedElement& element) {
                  return element.product() * (std::isnan(element.behind) ? 2.0 : 1.0);
              }).starts_with("failed: " + memory));
    }
}

TEST_CASE("each element that is not written is shown, and what is added may be zero") {
    const auto but_the_second = [](const ScriptedElement& element) {
        return element.index == 1 ? std::nullopt : std::optional(element.product());
    };
    const Outcome outcome = outcome_of(same_bits, but_the_second, "dense=1");
    CHECK(said(outcome).starts_with("failed: " + unwritten));
    REQUIRE(outcome.maps.size() == 1);
    CHECK(outcome.maps[0].tensor == "y");
    CHECK(outcome.maps[0].sizes == Sizes{3});
    CHECK(outcome.maps[0].wrong == 1);
    CHECK(outcome.maps[0].total == 3);
    CHECK(outcome.maps[0].marks == ".#.");
    const KernelDeclaration adds = KernelDeclaration().adds_to_outputs();
    const auto adds_zero_to_the_second = [](const ScriptedElement& element) {
        return element.old + (element.index == 1 ? 0.0 : element.product());
    };
    CHECK(said(outcome_of(adds, adds_zero_to_the_second, "dense=1")) == "passed: ");
}

TEST_CASE(
    "the calls agree exactly, or within rounding where a kernel's sums vary and are rounded") {
    constexpr double ulp = 0x1p-23;
    const double right = static_cast<double>(1.1f * 1.1f);
    const Script by_an_ulp = first_element(right, right + ulp);
    const Script by_more = first_element(right, right + 32.0 * ulp);
    const std::string rounded = with_first(1.1);
    CHECK(outcome_of(same_bits, by_an_ulp, rounded).verdict == Verdict::failed);
    CHECK(outcome_of(same_bits, by_an_ulp, rounded).is_of_two_calls);
    CHECK(outcome_of(varies, by_an_ulp, rounded).verdict == Verdict::passed);
    CHECK(outcome_of(varies, by_more, rounded).verdict == Verdict::failed);
    CHECK(outcome_of(varies, by_an_ulp, rounded, true).verdict == Verdict::failed);
    // The sum is exact, and lies between two numbers of 8 bits.
    const KernelDeclaration short_sums = KernelDeclaration(varies).storage(DType::f8e4m3);
    CHECK(
        outcome_of(short_sums, first_element(20.0, 22.0), "data=a[0]=3,b[0]=7,a[1]=2,b[1]=3", true)
            .verdict == Verdict::failed);
}

TEST_CASE("where buffers may lie elsewhere, a third call shows whether their place decides") {
    constexpr double ulp = 0x1p-23;
    const double right = static_cast<double>(1.1f * 1.1f);
    // Four elements have room at the end, where scripts look at the one behind their three.
    const KernelDeclaration of_vectors = KernelDeclaration().aligned_to(16);
    const auto by_call = [&](double in_second, double in_third) {
        return [=](const ScriptedElement& element) {
            if (element.index > 0) return element.product();
            const double ulps[] = {0.0, in_second, in_third};
            return right + ulps[element.call] * ulp;
        };
    };
    const std::string rounded = with_first(1.1);
    const auto said_of = [&](double in_second, double in_third, bool is_exact = false) {
        return said(outcome_of(of_vectors, by_call(in_second, in_third), rounded, is_exact));
    };
    CHECK(said_of(1.0, 0.0) == "passed: ");
    CHECK(said_of(1.0, 1.0).starts_with("failed: " + memory));
    CHECK(said_of(32.0, 0.0).starts_with("failed: an output depends on where the buffers lie"));
    CHECK(said_of(1.0, 0.0, true).starts_with("failed: an output depends on where"));
    CHECK(said(outcome_of(same_bits, by_call(1.0, 0.0), rounded)).starts_with("failed: " + memory));
}

TEST_CASE("a result too large for its type may be anything, but NaN in one call alone in 8 bits") {
    const std::string large = with_first(1e30);
    CHECK(outcome_of(same_bits, first_element(NAN, NAN), large).verdict == Verdict::passed);
    CHECK(outcome_of(same_bits, first_element(1.0, NAN), large).verdict == Verdict::failed);
    CHECK(outcome_of(same_bits, first_element(NAN, NAN), with_first(2))
              .message.starts_with(no_number));
    const KernelDeclaration of_8_bits = KernelDeclaration().storage(DType::f8e4m3);
    const std::string beyond_448 = with_first(30);
    CHECK(outcome_of(of_8_bits, first_element(448.0, NAN), beyond_448).verdict == Verdict::passed);
}

}  // namespace gradverify
