// SPDX-License-Identifier: Apache-2.0
// The tokens as the rewrites see them, with matching brackets, and edits that keep line numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/simt/rewrite/tokens.hpp"

namespace gradverify::simt::rewrite {

/// A half-open range of significant tokens.
struct Range {
    std::size_t begin, end;
    bool empty() const { return begin >= end; }
};

struct Edit {
    Range range;
    std::string text;
};

/// Whether the words stay that say where a function runs.
enum class Marks { dropped, kept };
bool is_mark(const Token& token);

class Stream {
  public:
    explicit Stream(std::string_view source, Marks marks = Marks::dropped);

    std::size_t size() const { return significant_.size(); }
    /// Significant token `i`; an empty one past either end.
    const Token& at(std::size_t i) const;
    bool is(std::size_t i, std::string_view text) const { return at(i).is(text); }
    /// Three of `bracket`, as `<<<` or `<< <`, which nvcc takes as well.
    bool is_triple(std::size_t i, char bracket) const;

    /// The bracket that matches this one. **Errors** RewriteError when there is none.
    std::size_t matching(std::size_t bracket) const;
    /// The same of a bracket that opens; an error for any other token, too.
    std::size_t closing(std::size_t bracket) const;

    /// The `>` of the template arguments that open at `angle`; `end` when none is before that.
    std::size_t closing_angle(std::size_t angle, std::size_t end) const;

    /// The source of a range as it stands, spaces and line markers included.
    std::string text(Range range) const;
    /// The spaces and directives before token `i`.
    std::string text_before(std::size_t i) const;
    /// The tokens of a range joined by single spaces where needed, on one line.
    std::string flat(Range range) const;
    bool on_one_line(Range range) const;
    /// A line marker for token `i`, with the newlines that it needs.
    std::string marker(std::size_t i) const;

    void replace(Edit edit) { edits_.push_back(std::move(edit)); }
    /// The whole text with all edits; lines after an edit keep their numbers.
    std::string join() const;

    [[noreturn]] void fail(std::size_t i, const std::string& what) const;

  private:
    std::vector<Token> tokens_;
    std::vector<std::size_t> significant_;
    std::vector<std::size_t> partner_;  ///< of each significant (), [], {}
    std::vector<Edit> edits_;
};

/// Of a stream with its marks: what is the host's is told from what is a device's.
/// **Errors** RewriteError for what is the host's in device code, where the text has all marks.
void guard_host_code(Stream& stream, const std::vector<std::string>& folders_without_marks,
                     bool has_all_marks);
void rewrite_launches(Stream& stream);
void rewrite_shared_variables(Stream& stream);
void rewrite_own_names(Stream& stream);
void rewrite_left_locals(Stream& stream);
void rewrite_volatile_spins(Stream& stream);
void rewrite_inline_ptx(Stream& stream);

}  // namespace gradverify::simt::rewrite
