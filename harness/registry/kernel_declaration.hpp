// SPDX-License-Identifier: Apache-2.0
// Decides what a kernel declares: what it supports and what it promises, with defaults that fit
// ordinary CUDA code. CUDA units include this file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/base/setters.hpp"
#include "harness/numbers/block_scaled.hpp"
#include "harness/numbers/dtype.hpp"
#include "harness/problems/constraint.hpp"
#include "harness/registry/pass_call.hpp"

namespace gradverify {

/// The stream that orders all of a launcher's work; with `default_stream` no other is ever given.
enum class StreamUse { given_or_default, given_only, default_stream };
/// Whether two calls on the same buffers give the same bits.
enum class Determinism { bitwise, varies };
/// IEEE rounding for every operation, or the fast forms (`--use_fast_math`).
enum class Arithmetic { ieee, fast };

/// How tensor cores multiply floats in pieces: the products of pieces that are summed for a product
/// of two floats, and the binary digits of a factor that its pieces keep.
struct SplitFactors {
    int products, digits;
};

/// Two tensors of a pass that may be one buffer: the output is written over the input.
struct Alias {
    std::string output, input;
    bool is_always = false;  ///< the two are always one buffer
};

/// The layouts that a kernel takes a tensor in.
struct LayoutSupport {
    std::string tensor;
    std::vector<std::string> orders;  ///< the first one by default
    bool any_strides = false;
};

/// The cost of a launch beside its multiply-adds; the generator keeps problems under a budget.
struct LaunchCost {
    std::int64_t threads_per_output = 1;
    std::int64_t barriers_per_thread = 0;
    /// The threads of all blocks where they don't follow the outputs, as with a block for each row.
    std::int64_t (*threads)(const Problem&) = nullptr;
};

/// One implementation of a pass on one device, as its registration declares it.
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
    std::string unit_flags;  ///< the file that says with what `file` was compiled; may be empty
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
    std::vector<std::string> rounded_stochastically;  ///< outputs
    bool uses_tensor_cores = false;
    std::optional<SplitFactors> split_factors;             ///< of tensor cores, where f32
    std::vector<std::pair<std::string, DType>> roundings;  ///< of numbers that references name
    std::int64_t base_alignment_bytes = 256;
    StreamUse stream_use = StreamUse::given_or_default;
    bool accepts_empty = false;
    bool accepts_invalid_indices = false;
    bool takes_finite_numbers_alone = false;
    bool adds_to_all = false;
    std::vector<std::string> padding_left, padding_open;  ///< outputs
    std::vector<std::string> added_to;                    ///< outputs
    std::vector<std::string> always_zero;                 ///< inputs
    Determinism determinism = Determinism::bitwise;
    std::vector<Alias> aliases;
    std::vector<LayoutSupport> layouts;
    bool takes_contiguous_cotangents = false;  ///< alone, and says so
    bool takes_output_mask = false;
    LaunchCost launch_cost;
    bool has_blocks_in_order = false;
    bool may_refuse_problems = false;
    bool keeps_host_threads = false;
    std::optional<std::int64_t> most_elements;
    WhyAbsent why_absent = nullptr;
    std::string yardstick_name;
    bool is_complete = false;  ///< the registry has added what holds for ordinary kernels
    std::vector<std::pair<std::string, BlockFormat>> block_formats;  ///< of inputs that are named

    /// The type that the kernel computes and sums in.
    DType accumulator() const;
    /// Tensor cores below double cut sums off where IEEE rounds them.
    bool truncates_sums() const { return uses_tensor_cores && accumulator() != DType::f64; }
    /// Whether some tensor is of f32, and may be a factor of tensor cores as it is stored.
    bool has_f32_factors() const;
    /// Whether factors that are stored as f32 are cut to tf32 when they are multiplied.
    bool multiplies_in_tf32() const;

    /// The number of inputs that one output may be written over, of the output with most.
    int places() const;
    /// The input that an output is written over at a place from 1 on, or always; null for none.
    const Alias* alias_of(std::string_view output, int place) const;

    std::int64_t workspace_at(const Problem& problem) const {
        return workspace_bytes ? workspace_bytes(problem) : 0;
    }
    /// The first of the block sizes; 0 when none is declared.
    int usual_block_size() const { return block_sizes.empty() ? 0 : block_sizes.front(); }

    /// `conv.grad_weight/naive`
    std::string full_name() const { return operator_name + "." + pass_name + "/" + variant; }

