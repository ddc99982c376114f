// SPDX-License-Identifier: Apache-2.0
#include "harness/devices/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "harness/base/errors.hpp"
#include "harness/devices/call_note.hpp"
#include "harness/devices/leftovers.hpp"
#include "harness/devices/process_state.hpp"
#include "harness/numbers/element_bits.hpp"
#include "harness/operators/padding.hpp"
#include "harness/registry/element_types.hpp"
#include "harness/registry/layout.hpp"

namespace gradverify {

namespace {

bool was_lost = false;
std::string left_by_launchers;  ///< as a clause

/// Noted so that a death is charged to the launcher.
RunStatus run_noted(Device& device, const KernelDeclaration& kernel, const PassCall& call,
                    const Setting& setting, DelayedStream delayed) {
    const ScopedProcessState state;
    const NotedLaunch launch;
    RunStatus status = device.run(kernel, call, setting, delayed);
    was_lost |= status.device_lost;
    return status;
}

/// The input that this call writes an output over; nothing when the output has its own buffer.
std::optional<std::size_t> written_over(const Call& call, const KernelDeclaration& declaration,
                                        const std::string& output) {
    const Alias* const alias = declaration.alias_of(output, call.setting.place);
    if (!alias) return std::nullopt;
    const auto& inputs = call.kernel.pass->inputs;
    return static_cast<std::size_t>(std::ranges::find(inputs, alias->input) - inputs.begin());
}

int block_size_of(const KernelDeclaration& kernel, const Setting& setting) {
    return setting.block_size != 0 ? setting.block_size : kernel.usual_block_size();
}

/// The buffers of a call, and the one that each tensor of the pass lies in.
struct Buffers {
    /// The inputs, the scales of their blocks, the outputs that lie over none, any workspace.
    std::vector<BufferSpec> buffers;
    std::vector<std::size_t> buffer_of;  ///< inputs, then outputs
    /// An input that has scales for its blocks.
    struct Scaled {
        std::size_t input, scales;  ///< buffers
        BlockFormat format;
    };
    std::vector<Scaled> scaled;
    bool has_workspace = false;

    Buffers(const Call& call, const KernelDeclaration& declaration) {
        const PassSpec& pass = *call.kernel.pass;
        const std::vector<int>& offsets = call.setting.offsets;
        const auto add = [&](const std::string& name, BufferRole role) {
            Sizes sizes = call.kernel.op->sizes_of(name, call.problem);
            Strides strides =
                strides_of(*call.kernel.op, declaration, name, sizes, call.setting.layout_of(name));
            buffers.push_back(
                {.name = name,
                 .role = role,
                 .dtype = dtype_of(declaration, *call.kernel.op, name),
                 .sizes = std::move(sizes),
                 .strides = std::move(strides),
                 .offset = buffer_of.size() < offsets.size() ? offsets[buffer_of.size()] : 0,
                 .alignment_bytes = declaration.base_alignment_bytes});
            buffer_of.push_back(buffers.size() - 1);
        };
        for (const std::string& name : pass.inputs) add(name, BufferRole::input);
        for (std::size_t i = 0; i < pass.inputs.size(); ++i)
            if (const auto format = block_format_of(declaration, pass.inputs[i]))
                add_scales(i, *format);
        for (std::size_t i = 0; i < pass.outputs.size(); ++i) {
            const BufferRole role =
                call.setting.asks_for(i) ? BufferRole::output : BufferRole::unwanted;
            if (const auto input = written_over(call, declaration, pass.outputs[i])) {
                if (role == BufferRole::output) buffers[*input].role = role;
                buffer_of.push_back(*input);
            } else {
                add(pass.outputs[i], role);
            }
        }
        if (const std::int64_t bytes = declaration.workspace_at(call.problem); bytes > 0) {
            has_workspace = true;
            buffers.push_back({.name = "workspace",
                               .role = BufferRole::workspace,
                               .dtype = DType::f32,
                               .sizes = {(bytes + 3) / 4}});
        }
    }

    /// What a launcher is given, in the order of tensors_of_call().
    std::vector<TensorView> views(const Arena& arena, std::size_t inputs) const {
        std::vector<TensorView> all;
        for (const std::size_t buffer : buffer_of) all.push_back(arena.view(buffer));
        for (const Scaled& one : scaled)
            if (one.format.element == DType::f4e2m1) {
                TensorView& view = all[one.input];
                view = view_of(view.data, DType::f4e2m1, element_sizes_[one.input],
                               strides_in_bytes(element_sizes_[one.input]));
            }
        for (std::size_t i = 0; i < scaled.size(); ++i)
            all.insert(all.begin() + static_cast<std::ptrdiff_t>(inputs + i),
                       arena.view(scaled[i].scales));
        return all;
    }

