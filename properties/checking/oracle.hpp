// SPDX-License-Identifier: Apache-2.0
// What a case's kernel must give: the reference's results, exact or with a bound.
#pragma once

#include <vector>

#include "harness/cases/compare.hpp"
#include "properties/checking/inputs.hpp"

namespace gradverify {

/// How a kernel's results on integers are held to the reference's.
enum class Exactness {
    exact,      ///< the very numbers
    stored,     ///< sums are exact, but a result of 8 bits is rounded when it is stored
    bounded,    ///< each element has a bound on its rounding
    norm_wise,  ///< all elements of a tensor share the largest bound
};

class Oracle {
  public:
    Oracle(const Subject& subject, CaseInputs& inputs) : subject_(subject), inputs_(inputs) {}

    Exactness exactness();
    /// The case's tensors are parts of larger ones, those of another case of its kernel. Where all
    /// elements of a tensor share the largest bound, they share the whole's.
    void is_part_of(Oracle& whole);

    /// A pass's results on the case's values, in double.
    std::vector<Array<double>> reference(const PassSpec& pass);
    /// The same on what its reference takes.
    std::vector<Array<double>> reference(const PassSpec& pass,
                                         const std::vector<Array<double>>& taken);
    /// The results of the case's pass as the kernel must leave them in its outputs, with a bound on
    /// the rounding of its arithmetic, by any reasonable formula, and of storing them.
    std::vector<Array<Bounded>> bounded();
    /// The same on one branch where kinks have more than one.
    std::vector<Array<Bounded>> bounded_on_one_branch();
    /// The results of any pass before they are stored or added to an output.
    std::vector<Array<Bounded>> bounded(const PassSpec& pass);

    /// The reference's very numbers where they are exact, else within the bound.
    std::vector<Expected> expected();
    /// Each result within the bounds of the operator's formula and of any reasonable one; cut off
    /// at the ends of its type where the kernel says so.
    std::vector<Expected> within_rounding();

    /// Spent in the reference, for `bench --harness`.
    double seconds() const { return seconds_; }

  private:
    bool are_numbers_of_their_types();
    Rounding rounding_of(const PassSpec& pass) const;
    /// The pass that gives the case's outputs and knows other formulas; null where there is one
    /// formula.
    const PassSpec* pass_of_any_formula() const;
    /// Of the saved outputs that the pass takes, by the type that they are stored in.
    double loss_of_saved() const;
    void admit_rounding_of_saved(const std::vector<Array<double>>& taken,
                                 std::vector<Array<Bounded>>& outputs);
    std::vector<Array<Bounded>> computed(Formula formula);
    /// What any element of an output may be off by, where they share the bound: the output's
    /// largest error, or that of inputs as large as their largest, times the growth.
    std::vector<double> norm_wise_errors(const std::vector<Array<double>>& taken,
                                         const std::vector<Array<Bounded>>& outputs);
    std::vector<Array<Bounded>> stored(Formula formula, bool saturates);
    /// The bounds of an output by any reasonable formula, which for elements that keep their digits
    /// end at half of these.
    std::vector<Bound> by_any_formula(std::size_t output, bool saturates);
    /// Whether each element must keep half of its own digits: what formulas lose there are neither
    /// the last digits of larger numbers, as far as its inputs explain these, nor do the inputs'
    /// last digits decide as much. Two more runs tell: in one the quantities that a formula meets
    /// lose half of their digits, in the other the inputs their last.
    std::vector<bool> keep_digits(std::size_t output, const std::vector<double>& values,
                                  double last);
    /// How large a sum may be whose terms are products of the inputs' largest elements and 1.
    double size_of_terms(const PassSpec& pass, std::size_t output);
    void admit_branches(const std::vector<Array<double>>& taken,
                        std::vector<Array<Bounded>>& outputs);
    void store(std::vector<Array<Bounded>>& outputs, bool saturates) const;
    std::vector<Array<Bounded>> open_sums(const PassSpec& pass,
                                          const std::vector<Array<double>>& taken,
                                          Formula formula = Formula::operators);

    const Subject& subject_;
    CaseInputs& inputs_;
    std::vector<double> errors_of_whole_;
    bool admits_all_slopes_ = true;
    double seconds_ = 0.0;
};

std::vector<Expected> all_exactly(const PassSpec& pass, const std::vector<Array<double>>& outputs);

/// The rounding of a kernel that computes in this type, as its declaration has it.
Rounding rounding_of(const KernelDeclaration& kernel, DType computed);

}  // namespace gradverify
