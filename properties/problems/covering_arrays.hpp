// SPDX-License-Identifier: Apache-2.0
// Keeps the covering arrays of kernels, one for all that support the same problems at the same
// cost. Each is made when it is first asked for, which takes a hundredth of a second or more.
#pragma once

#include <map>
#include <string>

#include "properties/problems/covering_array.hpp"

namespace gradverify {

class CoveringArrays {
  public:
    /// The array, the same whichever kernel asks for it first. The operator must live longer.
    const CoveringArray& of(const SupportedProblems& problems);

  private:
    /// An array, and what it is of.
    class Entry {
      public:
        Entry(const Operator& op, const PassSpec& pass, const KernelDeclaration& kernel);
        Entry(const Entry&) = delete;
        Entry& operator=(const Entry&) = delete;
        const CoveringArray& array() const { return array_; }

      private:
        KernelDeclaration kernel_;  ///< what matters of it, and no more
        SupportedProblems problems_;
        CoveringArray array_;
    };

    std::map<std::string, Entry> entries_;
};

}  // namespace gradverify
