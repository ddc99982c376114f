// SPDX-License-Identifier: Apache-2.0
// What a failure is told of what its outputs held; kernels of the suite are in
// properties/tests/contracts_test.cpp.
#include "properties/checking/held_outputs.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "properties/tests/made_case.hpp"

namespace gradverify {

using namespace testing;

namespace {

/// A failure whose elements kept what was in memory before.
Outcome unwritten() {
    Outcome outcome = Outcome::failed("wrong");
    outcome.maps.emplace_back();
    return outcome;
}

/// What y = a b is told to add to or to write over, or nothing.
std::string told(KernelDeclaration kernel, Script script, const std::string& setting = "",
                 const Outcome& failed = unwritten()) {
    current_script = std::move(script);
    kernel.thunk = run_script;
    const MadeCase made({product()}, "forward", kernel, "n=2:seed=1" + setting);
    const std::string text = misuse_of_held_outputs(made, failed);
    return text.substr(0, text.find(','));
}

double add(const ScriptedElement& element) { return element.old + element.product(); }

const std::string adds = "; it adds to y";

}  // namespace

TEST_CASE("a kernel adds where the elements that it writes differ by what was there before") {
    CHECK(told({}, add) == adds);
    CHECK(told({}, add, "", Outcome::failed("the launcher threw: dead")) == "");
    CHECK(told(KernelDeclaration().adds_to_outputs(), add) == "");
    CHECK(told({}, [](const ScriptedElement&) { return std::nullopt; }) == "");
    // Beside 4096 a half has no digit for the one.
    const Script far_apart = [](const ScriptedElement& element) {
        return element.old + (element.index == 0 ? 4096.0 : 3.0);
    };
    CHECK(told(KernelDeclaration().storage(DType::f16), far_apart) == adds);
    const Script throws = [](const ScriptedElement& element) -> std::optional<double> {
        throw std::runtime_error(std::to_string(element.index));
    };
    CHECK(told({}, throws) == "");
}

TEST_CASE("an output that lies over an input holds that, and is not asked about") {
    const Script adds_three = [](const ScriptedElement& element) {
        return element.inputs[0] + 3.0;
    };
    CHECK(told(KernelDeclaration().updates("y", "a"), adds_three) == "");
    const KernelDeclaration in_place = KernelDeclaration().in_place("y", "a");
    CHECK(told(in_place, adds_three, ":place=same") == "");
    CHECK(told(in_place, add, ":place=own") == adds);
}

TEST_CASE("an output without elements is neither added to nor written over") {
    const KernelDeclaration kernel =
        scaled_kernel("made", launch_scaled).adds_to_outputs().with_empty_problems();
    const auto told_at = [&](const std::string& problem) {
        const MadeCase made({scaled()}, "forward", kernel, problem + ":seed=1");
        return misuse_of_held_outputs(made, unwritten());
    };
    CHECK(told_at("n=0") == "");
    CHECK(told_at("n=1").starts_with("; it writes over y, "));
}

}  // namespace gradverify
