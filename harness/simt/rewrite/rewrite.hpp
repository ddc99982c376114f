// SPDX-License-Identifier: Apache-2.0
// Turns preprocessed CUDA C++ into C++ that calls the executor: launches, shared variables and
// inline PTX are rewritten, `__global__` and its like dropped, all else is kept, and every line
// stays the user's line.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace gradverify::simt::rewrite {

/// What cannot be rewritten; the text begins with the user's `file:line: error:`.
class RewriteError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// No compiler but this one sees the files in `folders_without_marks`: what they lack is not told.
/// **Errors** RewriteError, also for what is the host's in device code.
std::string rewrite(std::string_view preprocessed,
                    const std::vector<std::string>& folders_without_marks = {});

/// One text of a file that was preprocessed for the host, and for a device, to be rewritten.
/// **Errors** RewriteError.
std::string merge_device_text(std::string_view host, std::string_view device);

}  // namespace gradverify::simt::rewrite
