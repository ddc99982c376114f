// SPDX-License-Identifier: Apache-2.0
// FlashAttention-2's backward in bfloat16 for heads of HEAD elements, with the buffers and
// parameters that its mha_bwd sets.
#include "harness/pass.hpp"
#include "harness/torch.hpp"

#include "flash.h"

#include <cmath>

#include <cutlass/numeric_types.h>

using Backward = gradverify::Pass<"attention", "backward">;

static std::int64_t rounded(std::int64_t size, std::int64_t to) {
    return (size + to - 1) / to * to;
}

template <int head, bool is_causal>
static void backward(const Backward& call) {
    flash::Flash_bwd_params params{};
    const auto set = [&](const char* name, auto& pointer, auto& batch, auto& row,
                         auto& head_stride) {
        const at::Tensor tensor = call.tensor(name).tensor();
        pointer = tensor.data_ptr();
        batch = tensor.stride(0), row = tensor.stride(1), head_stride = tensor.stride(2);
    };
#define SET(NAME, OF)                                                            \
    set(NAME, params.OF##_ptr, params.OF##_batch_stride, params.OF##_row_stride, \
        params.OF##_head_stride)
    SET("q", q), SET("k", k), SET("v", v), SET("o", o);
    SET("do", do), SET("dq", dq), SET("dk", dk), SET("dv", dv);
    params.softmax_lse_ptr = call.tensor("lse").tensor().data_ptr();
    params.is_bf16 = true;
    params.is_causal = is_causal;
    params.window_size_left = -1;
    params.window_size_right = is_causal ? 0 : -1;
    params.b = call.size("b"), params.h = params.h_k = call.size("h"), params.h_h_k_ratio = 1;
    params.seqlen_q = call.size("sq"), params.seqlen_k = call.size("sk"), params.d = call.size("d");
    params.seqlen_q_rounded = rounded(params.seqlen_q, 128);
    params.seqlen_k_rounded = rounded(params.seqlen_k, 128);
    params.d_rounded = rounded(params.d, 32);
    params.p_dropout = params.rp_dropout = 1.0f;
    params.p_dropout_in_uint8_t = 255;
    params.scale_softmax = static_cast<float>(1.0 / std::sqrt(params.d));
    params.scale_softmax_log2 = static_cast<float>(params.scale_softmax * M_LOG2E);
    params.scale_softmax_rp_dropout = params.scale_softmax;
    const auto floats = at::TensorOptions().dtype(at::kFloat).device(at::kCUDA);
    const at::Tensor sums = at::empty({params.b, params.h, params.seqlen_q_rounded}, floats);
    const at::Tensor dq =
        at::empty({params.b, params.seqlen_q_rounded, params.h, params.d_rounded}, floats);
    // Read without dropout, too.
    const at::Tensor random_state = at::zeros({2}, floats.dtype(at::kLong));
    params.rng_state = static_cast<std::uint64_t*>(random_state.data_ptr());
    params.dsoftmax_sum = sums.data_ptr();
    params.dq_accum_ptr = dq.data_ptr();
    flash::run_mha_bwd_<cutlass::bfloat16_t, head, is_causal>(params, call.launch.stream);
}

/// Head dimensions that fill the kernel's.
template <int head, bool is_causal>
static void declare(auto& kernel) {
    kernel.storage(gradverify::DType::bf16)
        .storage("lse", gradverify::DType::f32)
        .rounds("p", gradverify::DType::bf16)
        .rounds("ds", gradverify::DType::bf16)
        .on_tensor_cores()
        .not_deterministic()
        .where("b", gradverify::between(0, 65535))  // the grid's axes
        .where("h", gradverify::between(1, 65535))
        .where("d", gradverify::equals(head))
        .where("causal", gradverify::equals(is_causal));
}
#define REGISTER(NAME, ...) \
    GRADVERIFY_KERNEL(Backward, NAME, backward<__VA_ARGS__>).with(declare<__VA_ARGS__>);
REGISTER("flash_attention_2", HEAD, false)
REGISTER("flash_attention_2_causal", HEAD, true)
