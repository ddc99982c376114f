// SPDX-License-Identifier: Apache-2.0
// The errors of a call, by `OfCall`: of the run-time API, of a launch, of a kernel.
#pragma once

#include <string>

#include "harness/simt/runtime/of_call.hpp"

namespace gradverify::simt {

/// Tells who asked for it by `note_errors`.
void note_error(const std::string& text, bool is_cuda_only);

class Errors {
  public:
    /// The first text is kept, or, where a launcher may ask in vain, forgotten once
    /// cudaGetLastError has taken it.
    void fail(int cuda_error, const std::string& text, bool may_be_taken = false);
    std::string take();
    int take_last_cuda_error();
    bool is_cuda_only() const { return is_cuda_only_; }
    int last_cuda_error = 0;

  private:
    std::string text_;
    bool is_cuda_only_ = false;
    bool may_be_taken_ = false;  ///< by cudaGetLastError
};

}  // namespace gradverify::simt
