// SPDX-License-Identifier: Apache-2.0
// The launcher process's side: makes the calls that its parent asks for.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>

#include "harness/base/errors.hpp"
#include "harness/devices/apart/apart_device.hpp"
#include "harness/devices/apart/apart_message.hpp"
#include "harness/devices/apart/confine.hpp"
#include "harness/devices/leftovers.hpp"
#include "harness/devices/process_state.hpp"
#include "harness/registry/registry.hpp"

namespace gradverify {

namespace {

class LauncherProcess {
  public:
    explicit LauncherProcess(Device& device) : device_(device), memory_(apart_memory_fd) {}

    ApartAnswer answer(const ApartCall& asked) try {
        note_case();
        const Edge edge = static_cast<Edge>(asked.edge);
        if (asked.places) {
            const std::vector<std::size_t> bytes(asked.region_bytes.begin(),
                                                 asked.region_bytes.end());
            begins_ = device_.place(bytes, edge);
            told_begins_ =
                apart_begins(asked.region_bytes, device_.has_unmapped_edges() && edge == Edge::end);
            describe(asked);
            used_ = 0;
            for (const std::size_t region : bytes) used_ += region;
        }
        if (asked.uploads) device_.upload(staged(0, memory_.image(used_)));
        const RunStatus status = run(asked);
        if (status.ok()) {
            std::byte* const left = staged(1, nullptr);
            device_.download(left);
            if (left != memory_.image(used_)) std::memcpy(memory_.image(used_), left, used_);
        }
        ApartAnswer answer{.number = asked.number,
                           .error = status.error.substr(0, ApartAnswer::most_text),
                           .unordered = status.unordered.substr(0, ApartAnswer::most_text),
                           .overflows = worker_note().overflows.data(),
                           .seconds = status.seconds,
                           .accesses_checked = status.accesses_checked,
                           .not_served = status.not_served,
                           .is_refusal = status.is_refusal,
                           .device_lost = status.device_lost};
        for (const std::string& finding : status.findings)
            if (answer.findings.size() < ApartAnswer::most_findings)
                answer.findings.push_back(finding.substr(0, ApartAnswer::most_text));
        return answer;
    } catch (const std::exception& wrong) {
        return {.number = asked.number, .error = wrong.what(), .has_thrown = true};
    }

  private:
    /// The image itself, or, where the device's own memory is copied faster and for sure before
    /// work on any stream begins, such memory, with what is given.
    std::byte* staged(int which, const std::byte* given) {
        if (!device_.overlaps_streams()) return memory_.image(used_);
        std::byte* const host = device_.host_memory(which, used_);
        if (given) std::memcpy(host, given, used_);
        return host;
    }

    std::byte* moved(std::uint64_t address) const {
        if (address == 0) return nullptr;
        const std::size_t region = apart_region(address);
        return begins_.at(region) + (address - told_begins_.at(region));
    }

    void describe(const ApartCall& asked) {
        std::vector<PlacedBuffer> buffers;
        for (const ApartCall::Buffer& one : asked.buffers)
            buffers.push_back({.name = one.name,
                               .begin = moved(one.begin),
                               .end = moved(one.end),
                               .element_bytes = one.element_bytes,
                               .is_input = one.is_input});
        device_.describe(buffers, static_cast<Poison>(asked.poison), asked.is_protected);
    }

    RunStatus run(const ApartCall& asked) {
        Problem problem(space_of(asked), asked.rank);
        for (std::size_t i = 0; i < asked.problem.size(); ++i)
            problem[static_cast<int>(i)] = asked.problem[i];
        std::vector<TensorView> tensors = asked.tensors;
        for (TensorView& tensor : tensors)
            tensor.data = moved(reinterpret_cast<std::uint64_t>(tensor.data));
        const PassCall call{.problem = problem,
                            .tensors = tensors,
                            .launch = {.stream = device_.stream(asked.own_stream),
                                       .block_size = asked.block_size,
                                       .output_mask = asked.output_mask,
                                       .workspace = moved(asked.workspace),
                                       .workspace_bytes = asked.workspace_bytes},
                            .names = asked.names,
                            .outputs = asked.outputs};
        const Setting setting{.order = static_cast<ThreadOrder>(asked.order),
                              .order_seed = asked.order_seed};
        const KernelDeclaration* const kernel = Registry::instance().find_declaration(
            asked.operator_name, asked.pass_name, asked.variant, asked.device);
        if (kernel == nullptr) throw std::runtime_error("the launcher process lacks the kernel");
        const ScopedProcessState state;
        const NotedLaunch launch;
        RunStatus status =
            device_.run(*kernel, call, setting, static_cast<DelayedStream>(asked.delayed));
        status.charge(restore_process());
        return status;
    }

    /// Kept, as to make one takes long.
    const ParameterSpace& space_of(const ApartCall& asked) {
        const auto found = spaces_.find(asked.space);
        if (found != spaces_.end()) return found->second;
        std::vector<ParameterSpec> parameters;
        const auto told = read_message<ApartSpace>(asked.space);
        for (const ApartSpace::Parameter& one : told.parameters) parameters.push_back(one.spec);
        return spaces_.try_emplace(asked.space, parameters, told.rank_min, told.rank_max)
            .first->second;
    }

    Device& device_;
    ApartMemory memory_;
    std::vector<std::byte*> begins_;
    std::vector<std::uint64_t> told_begins_;
    std::size_t used_ = 0;
    std::map<std::string, ParameterSpace> spaces_;
};

/// Whether there is somebody to take it.
bool tell(const ApartAnswer& answer) {
    const std::string message = message_of(answer);
    return write(apart_socket_fd, message.data(), message.size()) ==
           static_cast<ssize_t>(message.size());
}

}  // namespace

int serve_apart(std::string_view name) try {
    forbid_exec();
    if (!share_worker_note(apart_memory_fd)) {
        std::fprintf(stderr, "gradverify: launcher processes are started by gradverify itself\n");
        return exit_usage;
    }
    LauncherProcess process(device_named(name));
    std::string asked(std::size_t{1} << 18, '\0');
    bool goes_on = tell({});
    while (goes_on) {
        const ssize_t bytes = read(apart_socket_fd, asked.data(), asked.size());
        if (bytes <= 0) break;
        const ApartAnswer answer = process.answer(
            read_message<ApartCall>({asked.data(), static_cast<std::size_t>(bytes)}));
        goes_on = tell(answer);
        // Destructors would talk to the lost device.
        if (answer.device_lost) _exit(0);
    }
    return exit_ok;
} catch (const EnvironmentError& wrong) {
    tell({.error = wrong.what()});
    return exit_ok;
}

}  // namespace gradverify
