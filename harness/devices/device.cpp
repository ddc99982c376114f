// SPDX-License-Identifier: Apache-2.0
#include "harness/devices/device.hpp"

#include <map>
#include <stdexcept>

#include "harness/base/errors.hpp"

namespace gradverify {

LargeMemory& Device::large_memory() {
    throw std::logic_error(std::string(name()) + " has no large memory");
}

Device& device_named(std::string_view name) {
    static std::map<std::string, std::unique_ptr<Device>, std::less<>> devices;
    auto found = devices.find(name);
    if (found == devices.end()) {
        if (const std::string why = why_unavailable(name); !why.empty())
            throw EnvironmentError("device " + std::string(name) + ": " + why);
        found = devices
                    .emplace(name,
                             name == "cpu" ? detail::make_cpu_device() : detail::make_cuda_device())
                    .first;
    }
    return *found->second;
}

std::string why_unavailable(std::string_view name) {
    if (name == "cpu") return {};
    if (name == "cuda") return detail::why_no_cuda();
    throw std::invalid_argument("unknown device '" + std::string(name) + "'; there are cpu, cuda");
}

std::vector<std::string> built_devices() {
#ifdef GRADVERIFY_HAS_CUDA
    return {"cpu", "cuda"};
#else
    return {"cpu"};
#endif
}

void RunStatus::refuse(const KernelDeclaration& kernel, const char* why) {
    not_served = is_refusal = kernel.may_refuse_problems;
    error = is_refusal ? "refused: " + std::string(why)
                       : "the launcher refuses the problem, and does not declare may_refuse(): " +
                             std::string(why);
}

}  // namespace gradverify
