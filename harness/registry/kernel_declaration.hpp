// SPDX-License-Identifier: Apache-2.0
// Decides what a kernel says of itself: what it supports and what it promises, with defaults that
// fit ordinary CUDA code. Data only: the registry keeps it, the properties read it. Included by
// CUDA units.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/base/setters.hpp"
#include "harness/numbers/dtype.hpp"
#include "harness/problems/constraint.hpp"
#include "harness/registry/pass_call.hpp"

namespace gradverify {

/// Which stream orders the launcher's work: all of it one of the two, which ordinary code keeps to;
/// the given one; or the default one, and no other is ever given.
enum class StreamUse { given_or_default, given_only, default_stream };
/// Whether the outputs are written over or added to.
enum class WriteMode { overwrites, accumulates };
/// Whether two calls on the same buffers give the same bits.
enum class Determinism { bitwise, varies };
/// IEEE rounding for every operation, or the fast forms (`--use_fast_math`).
enum class Arithmetic { ieee, fast };

/// Two tensors of a pass that may be one buffer: the output is written over the input.
struct Alias {
    std::string output, input;
    /// The launcher knows no other way: the two are always one buffer.
    bool is_always = false;
};

/// The layouts that a kernel takes a tensor in.
struct LayoutSupport {
    std::string tensor;
    std::vector<std::string> orders;  ///< the first one by default
    bool any_strides = false;
};

/// What a launch costs beside its multiply-adds; the generator keeps problems under a budget.
struct LaunchCost {
    std::int64_t threads_per_output = 1;
    std::int64_t barriers_per_thread = 0;
    /// The threads of all blocks, where they don't follow the outputs: of a block for each row,
    /// say. Then `threads_per_output` says nothing.
    std::int64_t (*threads)(const Problem&) = nullptr;
};

/// One implementation of a pass on one device, as its registration declares it.
///
/// The setters return the declaration, so that a registration reads as one sentence.
class KernelDeclaration {
  public:
    using Thunk = void (*)(const PassCall&);
    using Predicate = bool (*)(const Problem&);
    using WorkspaceBytes = std::int64_t (*)(const Problem&);
    using WhyAbsent = std::string (*)();

    std::string operator_name, pass_name, variant;
    std::string device;  ///< "cuda", "cpu", or `checked_variant`
    std::string file;
    int line = 0;
    Thunk thunk = nullptr;

    std::vector<Constraint> constraints;
    std::vector<std::string> features;  ///< of the operator, that are supported
    std::optional<RankRange> ranks;     ///< of all problems
    Predicate predicate = nullptr;
    std::string predicate_text;
    WorkspaceBytes workspace_bytes = nullptr;
    std::vector<int> block_sizes;
    std::optional<DType> storage_type;                         ///< of all floating tensors
    std::vector<std::pair<std::string, DType>> storage_types;  ///< of tensors that are named
    std::optional<DType> accumulation_type;
    Arithmetic arithmetic = Arithmetic::ieee;
    std::optional<double> norm_wise_growth;
    bool saturates_results = false;
    bool uses_tensor_cores = false;
    std::int64_t base_alignment_bytes = 256;
    StreamUse stream_use = StreamUse::given_or_default;
    bool accepts_empty = false;
    bool accepts_invalid_indices = false;
    WriteMode write_mode = WriteMode::overwrites;
    Determinism determinism = Determinism::bitwise;
    std::vector<Alias> aliases;
    std::vector<LayoutSupport> layouts;
    bool takes_output_mask = false;
    LaunchCost launch_cost;
    bool may_refuse_problems = false;
    std::optional<std::int64_t> most_elements;
    WhyAbsent why_absent = nullptr;
    std::string yardstick_name;
    /// The registry has added what follows from what was left out.
    bool is_complete = false;

    /// The type that the kernel computes and sums in.
    DType accumulator() const;
    /// Integers up to 2^exact_bits() keep their value in the accumulator and in every tensor.
    int exact_bits() const;
    /// Tensor cores below double cut sums off where IEEE rounds them.
    bool truncates_sums() const { return uses_tensor_cores && accumulator() != DType::f64; }
    /// Whether factors that are stored as f32 are cut to tf32 when they are multiplied.
    bool multiplies_in_tf32() const;

