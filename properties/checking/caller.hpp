// SPDX-License-Identifier: Apache-2.0
// The calls of a case: of its kernel in the case's setting and surroundings, and of other kernels
// as partners.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/devices/launch.hpp"
#include "properties/checking/inputs.hpp"

namespace gradverify {

/// The streams to delay, each in a call of its own, so that unordered work shows; `none` alone
/// where there is one stream, or where the device sees such work by itself.
std::vector<DelayedStream> streams_to_delay(const Setting& setting, const Device& device);

class Caller {
  public:
    Caller(const Subject& subject, const CaseInputs& inputs) : subject_(subject), inputs_(inputs) {}

    /// Calls a kernel on these inputs; the case's setting and surroundings unless others are given.
    CallResult call(const Kernel& kernel, const std::vector<Array<double>>& inputs);
    CallResult call(const Kernel& kernel, const std::vector<Array<double>>& inputs,
                    const Setting& setting, const Surroundings& surroundings);
    /// The case's kernel finds these numbers in its outputs.
    CallResult call_with_outputs(const std::vector<Array<double>>& outputs,
                                 const std::vector<Array<double>>& inputs);
    CallResult call_checked(const std::vector<Array<double>>& inputs);
    std::pair<CallResult, CallResult> call_twice(const std::vector<Array<double>>& inputs,
                                                 const Setting& setting);

    /// What the case's kernel is given in its call on these inputs, and in the one before.
    GivenCalls given(const std::vector<Array<double>>& inputs);

    Surroundings surroundings() const;

    /// Spent in kernels, for `bench --harness`.
    double seconds() const { return seconds_; }
    /// Counts the seconds of a call that was made elsewhere.
    void spend(double seconds) { seconds_ += seconds; }

  private:
    template <class Result>
    Result make(Call call, Result (*make_it)(const Call&));
    CallResult make(const Call& call);
    CallResult call_partner(const Call& call);
    std::vector<Array<double>> inputs_before(const Call& call) const;
    Call make_call(const Kernel& kernel, const std::vector<Array<double>>& inputs,
                   const Setting& setting, const Surroundings& surroundings) const;

    const Subject& subject_;
    const CaseInputs& inputs_;
    double seconds_ = 0.0;
    bool called_before_ = false;
};

/// Whether a kernel's tensors hold these inputs of its pass as they are.
bool can_take(const Kernel& kernel, const std::vector<Array<double>>& inputs);

}  // namespace gradverify
