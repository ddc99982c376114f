// SPDX-License-Identifier: Apache-2.0
// Splits a scope of C++ into its declarations: as far as it takes to find one again in another
// text.
#pragma once

#include <string>
#include <vector>

#include "harness/simt/rewrite/stream.hpp"

namespace gradverify::simt::rewrite {

enum class DeclarationKind {
    function,  ///< with a body
    scope,     ///< a namespace, a linkage specification or a class
    other
};

struct Declaration {
    DeclarationKind kind = DeclarationKind::other;
    Range range{};
    std::size_t open = 0;        ///< the brace of the body or the scope
    std::size_t first = 0;       ///< behind `template <...>`, specifiers and `public:`
    std::size_t parameters = 0;  ///< the parenthesis of a function's parameters, if not 0
    /// Two texts' declarations of one thing have the same, whatever their marks and bodies.
    std::string key;
};

/// The declarations in `scope`, which holds whole ones. The stream has its marks.
std::vector<Declaration> declarations_in(const Stream& stream, Range scope);

}  // namespace gradverify::simt::rewrite