    /// A condition on a parameter: `where("stride", equals(1))`.
    KernelDeclaration& where(std::string_view parameter, Condition condition) {
        condition.parameter = std::string(parameter);
        return add(constraints, std::move(condition));
    }
    /// The numbers of spatial axes that problems may have; by default the usual ones, two for conv.
    KernelDeclaration& spatial_axes(int least, int most) {
        return set(ranks, RankRange{least, most});
    }
    /// A feature that ordinary kernels do without: `supports("asymmetric_padding")`.
    KernelDeclaration& supports(std::string_view feature) {
        return add(features, std::string(feature));
    }
    /// A condition that no constraint can express, and its text for `list`. Problems that it
    /// rejects are drawn again, so express what you can as constraints.
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
    /// f16, bf16, f32 or f64; by default float. Saved outputs of the forward pass stay f32 where
    /// `dtype` is narrower. The launcher reads `call.x.as<const __half>()`.
    KernelDeclaration& storage(DType dtype) { return set(storage_type, dtype); }
    /// The same for one tensor, and for its gradient and cotangent where these are not named.
    KernelDeclaration& storage(std::string_view tensor, DType dtype) {
        return add(storage_types, {std::string(tensor), dtype});
    }
    /// An input of the pass is stored as elements of few bits with a scale for each block of them
    /// along its innermost axis: `block_scaled("x", mxfp8)`, or mxfp8_e5m2, mxfp4, nvfp4. It comes
    /// as `tensor("x")` and `tensor("x_scales")`, whose innermost axis counts blocks.
    KernelDeclaration& block_scaled(std::string_view input, const BlockFormat& format) {
        return add(block_formats, {std::string(input), format});
    }
    /// The layout that the kernel takes a tensor in, and its gradient and cotangent where these are
    /// not named: `layout("x", "nhwc")`; by default row-major.
    KernelDeclaration& layout(std::string_view tensor, std::string_view order) {
        return add(layouts, {std::string(tensor), {std::string(order)}, false});
    }
    /// The same with several layouts, all drawn; the launcher looks at `call.x.stride(1)`.
    KernelDeclaration& layout_of(std::string_view tensor, std::vector<std::string> orders) {
        return add(layouts, {std::string(tensor), std::move(orders), false});
    }
    /// The kernel takes the tensor by its strides, whatever they are: every layout that the
    /// operator names, padded rows, and axes of stride 0 if it is a cotangent.
    KernelDeclaration& strided(std::string_view tensor) {
        return add(layouts, {std::string(tensor), {}, true});
    }
    /// Whoever calls the kernel makes this cotangent contiguous before. Without it a report says
    /// where a kernel of a gradient takes cotangents for contiguous.
    KernelDeclaration& contiguous(std::string_view cotangent) {
        return add(layouts, {std::string(cotangent), {}, false});
    }
    /// The same of every cotangent of the pass, which may have none.
    KernelDeclaration& contiguous() { return set(takes_contiguous_cotangents, true); }
    /// The type that the kernel computes and sums in; by default f32, or f64 where all tensors are.
    /// A result is rounded to its tensor's type once, at the end.
    KernelDeclaration& accumulates_in(DType dtype) { return set(accumulation_type, dtype); }
    /// The kernel is compiled with fast math.
    KernelDeclaration& fast_math() { return set(arithmetic, Arithmetic::fast); }
    /// Tensor cores multiply and sum (wmma, mma, wgmma). A sum may be cut off at each addition
    /// where IEEE would round it, and factors in f32 are rounded or cut to tf32, whose integers are
    /// exact up to 2^11. Arithmetic on doubles is IEEE's.
    KernelDeclaration& on_tensor_cores() { return set(uses_tensor_cores, true); }
    /// The same, but each factor in f32 is split into pieces that tensor cores take, as in 3xTF32
    /// (3 products, 21 digits, or 20 if pieces are cut) or with three bfloat16 (6 or 9, 24). Sums
    /// of integers are exact up to 2^digits, at most 2^23.
    KernelDeclaration& splits_factors(const SplitFactors& split) {
        uses_tensor_cores = true;
        return set(split_factors, split);
    }
    /// The kernel rounds a number that the forward function names by `call.rounds("p", value)`, or
    /// its cotangent, "dp", to nearest in this type; or one that the pass's own reference names.
    KernelDeclaration& rounds(std::string_view number, DType dtype) {
        return add(roundings, {std::string(number), dtype});
    }
    /// The kernel works on transformed data, as Winograd's and Fourier's convolutions do, so errors
    /// follow the tensor's largest element, and integers are not exact. An element's bound is the
    /// largest of its tensor, were all inputs as large as their largest element, times `growth`, at
    /// least 1: the product of the transform matrices' largest row sums of absolute values, about
    /// 80 for Winograd's F(2x2, 3x3), 36,000 for F(4x4, 3x3).
    KernelDeclaration& norm_wise(double growth) { return set(norm_wise_growth, growth); }
    /// A result of 8 bits beyond its type's range becomes the type's largest or least number, as in
    /// CUDA's conversions. Without this it may be anything.
    KernelDeclaration& saturates() { return set(saturates_results, true); }
    /// A result is rounded to this output's type upwards or downwards at random, not to nearest; a
    /// number of the type stays what it is. Where two calls may differ, say not_deterministic().
    KernelDeclaration& rounds_stochastically(std::string_view output) {
        return add(rounded_stochastically, std::string(output));
    }
    /// The alignment that every tensor's first element must have; the default is cudaMalloc's.
    KernelDeclaration& aligned_to(std::int64_t bytes) { return set(base_alignment_bytes, bytes); }
    /// The given stream orders all work. Without this, all work may be on the default stream, too.
    KernelDeclaration& on_given_stream() { return set(stream_use, StreamUse::given_only); }
    /// The launcher ignores the stream that it is given and uses the default one.
    KernelDeclaration& on_default_stream() { return set(stream_use, StreamUse::default_stream); }
    /// The launcher may be called with n = 0 and with an output of no elements.
    KernelDeclaration& with_empty_problems() { return set(accepts_empty, true); }
    /// The launcher may be given indices out of range; the operator defines their results.
    KernelDeclaration& with_invalid_indices() { return set(accepts_invalid_indices, true); }
    /// What follows of NaN and infinities is left open, where the operator defines it.
    KernelDeclaration& finite_numbers_alone() { return set(takes_finite_numbers_alone, true); }
    /// The outputs are added to, not written over.
    KernelDeclaration& adds_to_outputs() { return set(adds_to_all, true); }
    /// This output is added to; others are written over.
    KernelDeclaration& adds_to(std::string_view output) {
        return add(added_to, std::string(output));
    }
    bool is_added_to(std::string_view output) const {
        return adds_to_all || std::ranges::find(added_to, output) != added_to.end();
    }
    bool adds_to_some() const { return adds_to_all || !added_to.empty(); }
    /// Behind the rows that are used this output stays as it was; by default it is zero there.
    KernelDeclaration& leaves_padding(std::string_view output) {
        return add(padding_left, std::string(output));
    }
    /// Behind the rows that are used this output may be anything.
    KernelDeclaration& any_padding(std::string_view output) {
        return add(padding_open, std::string(output));
    }
    /// The kernel does not read this input, as a convolution without a bias: it holds zeros.
    KernelDeclaration& without(std::string_view input) {
        return add(always_zero, std::string(input));
    }
    /// The output may be written over the input; both ways are drawn, and each of several inputs.
    KernelDeclaration& in_place(std::string_view output, std::string_view input) {
        return add(aliases, {std::string(output), std::string(input), false});
    }
    /// The output is always written over the input, as running statistics are.
    KernelDeclaration& updates(std::string_view output, std::string_view input) {
        return add(aliases, {std::string(output), std::string(input), true});
    }
    /// The launcher writes only the outputs in `Launch::output_mask`; each subset is drawn.
    KernelDeclaration& takes_mask() { return set(takes_output_mask, true); }
    /// Two calls may differ in the last bits, as sums with atomics do.
    KernelDeclaration& not_deterministic() { return set(determinism, Determinism::varies); }
    /// The launcher calls a library that decides which problems it takes, and throws NotSupported
    /// for the others. Such a case is skipped, but a row that skips nine cases in ten is an error.
    KernelDeclaration& may_refuse() { return set(may_refuse_problems, true); }
    /// A block may wait for blocks of a lower index, as look-back scans do: a GPU begins them
    /// first, although CUDA does not promise it.
    KernelDeclaration& blocks_begin_in_order() { return set(has_blocks_in_order, true); }
    /// The launcher keeps host threads from call to call, such as a pool. Without this one that is
    /// left running on the device cpu is a failure: it may write when the call is over.
    KernelDeclaration& keeps_threads() { return set(keeps_host_threads, true); }
    /// The kernel needs something that a machine may lack, such as a library that is loaded at the
    /// first use. The function says why it is absent, empty when it is not. Where it is, the kernel
    /// has no rows, and `check` names it and the reason.
    KernelDeclaration& needs(WhyAbsent why) { return set(why_absent, why); }
    /// A well-known kernel, such as a vendor's: `yardstick("cuDNN")`. `bench` says how many times
    /// as long as the fastest of these the others take.
    KernelDeclaration& yardstick(std::string_view name) {
        return set(yardstick_name, std::string(name));
    }
    /// No tensor may have more elements than this, as where offsets are of 32 bits on purpose:
    /// `up_to_elements(INT32_MAX)`. By default tensors may be as large as a device's memory.
    KernelDeclaration& up_to_elements(std::int64_t elements) {
        return set(most_elements, elements);
    }
    /// Declarations that several kernels share: `.with(declare_general)`.
    KernelDeclaration& with(void (*declare)(KernelDeclaration&)) {
        declare(*this);
        return *this;
    }
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

#define GRADVERIFY_DETAIL_JOIN2(a, b) a##b
#define GRADVERIFY_DETAIL_JOIN(a, b) GRADVERIFY_DETAIL_JOIN2(a, b)
