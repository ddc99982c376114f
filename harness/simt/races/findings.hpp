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

/// Names of memory: shared variables of the launch, and the buffers of `describe_buffers`.
class MemoryNames {
  public:
    struct Range {
        std::uintptr_t begin;
        std::size_t bytes, element_bytes;  ///< elements of 0 bytes: their type is not known
        std::string name;
    };
    void clear() { ranges_.clear(); }
    void add(Range range);
    /// `dw[5]`; past the end or before the begin of the nearest range `dw[6], which has 6
    /// elements`; empty when no range lies within a page.
    std::string of(std::uintptr_t address) const;
    const std::vector<Range>& ranges() const { return ranges_; }

  private:
    std::vector<Range> ranges_;  ///< by begin
};

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

}  // namespace gradverify::simt