    /// Writes an input as it is stored.
    void write(Arena& arena, std::size_t input, const std::vector<double>& values) const {
        const auto one = std::ranges::find(scaled, input, &Scaled::input);
        if (one == scaled.end()) return arena.write(input, values);
        const std::int64_t row = row_length(element_sizes_[input]);
        const auto stored = encoded(one->format, values, row);
        if (!stored)
            throw std::logic_error(fmt::format("{} holds numbers that are none of {}",
                                               buffers[input].name, one->format.name));
        arena.write(input, one->format.element == DType::f4e2m1 ? packed(stored->elements, row)
                                                                : stored->elements);
        arena.write(one->scales, stored->scales);
    }

  private:
    /// Two elements lie in a byte, and rows begin with one.
    static Sizes sizes_in_bytes(Sizes sizes) {
        if (!sizes.empty()) sizes.back() = (sizes.back() + 1) / 2;
        return sizes;
    }
    static Strides strides_in_bytes(const Sizes& elements) {
        Strides strides = row_major_strides(sizes_in_bytes(elements));
        for (std::size_t axis = 0; axis + 1 < strides.size(); ++axis) strides[axis] *= 2;
        return strides;
    }

    void add_scales(std::size_t input, const BlockFormat& format) {
        BufferSpec& elements = buffers[input];
        element_sizes_.resize(buffers.size());
        element_sizes_[input] = elements.sizes;
        BufferSpec scales = elements;
        scales.name = scales_of(elements.name);
        scales.dtype = format.scale;
        scales.strides.clear();
        if (!scales.sizes.empty()) scales.sizes.back() = format.blocks_in(scales.sizes.back());
        if (format.element == DType::f4e2m1) {
            elements.dtype = DType::u8;
            elements.sizes = sizes_in_bytes(elements.sizes);
            elements.strides.clear();
        }
        scaled.push_back({input, buffers.size(), format});
        buffers.push_back(std::move(scales));
    }

    std::vector<Sizes> element_sizes_;  ///< of the inputs that have scales
};

/// Which elements of a tensor lie behind the rows that are used; empty where all are, or the pass
/// does not take the lengths.
std::vector<bool> padding_in(const Call& call, const std::string& tensor) {
    const Lengths& lengths = call.kernel.op->tensor_named(tensor).lengths;
    const auto& inputs = call.kernel.pass->inputs;
    const auto at = std::ranges::find(inputs, lengths.tensor);
    if (at == inputs.end()) return {};
    return padding_of(call.kernel.op->sizes_of(tensor, call.problem),
                      call.inputs[static_cast<std::size_t>(at - inputs.begin())], lengths.axis);
}

/// An input with what must not be read: poison, or by turns the plausible numbers that it has.
std::vector<double> with_padding(const Call& call, std::size_t input, DType dtype) {
    std::vector<double> values = call.inputs[input].data;
    const Surroundings& around = call.surroundings;
    if (around.poison == Poison::nan && around.guard_parity == 1) return values;
    const auto padding = padding_in(call, call.kernel.pass->inputs[input]);
    for (std::size_t i = 0; i < padding.size(); ++i)
        if (padding[i]) values[i] = poison_value(dtype, around.poison);
    return values;
}

CallResult lost_before(const Call& call, const RunStatus& status) {
    return {.error = status.error + " in the call before, on " + call.before->problem.print()};
}

/// One call's buffers, filled and uploaded, and the calls on them.
class Rig {
  public:
    explicit Rig(const Call& call)
        : call_(call),
          declaration_(*call.kernel.on(call.checked ? checked_variant : call.device.name())),
          buffers_(call, declaration_),
          arena_(call.device, buffers_.buffers, call.surroundings),
          names_(tensors_of_call(declaration_, *call.kernel.pass)),
          tensors_(buffers_.views(arena_, call.kernel.pass->inputs.size())) {
        const std::size_t inputs = call.kernel.pass->inputs.size();
        for (std::size_t i = 0; i < inputs; ++i)
            buffers_.write(arena_, i, with_padding(call, i, buffers_.buffers[i].dtype));
        for (std::size_t i = 0; i < call.initial_outputs.size(); ++i)
            if (!call.initial_outputs[i].data.empty())
                arena_.write(buffers_.buffer_of[inputs + i], call.initial_outputs[i].data);
        upload();
    }

    void upload() { arena_.upload(); }

    RunStatus launch() {
        return run_noted(call_.device, declaration_, pass_call(), call_.setting,
                         call_.surroundings.delayed);
    }

