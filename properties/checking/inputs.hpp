// SPDX-License-Identifier: Apache-2.0
// The values of a case's tensors, and what can be said of them without computing a result.
#pragma once

#include <string>
#include <vector>

#include "properties/checking/subject.hpp"

namespace gradverify {

class CaseInputs {
  public:
    /// **Errors** std::invalid_argument where the case lists data that its property can't take.
    explicit CaseInputs(const Subject& subject);

    /// The values of an input, of an output's cotangent, or of an output that the forward pass
    /// saves, as the reference gives it; made when first asked for.
    const Array<double>& operator[](const std::string& name);
    /// What a pass's kernels take.
    std::vector<Array<double>> of(const PassSpec& pass) { return values(pass.inputs); }
    /// What a pass's reference takes.
    std::vector<Array<double>> of_reference(const PassSpec& pass) {
        return values(pass.taken_by_reference());
    }
    /// The cotangents of the forward pass's outputs, of those that have one.
    std::vector<Array<double>> cotangents();
    /// What the outputs hold before a call: each that is written over is empty, and so is the list
    /// where all are.
    const std::vector<Array<double>>& initial_outputs() const { return initial_outputs_; }
    /// Adds that to results of the case's pass, or, with a sign of -1, takes it away again.
    void add_initial(std::vector<Array<double>>& results, double sign = 1.0) const;

    /// Whether an index that the pass takes lies outside of its range.
    bool have_invalid_indices();
    /// Whether results may be NaN: an input holds NaN, an index is invalid, or the batch is empty.
    bool admit_nan();
    /// Whether domains left the inputs integers whose sums stay exact.
    bool stay_integers();

  private:
    std::vector<Array<double>> values(const std::vector<std::string>& names);
    void draw_all();
    /// Makes drawn values what the kernel and its layouts have.
    void settle(const std::string& name, Array<double>& array) const;
    void expand(const std::string& name, Array<double>& array) const;
    bool have_domains() const;
    void require_exact();

    const Subject& subject_;
    Values values_;
    std::vector<Array<double>> initial_outputs_;
};

}  // namespace gradverify
