// SPDX-License-Identifier: Apache-2.0
// A failing problem and its neighbours as rows of numbers: the value of each class of tied
// parameters, and behind them the sizes of outputs that are no parameter's value. Runs nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "harness/operators/operator.hpp"
#include "properties/explaining/term.hpp"
#include "properties/problems/solver.hpp"

namespace gradverify {

/// Neighbours of powers of two, where tiles and blocks end.
constexpr std::int64_t telling_lengths[] = {7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65, 128, 256, 257};

/// `A`, `A and B`, `A, B and C`
std::string enumerated(std::vector<std::string> words);

class ProblemValues {
  public:
    /// By class of parameters; behind them, if they were added, the sizes.
    using Row = std::vector<std::int64_t>;

    ProblemValues(const SupportedProblems& supported, const Problem& base);

    const RankDomain& domain() const { return domain_; }
    int class_count() const { return static_cast<int>(domain_.classes.size()); }
    const SlotClass& class_at(int which) const { return domain_.at(which); }
    const Row& base() const { return base_; }
    /// Its place among the operator's parameters, or the first one's where several are tied.
    int parameter_of(int which) const;
    /// Whether the parameter has a value for each axis, as filters and strides do.
    bool has_axis(int which) const;
    std::int64_t base(int which) const { return at(base_, which); }

    /// The name of each number of a row with its sizes: `stride_w`, `y.size(2)`
    std::span<const std::string> names() const { return names_; }
    /// By class, the values of an attribute, as a problem prints them, or of a flag, which no size
    /// is compared with; empty for a number.
    ValueTexts value_texts() const { return value_texts_; }
    /// `n, c and filter`: the whole parameter where all its classes are among these.
    std::string names_of(const std::set<int>& classes) const;

    Problem problem_of(const Row& values) const;
    Row with_sizes(Row values) const;
    /// The base with these values and others that constraints tie to them, if there is one.
    std::optional<Row> with(const std::map<int, std::int64_t>& wanted) const;
    /// The values of the row, by class, that are not the base's.
    std::map<int, std::int64_t> changed_in(const Row& values) const;
    /// The values that a parameter takes alone, without the base's; the most telling first.
    std::vector<std::int64_t> spread(int which) const;

  private:
    struct OutputSize {
        const TensorSpec* tensor;
        int axis;
    };
    void find_sizes();

    const SupportedProblems& supported_;
    const RankDomain& domain_;
    Row base_;
    std::vector<OutputSize> sizes_;
    std::vector<std::string> names_;
    std::vector<std::vector<std::string>> value_texts_;
};

}  // namespace gradverify
