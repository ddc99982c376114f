// SPDX-License-Identifier: Apache-2.0
// What the element types and promises of a case's kernel say of exact integers and of rounding.
#include "properties/checking/subject.hpp"

#include <doctest/doctest.h>

#include "harness/base/random.hpp"
#include "properties/tests/made_case.hpp"

namespace gradverify {

using namespace testing;

namespace {

const Registry& kernels() {
    static const Registry registry = registry_of(
        {scaled_kernel("f64").storage(DType::f64), scaled_kernel("f32"),
         scaled_kernel("f16").storage(DType::f16), scaled_kernel("f8e4m3").storage(DType::f8e4m3),
         scaled_kernel("f8e5m2").storage(DType::f8e5m2), scaled_kernel("norm_wise").norm_wise(80.0),
         scaled_kernel("pairs").where("n", multiple_of(2))},
        scaled());
    return registry;
}

Case scaled_case(const std::string& kernel, const std::string& rest) {
    return case_of(kernels(), "scaled.forward/" + kernel, rest);
}

/// For as long as the case lives.
Subject subject_of(const Case& checked) { return {checked, kernels(), ValueKind::integers}; }

}  // namespace

TEST_CASE("a case on a problem that its kernel does not support is refused") {
    Case checked = scaled_case("pairs", "n=2:seed=1");
    const auto refused = [&] { return refusal([&] { subject_of(checked); }); };
    CHECK(refused().empty());
    checked.problem = Problem::parse(checked.problem.space(), "n=3");
    CHECK(refused().starts_with("needs "));
}

TEST_CASE("a step is at most 64, and fits both the case's kernel and its partner") {
    struct Line {
        std::string kernel, partner;
        std::int64_t largest;
    };
    for (const Line& line : {Line{"f32", "", 64},
                             {"f8e4m3", "", 8},
                             {"f32", "f64", 64},
                             {"f32", "f8e4m3", 8},
                             {"f8e4m3", "f32", 8},
                             {"f8e4m3", "f8e5m2", 4}}) {
        CAPTURE(line.kernel);
        CAPTURE(line.partner);
        const Case checked = scaled_case(line.kernel, "n=1:seed=1");
        const Kernel* partner = kernels().find_kernel("scaled.forward/" + line.partner);
        CHECK(subject_of(checked).largest_step("x", partner) == line.largest);
    }
}

TEST_CASE("a purpose's seed is mixed from the case's, and is one for all explicit data") {
    const auto seed_of = [](const std::string& data) {
        return subject_of(scaled_case("f32", "n=1:" + data)).seed_for("purpose");
    };
    CHECK(seed_of("seed=7") == mix_seed(7, "purpose"));
    CHECK(seed_of("dense=7") == mix_seed(7, "purpose"));
    CHECK(seed_of("data=x[0]=1") == mix_seed(0, "purpose"));
    Case replayed = scaled_case("f32", "n=1:data=x[0]=1");
    replayed.data.seed = 7;  // left over from the draw that the data is of
    CHECK(subject_of(replayed).seed_for("purpose") == mix_seed(0, "purpose"));
}

TEST_CASE("a result is rounded when it is stored in less than it is computed in") {
    const auto rounds = [](const std::string& kernel, const std::string& tensor) {
        return subject_of(scaled_case(kernel, "n=1:seed=1")).rounds_when_stored(tensor);
    };
    CHECK(rounds("f16", "y"));
    CHECK_FALSE(rounds("f32", "y"));
    CHECK_FALSE(rounds("f64", "y"));
    CHECK_FALSE(rounds("f16", "index"));
}

TEST_CASE("sums of integers are exact unless equal elements add up, or a transform mixes all") {
    const auto is_exact = [](const std::string& kernel, int terms, std::uint32_t expanded = 0) {
        Case checked = scaled_case(kernel, "n=" + std::to_string(terms) + ":seed=1");
        checked.setting.layouts["b"].expanded = expanded;
        return subject_of(checked).sums_integers_exactly();
    };
    CHECK(is_exact("f32", 1));
    CHECK_FALSE(is_exact("norm_wise", 1));
    // Half holds integers up to 2048. The terms of an expanded tensor have one sign.
    CHECK(is_exact("f16", 1025));
    CHECK(is_exact("f16", 1024, 1));
    CHECK_FALSE(is_exact("f16", 1025, 1));
}

}  // namespace gradverify
