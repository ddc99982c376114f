// SPDX-License-Identifier: Apache-2.0
// Times a kernel's calls on the CUDA device, by events, and measures what the device itself can do.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>

#include "harness/cases/measurement.hpp"
#include "harness/registry/kernel_declaration.hpp"

namespace gradverify::detail {

/// Twice as long as launchers take to launch what they launch, or longer.
inline constexpr std::chrono::microseconds stream_delay{500};

/// Keeps a stream busy for so long. Defined in cuda_delay.cu.
void delay_stream(CUstream_st* stream);

/// Times calls by turns on the block of the call's buffers and on copies of it. Without graphs they
/// are put on the default stream, which orders the work of every launcher.
/// **Errors** none: the timing says what went wrong.
Timing time_on_cuda(const KernelDeclaration& kernel, const PassCall& call,
                    std::span<std::byte> block, const TimingOptions& options);

/// **Errors** std::runtime_error.
Ceilings measure_cuda_ceilings();

/// The operation of a kernel that only multiplies and adds.
enum class CeilingKernel { f32_fma, f64_fma, f16_mma, tf32_mma };

/// Launches one on every multiprocessor and returns its floating-point operations; 0 where the
/// device can't run it. Defined in cuda_ceilings.cu.
double launch_ceiling_kernel(CeilingKernel kernel, int multiprocessors, void* sink,
                             CUstream_st* stream);

}  // namespace gradverify::detail
