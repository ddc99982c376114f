// SPDX-License-Identifier: Apache-2.0
// Decides what the harness needs of a device: memory for the buffers of a call, copies to and from
// it, a launcher's run whose status is read, and its time. One implementation per device; nothing
// else in the project calls the CUDA runtime or the SIMT executor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/cases/measurement.hpp"
#include "harness/registry/kernel_declaration.hpp"

namespace gradverify {

/// What became of one call of a launcher.
struct RunStatus {
    std::string error;  ///< empty: every launch succeeded and the device is idle again
    double seconds = 0.0;
    /// A sentence for each thing that a launcher of the checked variant was found to do, and how
    /// many accesses were looked at.
    std::vector<std::string> findings;
    std::uint64_t accesses_checked = 0;
    /// The error is that the device does not serve what the kernel does, or that the kernel refuses
    /// the problem and may: no kernel is to blame for it.
    bool not_served = false;
    bool is_refusal = false;  ///< not served since the kernel refuses
    /// The device can't be used by this process any more (a sticky CUDA error).
    bool device_lost = false;

    bool ok() const { return error.empty(); }
    /// Calls the launcher. What it throws is the error; NotSupported is the kernel's right if it
    /// declares so.
    void call(const KernelDeclaration& kernel, const PassCall& call);
};

/// Which end of a region of memory.
enum class Edge { end, begin };

/// The elements of a buffer in device memory, without what surrounds them.
struct PlacedBuffer {
    std::string_view name;
    const std::byte* begin = nullptr;
    const std::byte* end = nullptr;
    std::size_t element_bytes = 1;
};

/// A stream that is busy when a launcher is called, so that work which nothing orders with it
/// overtakes what is on it.
enum class DelayedStream { none, given, default_stream };

class LargeMemory;

/// Where kernels run. One per process; used from one thread.
class Device {
  public:
    virtual ~Device() = default;

    virtual std::string_view name() const = 0;

    /// Whether a region's edge lies at an unmapped page, or at what comes to the same: an access
    /// beyond it is an error.
    virtual bool has_unmapped_edges() const = 0;
    /// Device memory for the buffers of one call: a region of this size for each, in place of the
    /// regions of the call before. Sizes are multiples of 256, and so are the addresses; the
    /// contents are undefined. Where edges are unmapped, all regions have that one.
    ///
    /// **Errors** std::runtime_error when there is not enough.
    virtual std::vector<std::byte*> place(std::span<const std::size_t> region_bytes, Edge edge) = 0;
    /// Host memory from which copies are fast; `which` is 0 or 1. The same block every time until
    /// a larger one is asked for; its contents are then undefined.
    virtual std::byte* host_memory(int which, std::size_t bytes) = 0;

    /// Copies all regions, which lie one behind the other in host memory.
    virtual void upload(const std::byte* host) = 0;
    virtual void download(std::byte* host) = 0;

    /// What lies in the regions, for the messages of a device that sees accesses. Launchers of the
    /// checked variant may touch nothing else there.
    virtual void describe(std::span<const PlacedBuffer>) {}

    /// The default stream, or one of this device's own.
    virtual CUstream_st* stream(bool own) = 0;

    /// Whether work on different streams may overlap; else what is not ordered is an error of
    /// `run`, and nothing need be delayed.
    virtual bool overlaps_streams() const = 0;
    /// Runs a kernel's launcher, waits, and reads the status of every launch.
    virtual RunStatus run(const KernelDeclaration& kernel, const PassCall& call,
                          const Setting& setting, DelayedStream delayed) = 0;

    /// Times calls of a kernel's launcher on the buffers placed last, after a warm-up. What the
    /// outputs hold then is undefined.
    virtual Timing time(const KernelDeclaration& kernel, const PassCall& call,
                        const Setting& setting, const TimingOptions& options) = 0;
    /// For tensors that have no image on the host.
    ///
    /// **Errors** std::logic_error of a device that has none.
    virtual LargeMemory& large_memory();
    /// Measures how fast this device copies and multiplies; takes a fraction of a second.
    ///
    /// **Errors** std::runtime_error.
    virtual Ceilings measure_ceilings() = 0;
};

/// The device of this name in this process, made at the first call.
///
/// **Errors** std::invalid_argument when there is no such device, EnvironmentError when this build
/// or the machine has none, or the process can't reach it.
Device& device_named(std::string_view name);

/// Why a device can't be used on this machine; empty when it can. Touches the CUDA runtime when
/// asked for "cuda": call it in a worker.
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
