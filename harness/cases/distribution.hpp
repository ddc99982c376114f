// SPDX-License-Identifier: Apache-2.0
// Counts numbers by their size, so that the counts of several runs can be added up.
#pragma once

#include <cstdint>
#include <map>

namespace gradverify {

/// Numbers that are not negative, infinity included, in bins of 1/32 of an octave.
class Distribution {
  public:
    static constexpr int bins_of_octave = 32;

    /// A NaN is left out.
    void add(double value);
    void add(const Distribution& other);

    std::int64_t count() const;
    bool empty() const { return count() == 0; }
    std::int64_t zeros() const { return zeros_; }
    std::int64_t infinite() const { return infinite_; }
    /// By `floor(bins_of_octave * log2(value))`.
    const std::map<int, std::int64_t>& bins() const { return bins_; }

    /// The value that a share of them does not exceed, less than 2.2 % below it; 0 for none.
    double quantile(double share) const;

    static void fields(auto& self, auto& visit) {
        visit.needed("zero", self.zeros_);
        visit.needed("infinite", self.infinite_);
        visit.needed("bins", self.bins_);
    }

  private:
    std::int64_t zeros_ = 0, infinite_ = 0;
    std::map<int, std::int64_t> bins_;
};

}  // namespace gradverify
