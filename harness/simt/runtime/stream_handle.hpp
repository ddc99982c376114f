// SPDX-License-Identifier: Apache-2.0
// What a cudaStream_t of the CPU device points to. What is known of a stream is in streams.hpp.
#pragma once

#include "gradverify_simt/runtime_types.hpp"

struct CUstream_st {
    bool blocking = true;
};

namespace gradverify::simt {

inline cudaStream_t make_handle(bool blocking) { return new CUstream_st{blocking}; }
inline void free_handle(cudaStream_t stream) { delete stream; }
inline bool is_blocking(cudaStream_t stream) { return stream->blocking; }

}  // namespace gradverify::simt