    /// In how many ways outputs may lie where an input does: those of the output with most.
    int places() const;
    /// The input that an output is written over at a place from 1 on, or whatever the place is;
    /// null when the output has a buffer of its own.
    const Alias* alias_of(std::string_view output, int place) const;

    /// `conv.grad_weight/naive`
    std::string full_name() const { return operator_name + "." + pass_name + "/" + variant; }

    /// A condition on a parameter: `where("stride", equals(1))`.
    KernelDeclaration& where(std::string_view parameter, Condition condition) {
        condition.parameter = std::string(parameter);
        return add(constraints, std::move(condition));
    }
    /// The numbers of spatial axes that problems may have. Without this those that are usual for
    /// the operator: two for conv.
    KernelDeclaration& spatial_axes(int least, int most) {
        return set(ranks, RankRange{least, most});
    }
    /// A feature of the operator that ordinary kernels do without:
    /// `supports("asymmetric_padding")`.
    KernelDeclaration& supports(std::string_view feature) {
        return add(features, std::string(feature));
    }
    /// A condition that no constraint can express, and its text for `list`. Draws that it rejects
    /// are drawn again: express what you can as constraints.
    KernelDeclaration& only_if(std::string_view text, Predicate supported) {
        predicate_text = std::string(text);
        return set(predicate, supported);
    }
    /// Device memory that the launcher wants beside its tensors.
    KernelDeclaration& workspace(WorkspaceBytes bytes) { return set(workspace_bytes, bytes); }
    /// The block sizes that the launcher takes from `Launch::block_size`.
    KernelDeclaration& blocks_of(std::vector<int> threads) {
        return set(block_sizes, std::move(threads));
    }
    /// The element type of the floating tensors, their gradients and cotangents: f8e4m3, f8e5m2,
    /// f16, bf16, f32 or f64; without this what the operator declares, float. What the forward pass
    /// saves stays f32 where `dtype` is narrower. The launcher reads `call.x.as<const __half>()`.
    KernelDeclaration& storage(DType dtype) { return set(storage_type, dtype); }
    /// The same of one tensor, and of its gradient and cotangent where these are not named.
    KernelDeclaration& storage(std::string_view tensor, DType dtype) {
        return add(storage_types, {std::string(tensor), dtype});
    }
    /// The layout that the kernel takes a tensor in, and its gradient and cotangent where these are
    /// not named: `layout("x", "nhwc")`. Without this row-major, in the order of the sizes.
    KernelDeclaration& layout(std::string_view tensor, std::string_view order) {
        return add(layouts, {std::string(tensor), {std::string(order)}, false});
    }
    /// The same of a kernel that takes several, and tells them by `call.x.stride(1)`; all of them
    /// are drawn.
    KernelDeclaration& layout_of(std::string_view tensor, std::vector<std::string> orders) {
        return add(layouts, {std::string(tensor), std::move(orders), false});
    }
    /// The kernel takes the tensor by its strides, whatever they are: every layout that the
    /// operator names, rows that are padded, and of a cotangent axes of stride 0.
    KernelDeclaration& strided(std::string_view tensor) {
        return add(layouts, {std::string(tensor), {}, true});
    }
    /// The type that the kernel computes and sums in: f32, or f64 where all tensors are. A result
    /// is rounded to its tensor's type once, at the end.
    KernelDeclaration& accumulates_in(DType dtype) { return set(accumulation_type, dtype); }
    /// The kernel is compiled with fast math.
    KernelDeclaration& fast_math() { return set(arithmetic, Arithmetic::fast); }
    /// Products are formed and summed by tensor cores (wmma, mma, wgmma). A sum may be cut off at
    /// each addition where IEEE would round it; and factors that are stored as f32 are rounded, or
    /// cut, to tf32, whose integers are exact up to 2^11. Those of doubles are IEEE's.
    KernelDeclaration& on_tensor_cores() { return set(uses_tensor_cores, true); }
    /// The kernel works on transformed data, as Winograd's and Fourier's convolutions do: an
    /// element is not off by a share of its own terms but by one of the tensor's largest, and
    /// integers are not exact. An element's bound is then the largest of its tensor, were all
    /// inputs as large as their largest element, times `growth`, at least 1: what the transforms
    /// may make of magnitudes, the product of their matrices' largest row sums of absolute values;
    /// about 80 for Winograd's F(2x2, 3x3), 36,000 for F(4x4, 3x3).
    KernelDeclaration& norm_wise(double growth) { return set(norm_wise_growth, growth); }
    /// A result of 8 bits that is beyond its type's range, or infinite, is the type's largest or
    /// least number, as of CUDA's conversions. Without this it may be anything.
    KernelDeclaration& saturates() { return set(saturates_results, true); }
    /// The alignment that every tensor's first element must have; the default is cudaMalloc's.
    KernelDeclaration& aligned_to(std::int64_t bytes) { return set(base_alignment_bytes, bytes); }
    /// All work is ordered by the stream that the launcher is given. Without this, work that is all
    /// on the default stream passes as well.
    KernelDeclaration& on_given_stream() { return set(stream_use, StreamUse::given_only); }
    /// The launcher ignores the stream that it is given and uses the default one.
    KernelDeclaration& on_default_stream() { return set(stream_use, StreamUse::default_stream); }
    /// The launcher may be called with n = 0 and with an output of no elements.
    KernelDeclaration& with_empty_problems() { return set(accepts_empty, true); }
    /// The launcher may be given indices outside of their range; the operator says what they give.
    KernelDeclaration& with_invalid_indices() { return set(accepts_invalid_indices, true); }
    /// The outputs are added to, not written over.
    KernelDeclaration& adds_to_outputs() { return set(write_mode, WriteMode::accumulates); }
    /// The output may lie where the input does, and is then written over it; both ways are drawn,
    /// and each of several inputs.
    KernelDeclaration& in_place(std::string_view output, std::string_view input) {
        return add(aliases, {std::string(output), std::string(input), false});
    }
    /// The output always lies where the input does, as running statistics do.
    KernelDeclaration& updates(std::string_view output, std::string_view input) {
        return add(aliases, {std::string(output), std::string(input), true});
    }
    /// The launcher asks `Launch::output_mask` which outputs are wanted, and leaves the others
    /// alone; each subset is drawn.
    KernelDeclaration& takes_mask() { return set(takes_output_mask, true); }
    /// Two calls may differ in the last bits, as sums with atomics do.
    KernelDeclaration& not_deterministic() { return set(determinism, Determinism::varies); }
    /// The launcher calls a library that decides by itself which problems it takes, and throws
    /// NotSupported for the others. Such a case is skipped, and a row in which nine cases in ten
    /// are skipped is an error: declare all that is known.
    KernelDeclaration& may_refuse() { return set(may_refuse_problems, true); }
    /// The kernel needs something that a machine may lack, such as a library that is loaded when it
    /// is first used: a function that says why it is not here, empty when it is. Where it is not,
    /// there are no rows of the kernel, and `check` names it and the reason.
    KernelDeclaration& needs(WhyAbsent why) { return set(why_absent, why); }
    /// Kernels that everybody knows, such as a vendor's: `bench` says of the others how many times
    /// as long as the fastest of these they take. `yardstick("cuDNN")`.
    KernelDeclaration& yardstick(std::string_view name) {
        return set(yardstick_name, std::string(name));
    }
    /// No tensor has more elements than this, as where offsets are of 32 bits on purpose:
    /// `up_to_elements(INT32_MAX)`. Without this tensors may be as large as a device's memory.
    KernelDeclaration& up_to_elements(std::int64_t elements) {
        return set(most_elements, elements);
    }
    /// What several kernels say alike: `.with(declare_general)`.
    KernelDeclaration& with(void (*declare)(KernelDeclaration&)) {
        declare(*this);
        return *this;
    }
    /// What a launch costs beside its multiply-adds.
    KernelDeclaration& costs(LaunchCost cost) { return set(launch_cost, cost); }

  private:
    template <class T>
    KernelDeclaration& set(T& field, std::type_identity_t<T> value) {
        return detail::set(*this, field, std::move(value));
    }
    template <class T>
    KernelDeclaration& add(std::vector<T>& list, std::type_identity_t<T> element) {
        return detail::add(*this, list, std::move(element));
    }
};

}  // namespace gradverify