    CallResult run() {
        RunStatus status = launch();
        if (status.lost_before) return lost_before(call_, status);
        if (status.not_served) throw NotServed(status.error, status.is_refusal);
        CallResult result{.error = status.error,
                          .unordered = std::move(status.unordered),
                          .seconds = status.seconds,
                          .findings = std::move(status.findings),
                          .accesses_checked = status.accesses_checked};
        if (status.ok()) collect(result);
        return result;
    }

    Timing time(TimingOptions options) {
        options.bytes = bytes_of(tensors_);
        const ScopedProcessState state;
        const NotedLaunch launch;
        Timing timing = call_.device.time(declaration_, pass_call(), call_.setting, options);
        was_lost |= timing.device_lost;
        if (timing.not_served) throw NotServed(timing.error, timing.is_refusal);
        timing.tensors = tensors_;
        return timing;
    }

  private:
    PassCall pass_call() const {
        void* const workspace =
            buffers_.has_workspace ? arena_.view(buffers_.buffers.size() - 1).data : nullptr;
        return {.problem = call_.problem,
                .tensors = tensors_,
                .launch =
                    launch_of(call_.device, declaration_, call_.problem, call_.setting, workspace),
                .names = names_,
                .outputs = call_.kernel.pass->outputs.size()};
    }

    void collect(CallResult& result) {
        arena_.download();
        const PassSpec& pass = *call_.kernel.pass;
        for (std::size_t i = 0; i < pass.outputs.size(); ++i) {
            const std::size_t buffer = buffers_.buffer_of[pass.inputs.size() + i];
            std::vector<std::int64_t> untouched = arena_.untouched(buffer);
            if (call_.setting.asks_for(i)) release_padding(i, buffer, untouched, result);
            const std::span<const std::byte> bits = arena_.bytes(buffer);
            const BufferSpec& spec = buffers_.buffers[buffer];
            result.outputs.push_back({spec.sizes, arena_.read(buffer)});
            result.output_types.push_back(spec.dtype);
            result.output_bits.emplace_back(bits.begin(), bits.end());
            // Written over an input, an element may keep its value and be right.
            const bool was_poisoned = buffer >= pass.inputs.size() && call_.setting.asks_for(i);
            result.untouched.push_back(was_poisoned ? std::move(untouched)
                                                    : std::vector<std::int64_t>());
        }
        if (buffers_.has_workspace && call_.surroundings.scratch) {
            const std::size_t workspace = buffers_.buffers.size() - 1;
            result.workspace_words = element_count(buffers_.buffers[workspace].sizes);
            result.workspace_untouched = std::ssize(arena_.untouched(workspace));
        }
        std::ranges::move(arena_.stray_writes(), std::back_inserter(result.stray_writes));
    }

    /// The padding of an output that the kernel leaves, or may fill with anything, is no result.
    void release_padding(std::size_t output, std::size_t buffer,
                         std::vector<std::int64_t>& untouched, CallResult& result) {
        const std::string& name = call_.kernel.pass->outputs[output];
        const bool is_left = std::ranges::count(declaration_.padding_left, name) > 0;
        const bool is_open = std::ranges::count(declaration_.padding_open, name) > 0;
        if (!is_left && !is_open) return;
        const auto padding = padding_in(call_, name);
        const auto is_padding = [&](std::int64_t element) {
            return !padding.empty() && padding[static_cast<std::size_t>(element)];
        };
        const auto left = std::ranges::count_if(untouched, is_padding);
        const auto all = std::ranges::count(padding, true);
        if (is_left && left < all)
            result.stray_writes.push_back(fmt::format(
                "wrote {} element{} of {} behind the rows that are used, which stay as they were",
                all - left, all - left == 1 ? "" : "s", name));
        std::erase_if(untouched, is_padding);
        if (!declaration_.is_added_to(name)) arena_.clear(buffer, padding);
    }

