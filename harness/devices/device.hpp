// SPDX-License-Identifier: Apache-2.0
// Decides what the harness needs from a device: memory, copies, a launcher's run and its time. Only
// the implementations call the CUDA runtime or the SIMT executor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/cases/measurement.hpp"
#include "harness/devices/poison.hpp"
#include "harness/registry/kernel_declaration.hpp"

namespace gradverify {

/// The result of one call of a launcher.
struct RunStatus {
    std::string error;  ///< empty: every launch succeeded and the device is idle again
    /// Which work of the call no stream orders, where the device has run it in order all the same.
    std::string unordered{};
    double seconds = 0.0;
    /// For the checked variant: a sentence for each finding, and the number of accesses checked.
    std::vector<std::string> findings;
    std::uint64_t accesses_checked = 0;
    /// The error is no kernel's fault: the device can't run it, or it refuses the problem and may.
    bool not_served = false;
    bool is_refusal = false;  ///< not served since the kernel refuses
    /// This process is to be used no more: of a sticky CUDA error, or of what a launcher left.
    bool device_lost = false;
    bool lost_before = false;  ///< the run before has lost it, and the error is of that one

    bool ok() const { return error.empty(); }
    /// Calls the launcher; an exception becomes the error, or a refusal, and so does what it
    /// leaves, but for what a case on the CPU device is asked for once: see restore_process().
    void call(const KernelDeclaration& kernel, const PassCall& call);
    /// The error is what the launcher has left, a clause of leftovers.hpp; empty for nothing.
    void charge(const std::string& left);
};

enum class Edge { end, begin };

/// The elements of a buffer in device memory, without what surrounds them.
struct PlacedBuffer {
    std::string_view name;
    const std::byte* begin = nullptr;
    const std::byte* end = nullptr;
    std::size_t element_bytes = 1;
    bool is_input = false;  ///< that nothing may write to
};

/// The stream that is busy when a launcher is called, so that unordered work overtakes its work.
enum class DelayedStream { none, given, default_stream };

class LargeMemory;

/// Runs of a kernel with no other process's run of it between.
struct RunSequence {
    bool has_before = false;     ///< the first one is made for what it leaves behind alone
    bool is_repeated = false;    ///< the last one is made again in the same memory
    bool uploads_again = false;  ///< which then holds what was uploaded, not what the first left
};

/// A call on memory of its own, beside which others have theirs.
struct OwnedCall {
    const KernelDeclaration& kernel;
    PassCall call;
    Setting setting;
    DelayedStream delayed = DelayedStream::none;
    std::byte* memory = nullptr;
    std::size_t bytes = 0;
    /// Host memory that is copied there before the call, and from there after it; null for neither.
    const std::byte* given = nullptr;
    std::byte* left = nullptr;
    RunStatus status{};
    double launcher_seconds = 0.0;  ///< on the host, where the kernel's own are apart from them
};

/// Calls of a client that are made one directly after the other.
struct OwnedUnit {
    int client = 0;
    std::optional<OwnedCall> before;  ///< whatever comes of it
    OwnedCall call;
    std::optional<OwnedCall> again;  ///< in the memory of `call`, unless that failed
    bool is_pinned = false;          ///< the host memory of all, for copies beside the host
};

/// Runs kernels. One of each kind per process; used from one thread.
class Device {
  public:
    virtual ~Device() = default;

    virtual std::string_view name() const = 0;

    /// Whether an access beyond a region's edge is an error, as at an unmapped page.
    virtual bool has_unmapped_edges() const = 0;
    /// Device memory for the buffers of one call: a region of this size for each, in place of the
    /// regions of the call before. Sizes are multiples of 256, and so are the addresses; the
    /// contents are undefined. `edge` is the unmapped one, where the device has unmapped edges.
    /// **Errors** std::runtime_error when there is not enough.
    virtual std::vector<std::byte*> place(std::span<const std::size_t> region_bytes, Edge edge) = 0;
    /// Host memory for fast copies, kept until a larger block is asked for; `which` is 0 or 1.
    virtual std::byte* host_memory(int which, std::size_t bytes) = 0;

    /// Copies all regions, which lie one behind the other in host memory.
    virtual void upload(const std::byte* host) = 0;
    virtual void download(std::byte* host) = 0;

    /// Tells a device that sees accesses what lies in the regions, for its messages. Launchers of
    /// the checked variant may touch nothing else there. Where the device can, it fills what
    /// launchers allocate with this poison, and where `is_protected`, which takes as long as a
    /// small case, makes writes to inputs errors, and the host's accesses to device memory.
    virtual void describe(std::span<const PlacedBuffer>, Poison, bool /*is_protected*/) {}

    /// The default stream, or one of this device's own.
    virtual CUstream_st* stream(bool own) = 0;

    /// Whether work on different streams may overlap; otherwise `run` itself finds unordered work.
    virtual bool overlaps_streams() const = 0;
    /// Runs a kernel's launcher, waits, and reads the status of every launch.
    virtual RunStatus run(const KernelDeclaration& kernel, const PassCall& call,
                          const Setting& setting, DelayedStream delayed) = 0;

    /// What the next runs are. Where they are made all at once, the first of them to return says
    /// nothing of the run before, and the next one does.
    virtual void begin(const RunSequence&) {}

    /// Block `which` of device memory, in place of what it was, with none directly behind it.
    /// **Errors** std::runtime_error when there is not enough.
    virtual std::byte* own(int which, std::size_t bytes);
    /// Makes copies from and to this host memory fast, which takes about a millisecond per MiB.
    /// **Errors** std::runtime_error.
    virtual void pin(std::span<std::byte>) {}
    /// Makes calls of a client, waits after each, and says which of them has lost the device.
    virtual void run_owned(OwnedUnit& unit);
    /// Begins them beside what was begun for other clients, whose calls of the same kernels share
    /// its variables, and without regard to work on another stream than the given one. The unit
    /// must stay where it is.
    /// **Errors** std::runtime_error once the device is lost, by whichever of them; so below.
    virtual void begin_owned(OwnedUnit& unit) { run_owned(unit); }
    /// Goes on with what was begun; whether it is finished.
    virtual bool is_finished(OwnedUnit&) { return true; }

    /// Times a launcher on the buffers placed last; the outputs are undefined afterwards.
    virtual Timing time(const KernelDeclaration& kernel, const PassCall& call,
                        const Setting& setting, const TimingOptions& options) = 0;
    /// Memory for tensors that have no image on the host.
    /// **Errors** std::logic_error of a device that has none.
    virtual LargeMemory& large_memory();
    /// Measures how fast this device copies and multiplies; takes a fraction of a second.
    /// **Errors** std::runtime_error.
    virtual Ceilings measure_ceilings() = 0;
};

/// The device of this name in this process, made at the first call.
/// **Errors** std::invalid_argument for an unknown name, EnvironmentError where unavailable.
Device& device_named(std::string_view name);
/// Puts a device in the place of the one of its name.
void replace_device(std::unique_ptr<Device> device);

/// Why a device can't be used; empty when it can. Call it in a worker: "cuda" touches the runtime.
std::string why_unavailable(std::string_view name);

/// The devices that this build knows, whether or not the machine has them.
std::vector<std::string> built_devices();

namespace detail {
std::unique_ptr<Device> make_cpu_device();
/// Null when the build has no CUDA.
std::unique_ptr<Device> make_cuda_device();
std::string why_no_cuda();
}  // namespace detail

}  // namespace gradverify
