// SPDX-License-Identifier: Apache-2.0
#include "harness/devices/device.hpp"

#include <fmt/format.h>

#include <map>
#include <stdexcept>

#include "harness/base/errors.hpp"
#include "harness/base/refuse.hpp"
#include "harness/base/text.hpp"
#include "harness/devices/apart/apart_device.hpp"
#include "harness/devices/leftovers.hpp"
#include "harness/registry/not_supported.hpp"

namespace gradverify {

static std::unique_ptr<Device>& device_in_use(std::string_view name) {
    static std::map<std::string, std::unique_ptr<Device>> devices;
    return devices[std::string(name)];
}

LargeMemory& Device::large_memory() {
    throw std::logic_error(fmt::format("{} has no large memory", name()));
}

std::byte* Device::own(int, std::size_t) {
    throw std::logic_error(fmt::format("{} serves no clients", name()));
}

void Device::run_owned(OwnedUnit&) {
    throw std::logic_error(fmt::format("{} serves no clients", name()));
}

void replace_device(std::unique_ptr<Device> device) {
    device_in_use(device->name()) = std::move(device);
}

Device& device_named(std::string_view name) {
    std::unique_ptr<Device>& device = device_in_use(name);
    if (!device && !apart_program().empty()) device = make_apart_device(name);
    if (!device) {
        if (const std::string why = why_unavailable(name); !why.empty())
            throw EnvironmentError(fmt::format("device {}: {}", name, why));
        device = name == "cpu" ? detail::make_cpu_device() : detail::make_cuda_device();
    }
    return *device;
}

std::string why_unavailable(std::string_view name) {
    if (name == "cpu") return {};
    if (name == "cuda") return detail::why_no_cuda();
    refuse("unknown device '{}'; there are cpu, cuda", name);
}

std::vector<std::string> built_devices() {
#ifdef GRADVERIFY_HAS_CUDA
    return {"cpu", "cuda"};
#else
    return {"cpu"};
#endif
}

namespace {

void call_guarded(RunStatus& status, const KernelDeclaration& kernel, const PassCall& call) try {
    kernel.thunk(call);
} catch (const NotSupported& refused) {
    status.not_served = status.is_refusal = kernel.may_refuse_problems;
    status.error = fmt::format(
        "{}: {}",
        status.is_refusal ? "refused"
                          : "the launcher refuses the problem, and does not declare may_refuse()",
        refused.what());
} catch (const std::exception& thrown) {
    std::string what = with_relative_paths(thrown.what());
    // PyTorch's errors go on with advice and a list of addresses.
    if (what.find("\nException raised from ") != std::string::npos) what.resize(what.find('\n'));
    status.error = "the launcher threw: " + what;
} catch (...) {
    status.error = "the launcher threw something that is no std::exception";
}

}  // namespace

void RunStatus::call(const KernelDeclaration& kernel, const PassCall& call) {
    const Leftovers before(kernel.device == "cuda"     ? Leftovers::Kept::threads_and_files
                           : kernel.keeps_host_threads ? Leftovers::Kept::threads
                                                       : Leftovers::Kept::nothing);
    call_guarded(*this, kernel, call);
    probe_heap(&kernel);
    charge(before.found(&kernel));
    if (kernel.device == "cuda") charge(restore_process());
}

void RunStatus::charge(const std::string& left) {
    if (left.empty()) return;
    error = "the launcher " + left;
    not_served = is_refusal = false;
    device_lost = true;
}

}  // namespace gradverify
