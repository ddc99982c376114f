// SPDX-License-Identifier: Apache-2.0
// What the checked variant found, as text: which memory by name and element, which threads, which
// source lines. One finding for each kind and pair of lines. Decides nothing of what is an error.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "gradverify_simt/state.hpp"
#include "harness/simt/simt.hpp"

namespace gradverify::simt {

/// `dw[5]`; beyond the nearest of these `dw[6], but dw has 6 elements`; "" when none is within a
/// page. The type of elements of 0 bytes is not known.
std::string name_of(const std::vector<NamedBuffer>& memory, std::uintptr_t address);

class Findings {
  public:
    struct Subject {
        FindingKind kind;
        std::string first_line, second_line;  ///< sources, in any order
    };
    /// Whether it is the first of its kind on these lines; if so, add its text.
    bool is_new(Subject subject);
    void add(FindingKind kind, std::string text) { found_.push_back({kind, std::move(text)}); }
    std::vector<Finding> take();

  private:
    std::vector<Finding> found_;
    std::set<std::tuple<FindingKind, std::string, std::string>> known_;
};

/// "file.cu:12"
std::string line_of(std::uint64_t return_address);
std::string line_of(unit::Place place);
std::string text_of(const dim3& index);
/// "0x1ff"
std::string hex_text(std::uint64_t value);

}  // namespace gradverify::simt
