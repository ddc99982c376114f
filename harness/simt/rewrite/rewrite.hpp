// SPDX-License-Identifier: Apache-2.0
// Turns preprocessed CUDA C++ into C++ that calls the executor: launches, shared variables and
// inline PTX are rewritten, all else is kept, and every line stays the user's line.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace gradverify::simt::rewrite {

/// What cannot be rewritten; the text begins with the user's `file:line: error:`.
class RewriteError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// **Errors** RewriteError.
std::string rewrite(std::string_view preprocessed);

}  // namespace gradverify::simt::rewrite