    const Call& call_;
    const KernelDeclaration& declaration_;
    const Buffers buffers_;
    Arena arena_;
    const std::vector<std::string> names_;
    std::vector<TensorView> tensors_;
};

std::vector<double> stored(DType dtype, std::vector<double> values) {
    for (double& value : values) value = rounded_to(dtype, value);
    return values;
}

GivenTensor given_tensor(const BufferSpec& spec) {
    return {.name = spec.name,
            .dtype = spec.dtype,
            .sizes = spec.sizes,
            .strides = spec.strides.empty() ? row_major_strides(spec.sizes) : spec.strides,
            .offset = spec.offset,
            .alignment_bytes = spec.alignment_bytes};
}

GivenCall given_in_one(const Call& call) {
    const KernelDeclaration& declaration = *call.kernel.on(call.device.name());
    const Buffers placed(call, declaration);
    const std::vector<std::string> names = call.kernel.pass->tensors();
    const std::size_t inputs = call.kernel.pass->inputs.size();
    GivenCall given{.problem = call.problem,
                    .outputs = call.kernel.pass->outputs.size(),
                    .block_size = block_size_of(declaration, call.setting),
                    .output_mask = call.setting.output_mask,
                    .own_stream = call.setting.own_stream,
                    .workspace_bytes = declaration.workspace_at(call.problem)};
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::size_t buffer = placed.buffer_of[i];
        const BufferSpec& spec = placed.buffers[buffer];
        GivenTensor tensor = given_tensor(spec);
        tensor.name = names[i];
        if (i < inputs)
            tensor.values = stored(spec.dtype, with_padding(call, i, spec.dtype));
        else if (i - inputs < call.initial_outputs.size())
            tensor.values = stored(spec.dtype, call.initial_outputs[i - inputs].data);
        if (i >= inputs && buffer < inputs) tensor.lies_in = buffer;
        given.tensors.push_back(std::move(tensor));
    }
    for (std::size_t i = 0; i < placed.scaled.size(); ++i) {
        const auto& [input, scales, format] = placed.scaled[i];
        if (format.element == DType::f4e2m1)
            throw UsageError(
                fmt::format("{} has two elements in a byte, which an exported case "
                            "can't list; give one of a kernel with wider elements",
                            names[input]));
        auto stored =
            encoded(format, call.inputs[input].data, row_length(call.inputs[input].sizes));
        given.tensors[input].values = std::move(stored.value().elements);
        GivenTensor tensor = given_tensor(placed.buffers[scales]);
        tensor.values = std::move(stored->scales);
        given.tensors.insert(given.tensors.begin() + static_cast<std::ptrdiff_t>(inputs + i),
                             std::move(tensor));
    }
    return given;
}

RunStatus run_before(const Call& call) {
    if (!call.before) return {};
    worker_note().in_call_before = true;
    RunStatus status = Rig(*call.before).launch();
    worker_note().in_call_before = false;
    return status;
}

}  // namespace

GivenCalls given_in(const Call& call) {
    GivenCalls given{.before = {}, .call = given_in_one(call)};
    if (call.before) given.before = given_in_one(*call.before);
    return given;
}

Launch launch_of(Device& device, const KernelDeclaration& kernel, const Problem& problem,
                 const Setting& setting, void* workspace) {
    return {.stream = device.stream(setting.own_stream),
            .block_size = block_size_of(kernel, setting),
            .output_mask = setting.output_mask,
            .workspace = workspace,
            .workspace_bytes = kernel.workspace_at(problem)};
}

RunStatus run_launcher(Device& device, const KernelDeclaration& kernel, const PassCall& call,
                       const Setting& setting, DelayedStream delayed) {
    RunStatus status = run_noted(device, kernel, call, setting, delayed);
    if (status.not_served) throw NotServed(status.error, status.is_refusal);
    return status;
}

std::string CallResult::complaint() const {
    if (!error.empty()) return error;
    return stray_writes.empty() ? std::string() : stray_writes.front();
}

CallResult call_kernel(const Call& call) {
    call.device.begin({.has_before = call.before != nullptr});
    const RunStatus before = run_before(call);
    if (before.device_lost) return lost_before(call, before);
    CallResult result = Rig(call).run();
    result.seconds += before.seconds;
    return result;
}

std::pair<CallResult, CallResult> call_kernel_twice(const Call& call) {
    const KernelDeclaration& declaration = *call.kernel.on(call.device.name());
    const bool uploads_again = declaration.adds_to_some() || !declaration.aliases.empty();
    call.device.begin({.has_before = call.before != nullptr,
                       .is_repeated = true,
                       .uploads_again = uploads_again});
    const RunStatus before = run_before(call);
    if (before.device_lost) return {lost_before(call, before), lost_before(call, before)};
    Rig rig(call);
    CallResult first = rig.run();
    first.seconds += before.seconds;
    if (!first.ran()) return {first, first};
    if (uploads_again) rig.upload();
    return {std::move(first), rig.run()};
}

Timing time_kernel(const Call& call, TimingOptions options) { return Rig(call).time(options); }

bool device_was_lost() { return was_lost; }

bool note_left() {
    std::string found = restore_process();
    if (found.empty()) return false;
    was_lost = true;
    if (left_by_launchers.empty()) left_by_launchers = std::move(found);
    return true;
}

std::string take_left() {
    note_left();
    return std::exchange(left_by_launchers, {});
}

}  // namespace gradverify
