// SPDX-License-Identifier: Apache-2.0
// The findings of the checked variant, one for each kind and pair of lines, and names in their
// texts.
#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "harness/simt/runtime/text.hpp"
#include "harness/simt/simt.hpp"

namespace gradverify::simt {

/// `dw[5]`, or `dw[6], but dw has 6 elements` beyond the nearest of `memory`; "" when none is
/// within a page. Memory of elements of 0 bytes is named by bytes.
std::string name_of(const std::vector<NamedBuffer>& memory, std::uintptr_t address);

class Findings {
  public:
    struct Subject {
        FindingKind kind;
        std::string first_line, second_line;  ///< sources, in any order
        auto operator<=>(const Subject&) const = default;
    };
    /// Adds a finding with the text that `make_text` gives, if it is the first on this subject.
    void add(const Subject& subject, auto make_text) {
        if (is_new(subject)) keep({subject.kind, make_text()});
    }
    std::vector<Finding> take();

  private:
    bool is_new(Subject subject);
    void keep(Finding finding);
    std::vector<Finding> found_;
    std::set<Subject> known_;
};

}  // namespace gradverify::simt
