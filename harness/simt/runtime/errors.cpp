// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/runtime/errors.hpp"

#include <atomic>
#include <utility>

#include "gradverify_simt/runtime_types.hpp"
#include "harness/simt/simt.hpp"

namespace gradverify::simt {

namespace {
constinit std::atomic<void (*)(const char* text, bool is_cuda_only)> noted_by = nullptr;
}

void note_errors(void (*note)(const char* text, bool is_cuda_only)) { noted_by = note; }

void note_error(const std::string& text, bool is_cuda_only) {
    if (const auto note = noted_by.load()) note(text.c_str(), is_cuda_only);
}

std::string take_error() { return OfCall<Errors>()->take(); }
bool error_is_cuda_only() { return OfCall<Errors>()->is_cuda_only(); }

std::string Errors::take() {
    last_cuda_error = cudaSuccess;
    is_cuda_only_ = may_be_taken_ = false;
    return std::exchange(text_, std::string());
}

int Errors::take_last_cuda_error() {
    if (std::exchange(may_be_taken_, false)) note_error(text_ = "", false);
    return std::exchange(last_cuda_error, 0);
}

void Errors::fail(int cuda_error, const std::string& text, bool may_be_taken) {
    if (may_be_taken_) take_last_cuda_error();
    last_cuda_error = cuda_error;
    if (!text_.empty()) return;
    text_ = text;
    may_be_taken_ = may_be_taken;
    is_cuda_only_ = cuda_error == cudaErrorNotSupported;
    note_error(text_, is_cuda_only_);
}

}  // namespace gradverify::simt
