// SPDX-License-Identifier: Apache-2.0
#include "harness/launch.hpp"

#include "harness/process_state.hpp"
#include "harness/worker_note.hpp"

namespace gradverify {

namespace {

bool lost = false;

std::int64_t offset_of(const Setting& setting, std::size_t buffer) {
    return buffer < setting.offsets.size() ? setting.offsets[buffer] : 0;
}

/// The buffers of a call: the pass's inputs and outputs, then the workspace if there is one.
std::vector<BufferSpec> buffers_of(const Call& call, const KernelDeclaration& declaration) {
    const PassSpec& pass = *call.kernel.pass;
    const Operator& op = *call.kernel.op;
    std::vector<BufferSpec> buffers;
    const auto add = [&](const std::string& name, BufferRole role) {
        buffers.push_back({.name = name,
                           .role = role,
                           .dtype = DType::f32,
                           .sizes = op.sizes_of(name, call.problem),
                           .offset = offset_of(call.setting, buffers.size()),
                           .alignment_bytes = declaration.base_alignment_bytes});
    };
    for (const std::string& name : pass.inputs) add(name, BufferRole::input);
    for (const std::string& name : pass.outputs) add(name, BufferRole::output);
    if (declaration.workspace_bytes)
        if (const std::int64_t bytes = declaration.workspace_bytes(call.problem); bytes > 0)
            buffers.push_back({.name = "workspace",
                               .role = BufferRole::workspace,
                               .dtype = DType::f32,
                               .sizes = {(bytes + 3) / 4}});
    return buffers;
}

int block_size_of(const Setting& setting, const KernelDeclaration& declaration) {
    if (setting.block_size != 0 || declaration.block_sizes.empty()) return setting.block_size;
    return declaration.block_sizes.front();
}

/// One call's buffers, filled, and the calls on them.
class Rig {
  public:
    explicit Rig(const Call& call)
        : call_(call),
          declaration_(*call.kernel.on(call.checked ? checked_variant : call.device.name())),
          arena_(call.device, buffers_of(call, declaration_), call.surroundings) {
        const std::size_t inputs = call.kernel.pass->inputs.size();
        for (std::size_t i = 0; i < inputs; ++i) arena_.write(i, call.inputs[i].data);
        for (std::size_t i = 0; i < call.initial_outputs.size(); ++i)
            arena_.write(inputs + i, call.initial_outputs[i].data);
    }

    void upload() { arena_.upload(); }

    CallResult run() {
        const PassSpec& pass = *call_.kernel.pass;
        std::vector<TensorView> views;
        for (std::size_t i = 0; i < pass.inputs.size() + pass.outputs.size(); ++i)
            views.push_back(arena_.view(i));
        PassCall pass_call{.problem = call_.problem, .tensors = views, .launch = {}};
        pass_call.launch.stream = call_.device.stream(call_.setting.own_stream);
        pass_call.launch.block_size = block_size_of(call_.setting, declaration_);
        if (arena_.buffers().size() > views.size()) {
            const TensorView workspace = arena_.view(views.size());
            pass_call.launch.workspace = workspace.data;
            pass_call.launch.workspace_bytes = declaration_.workspace_bytes(call_.problem);
        }
        RunStatus status = run_noted(pass_call);
        lost |= status.device_lost;
        CallResult result{.error = status.error, .seconds = status.seconds};
        result.findings = std::move(status.findings);
        result.accesses_checked = status.accesses_checked;
        if (status.ok()) collect(result);
        return result;
    }

  private:
    RunStatus run_noted(const PassCall& pass_call) {
        const ScopedProcessState state;
        const NotedLaunch launch;
        return call_.device.run(declaration_, pass_call, call_.setting, call_.surroundings.delayed);
    }

    void collect(CallResult& result) {
        arena_.download();
        const PassSpec& pass = *call_.kernel.pass;
        for (std::size_t i = 0; i < pass.outputs.size(); ++i) {
            const std::size_t buffer = pass.inputs.size() + i;
            const std::span<const std::byte> bits = arena_.bytes(buffer);
            result.outputs.push_back({arena_.buffers()[buffer].sizes, arena_.read(buffer)});
            result.output_bits.emplace_back(bits.begin(), bits.end());
            result.untouched.push_back(arena_.untouched(buffer));
        }
        for (const StrayWrite& stray : arena_.stray_writes())
            for (const BufferSpec& buffer : arena_.buffers())
                if (buffer.name == stray.buffer)
                    result.stray_writes.push_back(stray.print(element_count(buffer.sizes)));
    }

    const Call& call_;
    const KernelDeclaration& declaration_;
    Arena arena_;
};

}  // namespace

std::string CallResult::complaint() const {
    if (!error.empty()) return error;
    return stray_writes.empty() ? std::string() : stray_writes.front();
}

CallResult call_kernel(const Call& call) {
    Rig rig(call);
    rig.upload();
    return rig.run();
}

std::pair<CallResult, CallResult> call_kernel_twice(const Call& call) {
    Rig rig(call);
    rig.upload();
    CallResult first = rig.run();
    if (!first.ran()) return {first, first};
    if (call.kernel.on(call.device.name())->write_mode == WriteMode::accumulates) rig.upload();
    return {std::move(first), rig.run()};
}

bool device_was_lost() { return lost; }

}  // namespace gradverify
