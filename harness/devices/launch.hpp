// SPDX-License-Identifier: Apache-2.0
// Decides how a kernel is called on host arrays. Every property calls kernels through this, so
// every launch has guards, poison and a status that is read.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/cases/bare_case.hpp"
#include "harness/cases/outcome.hpp"
#include "harness/devices/arena.hpp"
#include "harness/devices/device.hpp"
#include "harness/registry/registry.hpp"

namespace gradverify {

struct Call {
    const Kernel& kernel;
    Device& device;
    const Problem& problem;
    std::span<const Array<double>> inputs;  ///< in the pass's order
    Setting setting{};
    Surroundings surroundings{};
    /// The outputs before the call, of a kernel that adds to them.
    std::span<const Array<double>> initial_outputs{};
    bool checked = false;  ///< by the kernel's checked variant, which must exist
    /// A call that is made directly before, for what it leaves behind. Whether it succeeds does not
    /// matter, but if it loses the device, that is this call's error. Null for none.
    const Call* before = nullptr;
};

struct CallResult {
    /// Why the launcher or a launch failed; then only the findings below hold. Empty for success.
    std::string error;
    std::string unordered{};  ///< see RunStatus
    std::vector<Array<double>> outputs;
    std::vector<DType> output_types;
    /// The outputs' bits, for comparing two calls.
    std::vector<std::vector<std::byte>> output_bits;
    /// Flat indices of output elements that the call left as they were, for each output.
    std::vector<std::vector<std::int64_t>> untouched;
    /// Words of the workspace, and those that still hold its poison, where `scratch` was given.
    std::int64_t workspace_words = 0, workspace_untouched = 0;
    /// One sentence for each buffer that was written where it must not be.
    std::vector<std::string> stray_writes;
    double seconds = 0.0;  ///< with those of the call before
    /// See RunStatus.
    std::vector<std::string> findings;
    std::uint64_t accesses_checked = 0;

    bool ran() const { return error.empty(); }
    /// The launch error, or the first stray write; empty when neither happened.
    std::string complaint() const;
};

/// The device can't run a kernel (inline PTX on the cpu device), or it refuses the problem and may.
class NotServed : public std::runtime_error {
  public:
    explicit NotServed(const std::string& why, bool is_refusal = false)
        : std::runtime_error(why), is_refusal_(is_refusal) {}

    /// The outcome of a case of this kernel: skipped.
    Outcome outcome() const {
        return is_refusal_ ? Outcome::refused(what()) : Outcome::skipped(what());
    }

  private:
    bool is_refusal_;
};

/// Calls the kernel once. **Errors** NotServed, also from the call below.
CallResult call_kernel(const Call& call);

/// Calls the kernel twice on the same buffers. The second call finds what the first one left, or,
/// if the kernel accumulates or works in place, the buffers as before the first.
std::pair<CallResult, CallResult> call_kernel_twice(const Call& call);

/// What the kernel is given in these calls.
GivenCalls given_in(const Call& call);

/// Runs a launcher on the placed buffers, noted so that a death is charged to it.
/// **Errors** NotServed.
RunStatus run_launcher(Device& device, const KernelDeclaration& kernel, const PassCall& call,
                       const Setting& setting, DelayedStream delayed);

/// How a launcher is told to launch. `workspace` is null when the kernel wants none.
Launch launch_of(Device& device, const KernelDeclaration& kernel, const Problem& problem,
                 const Setting& setting, void* workspace);

/// Times the kernel on these inputs, in this setting. **Errors** NotServed.
Timing time_kernel(const Call& call, TimingOptions options);

/// Whether this process can't run further cases, so that a worker must end.
bool device_was_lost();

/// Looks at what the launchers called so far have left in this process, and says whether that is
/// anything. It costs as much as a short call: once before and once after other kernels than the
/// case's own are called.
bool note_left();
/// The same at the end of a case, and says as a clause what was found; empty for nothing.
std::string take_left();

}  // namespace gradverify
