// SPDX-License-Identifier: Apache-2.0
// Decides what is said of a user's problem that no selected kernel takes: of the operators that it
// was tried on, what the one says that it was most likely meant for.
#pragma once

#include <cstddef>
#include <string>

#include "harness/operators/operator.hpp"

namespace gradverify {

class Refusals {
  public:
    explicit Refusals(const std::string& problem) : problem_(problem) {}

    /// Why an operator, or a kernel of it, does not take the problem; `readable` if its parameters
    /// could be read. Of several that are as likely the first is told.
    void add(const Operator& op, bool readable, const std::string& why);
    const std::string& why() const { return why_; }

  private:
    std::string problem_, why_;
    std::ptrdiff_t known_ = -1;
};

}  // namespace gradverify
