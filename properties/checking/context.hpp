// SPDX-License-Identifier: Apache-2.0
// What every property starts from. Knows no particular property or operator.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "properties/checking/caller.hpp"
#include "properties/checking/inputs.hpp"
#include "properties/checking/oracle.hpp"

namespace gradverify {

/// A case with its values, what its kernel must give, and the calls that show what it gives.
class CaseContext : public Subject {
  public:
    /// **Errors** those of Subject and CaseInputs.
    CaseContext(const Case& checked, const Registry& registry, ValueKind kind)
        : Subject(checked, registry, kind),
          inputs(*this),
          oracle(*this, inputs),
          caller(*this, inputs) {}
    CaseContext(const CaseContext&) = delete;
    CaseContext& operator=(const CaseContext&) = delete;

    CaseInputs inputs;
    Oracle oracle;
    Caller caller;
};

/// Compares each output of a call that its setting asks for.
std::vector<Comparison> compare_outputs(const CallResult& result,
                                        const std::vector<Expected>& expected,
                                        const Setting& setting = {});

/// Whether the case's kernel gave what it must, on the case's own inputs and in its setting.
bool is_right(CaseContext& context, const CallResult& result);

/// A registered forward kernel that gave the reference's very numbers on the case's values.
struct SoundForward {
    const Kernel* kernel = nullptr;  ///< null when there is none
    std::vector<Array<double>> outputs{};
};

/// The first such kernel of the case's operator on its device that is not known to be `unsound`.
SoundForward sound_forward(CaseContext& context, const std::set<const Kernel*>& unsound = {});

/// Inputs with which a forward kernel computes its own derivative J v, of an operator that is a sum
/// of products: `tensor` is replaced by the direction, and every tensor that is in no product with
/// it is zero, so that the forward map becomes linear in the direction.
std::vector<Array<double>> tangent_inputs(CaseContext& context, const std::string& tensor,
                                          const Array<double>& direction);

/// Sum of products of two arrays of the same size.
double inner_product(const Array<double>& a, const Array<double>& b);
/// The same of the forward pass's outputs and their cotangents, of those that have one.
double with_cotangents(CaseContext& context, const std::vector<Array<double>>& outputs);

}  // namespace gradverify
