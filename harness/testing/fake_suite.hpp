// SPDX-License-Identifier: Apache-2.0
// A suite for tests: its answers are functions that the test sets, and it has any property by name.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/cases/suite.hpp"

namespace gradverify::testing {

/// A property of this name that applies to every kernel.
inline const Property* property_called(const std::string& name) {
    static std::map<std::string, Property> properties;
    const auto [found, is_new] = properties.try_emplace(name);
    if (is_new) {
        found->second.name = found->first;
        found->second.applies_to = [](const Kernel&) { return true; };
    }
    return &found->second;
}

class FakeSuite : public Suite {
  public:
    std::vector<Property> known;
    std::function<Draw(const Row&, std::uint64_t, std::int64_t)> on_draw;
    std::function<Case(const Row&, std::uint64_t, std::int64_t, const Problem&)> on_draw_on;
    std::function<ProblemsInOrder(const Row&)> on_problems_in_order;
    std::function<std::vector<Case>(const Row&, const Problem&)> on_dense_cases;
    std::function<Shrunk(const Case&, const Outcome&, const CaseRunner&)> on_shrink;
    std::function<void(Shrunk&, const CaseRunner&)> on_explain;
    std::string overflows;  ///< of every failing case

    std::vector<const Property*> properties() const override {
        std::vector<const Property*> all;
        for (const Property& property : known) all.push_back(&property);
        return all;
    }
    Draw draw(const Row& row, std::uint64_t seed, std::int64_t index) const override {
        return on_draw(row, seed, index);
    }
    Case draw_on(const Row& row, std::uint64_t seed, std::int64_t index,
                 const Problem& problem) const override {
        return on_draw_on(row, seed, index, problem);
    }
    std::shared_ptr<const PairsByRank> pairs_within_reach(const Row&) const override {
        return nullptr;
    }
    ProblemsInOrder problems_in_order(const Row& row) const override {
        return on_problems_in_order(row);
    }
    std::vector<Case> dense_cases(const Row& row, const Problem& problem) const override {
        return on_dense_cases(row, problem);
    }
    Outcome run(std::string_view) const override { return {}; }
    Outcome measure(const MeasureRequest&) const override { return {}; }
    std::vector<Case> with_calls_before(const Case&) const override { return {}; }
    Shrunk shrink(const Case& found, const Outcome& outcome,
                  const CaseRunner& runner) const override {
        return on_shrink(found, outcome, runner);
    }
    void explain(Shrunk& shrunk, const CaseRunner& runner) const override {
        if (on_explain) on_explain(shrunk, runner);
    }
    std::string overflows_of(const Case&, const CaseRunner&) const override { return overflows; }
    Reproducer reproducer_of(const Case&) const override { throw std::invalid_argument("none"); }
};

}  // namespace gradverify::testing
