// SPDX-License-Identifier: Apache-2.0
// Puts the properties, the generators and the shrinking together into what the driver runs.
#pragma once

#include <memory>
#include <vector>

#include "harness/cases/suite.hpp"

namespace gradverify {

struct SuiteOptions {
    /// The first cases of a row are a fixed list of the smallest problems.
    bool edge_problems = true;
    /// Bits of the offsets that overflow in large cases. Tests without a GPU take 16.
    int large_offset_bits = 32;
};

class KernelSuite final : public Suite {
  public:
    /// **Ranges** the registry must outlive the suite and have been checked.
    explicit KernelSuite(const Registry& registry, const SuiteOptions& options = {});

    std::vector<const Property*> properties() const override;
    void prepare(const std::vector<Row>& rows, int threads) const override;
    Draw draw(const Row& row, std::uint64_t seed, std::int64_t index) const override;
    Case draw_on(const Row& row, std::uint64_t seed, std::int64_t index,
                 const Problem& problem) const override;
    std::shared_ptr<const PairsByRank> pairs_within_reach(const Row& row) const override;
    ProblemsInOrder problems_in_order(const Row& row) const override;
    std::vector<Case> dense_cases(const Row& row, const Problem& problem) const override;
    Outcome run(std::string_view printed_case) const override;
    Outcome measure(const MeasureRequest& request) const override;
    std::vector<Case> with_calls_before(const Case& failing) const override;
    Shrunk shrink(const Case& found, const Outcome& outcome,
                  const CaseRunner& runner) const override;
    void explain(Shrunk& shrunk, const CaseRunner& runner) const override;
    std::string overflows_of(const Case& failing, const CaseRunner& runner) const override;
    Reproducer reproducer_of(const Case& failing) const override;

  private:
    const Kernel& kernel_of(const Case& checked) const;

    class Generators;
    const Registry& registry_;
    SuiteOptions options_;
    std::shared_ptr<Generators> generators_;
};

}  // namespace gradverify
