// SPDX-License-Identifier: Apache-2.0
// The seeded bugs by subject: which property must kill each, and at which problem.
#pragma once

#include <string_view>
#include <vector>

namespace gradverify {

struct SeededBug {
    std::string_view kernel;
    std::string_view property;
    std::string_view smallest;     ///< known by thinking, not by running
    std::string_view device = "";  ///< the only one that can see it; "": each
    bool certified = true;         ///< all smaller problems can be run
};

// a01 to a19 are from a list of bugs that shipped, with the smallest problem that shows each.
constexpr SeededBug seeded_bugs[] = {
    {"conv.forward/bug_a01_swapped_extents", "matches_reference", "in=1x2"},
    {"conv.forward/bug_a02_dilated_position", "matches_reference", "in=1x2,dilation=1x2"},
    {"conv.grad_weight/bug_a02_dilated_position", "matches_reference", "in=1x2,dilation=1x2"},
    {"conv.grad_input/bug_a03_remainder_unwritten", "stays_in_bounds", "in=1x2,stride=1x2"},
    {"conv.grad_input/bug_a04_group_weight_offset", "matches_finite_differences",
     "c=2,k=2,groups=2,in=1x1"},
    {"conv.grad_input/bug_a04_group_weight_offset", "adjoint_identity", "c=2,k=2,groups=2,in=1x1"},
    {"conv.grad_weight/bug_a05_bottom_edge", "stays_in_bounds", "in=1x1,padding=1x0"},
    {"conv.grad_weight/bug_a06_accumulates", "matches_reference", "in=1x1"},
    {"conv.grad_weight/bug_a06_accumulates", "repeatable", "in=1x1"},
    {"conv.grad_bias/bug_a07_next_channel", "within_rounding_bound", "k=2,in=1x1"},
    {"conv.grad_bias/bug_a07_next_channel", "matches_reference", "k=2,in=1x1"},
    {"conv.grad_bias/bug_a16_last_warp", "free_of_races", "in=1x1"},
    // Without samples the grid has no rows; otherwise it has 65535 rows at most.
    {"conv.forward/bug_a17_grid_of_samples", "matches_reference", "n=0,in=1x1"},
    {"conv.forward/bug_a17_grid_of_many_samples", "matches_reference", "n=65536,in=1x1", "", false},
    // Four pixels: 2x2 is nearer than 1x4.
    {"conv.grad_bias/bug_a19_float4", "free_of_races", "in=2x2", "cpu"},
    {"conv.grad_bias/bug_a19_float4", "repeatable", "in=2x2", "cuda"},
    // The unmapped page shows it; on cuda only compute-sanitizer does.
    {"conv.grad_bias/bug_read_ahead", "stays_in_bounds", "in=1x1", "cpu"},
    {"conv.grad_bias/bug_read_ahead", "matches_reference", "in=1x1", "cpu"},
    // The scratch is used again for the second sample.
    {"conv.grad_bias/bug_scratch_used_again", "free_of_races", "n=2,in=1x1"},
    {"conv.grad_bias/bug_return_before_barrier", "free_of_races", "in=1x1"},
    // Three channels are a pair and one more.
    {"conv.forward/bug_unroll_bound", "matches_reference", "c=3,in=1x1"},
    // Element 2 of 96 is lost; padding makes three pixels of one.
    {"conv.grad_bias/bug_halved_block", "matches_reference", "in=1x1,padding=0x1"},
    {"conv.grad_bias/bug_halved_block", "repeatable", "in=1x1,padding=0x1"},
    {"conv.grad_bias/bug_first_stage_on_default_stream", "repeatable", "in=1x1"},
    {"conv.grad_bias/bug_last_stage_on_default_stream", "repeatable", "in=1x1"},
    // On cuda all work has ended before anything is looked at.
    {"conv.grad_bias/bug_ignores_given_stream", "repeatable", "in=1x1", "cpu"},
    {"conv.grad_bias/bug_left_on_own_stream", "repeatable", "in=1x1", "cpu"},
    {"conv.grad_bias/bug_stages_on_two_streams", "free_of_races", "in=1x1", "cpu"},
    {"maxpool.forward/bug_a08_starts_at_zero", "matches_reference", "in=1x1"},
    {"maxpool.grad_input/bug_a09_overwrites", "matches_reference", "in=1x1,window=1x2,padding=0x1"},
    {"avgpool.grad_input/bug_a10_whole_window", "matches_reference",
     "in=1x1,window=1x2,padding=0x1"},
    {"avgpool.grad_input/bug_a10_whole_window", "adjoint_identity",
     "in=1x1,window=1x2,padding=0x1"},
    {"relu.grad_input/bug_a11_two_passes", "matches_reference", "n=1"},
    // At zero, and at NaN.
    {"relu.grad_input/bug_mask_from_zero", "matches_reference", "n=1"},
    {"relu.forward/bug_loses_nan", "matches_reference", "n=1"},
    {"relu.forward/bug_float4_by_length", "free_of_races", "n=4", "cpu"},
    {"relu.forward/bug_float4_by_length", "repeatable", "n=4", "cuda"},
    {"maxpool.forward/bug_skips_nan", "within_rounding_bound", "in=1x1"},
    {"maxpool.forward/bug_index_in_window", "matches_reference", "in=1x2"},
    {"maxpool.forward/bug_index_in_tensor", "matches_reference", "c=2,in=1x1"},
    {"maxpool.forward/bug_last_of_ties", "matches_reference", "in=1x2,window=1x2"},
    {"maxpool.grad_input/bug_not_cleared", "stays_in_bounds", "in=1x1"},
    {"avgpool.forward/bug_whole_window_in_ceil_mode", "matches_reference",
     "in=1x1,window=1x2,stride=1x2,include_pad=1,ceil=1"},
    // It takes a second window along one axis, and another stride along the other.
    {"avgpool.grad_input/bug_swapped_strides", "matches_finite_differences", "in=1x2,stride=2x1"},
    // Shown by reads past the end of x and w, or by value where a next row is read.
    {"fc.forward/bug_a12_tail_of_tile", "stays_in_bounds", "n=1"},
    {"fc.forward/bug_a12_tail_of_tile", "matches_reference", "n=1"},
    {"fc.forward/bug_a12_tail_within_buffer", "matches_reference", "n=2,k=2"},
    // Nine terms take two tiles of eight.
    {"fc.forward/bug_bias_of_each_tile", "matches_reference", "n=1,c=9"},
    {"fc.forward/bug_no_barrier_after_tile", "free_of_races", "n=1,c=9"},
    {"fc.grad_input/bug_square_weights", "matches_reference", "n=1,k=2"},
    {"fc.grad_weight/bug_transposed", "matches_reference", "n=1,c=2,k=2"},
    {"fc.grad_weight/bug_transposed", "matches_finite_differences", "n=1,c=2,k=2"},
    {"fc.grad_bias/bug_one_round", "matches_reference", "n=9"},
    // A single class has the probability 1, and no gradient.
    {"softmax_cross_entropy.backward/bug_a13_no_upstream", "within_rounding_bound", "n=1,v=2"},
    {"softmax_cross_entropy.backward/bug_a13_no_upstream", "matches_finite_differences", "n=1,v=2"},
    {"softmax_cross_entropy.backward/bug_no_mean", "within_rounding_bound", "n=2,v=2"},
    {"softmax_cross_entropy.backward/bug_first_label", "within_rounding_bound", "n=2,v=2"},
    // One class, and its logit too large, or too small, for exp in a float.
    {"softmax_cross_entropy.forward/bug_no_largest", "within_rounding_bound", "n=1"},
    {"softmax_cross_entropy.forward/bug_largest_from_zero", "within_rounding_bound", "n=1"},
    {"softmax_cross_entropy.forward/bug_loss_of_probs", "within_rounding_bound", "n=1,v=2"},
    {"softmax_cross_entropy.forward/bug_label_unchecked", "free_of_races", "n=1"},
    {"softmax_cross_entropy.backward/bug_label_unchecked", "within_rounding_bound", "n=1"},
    // The first sample is right.
    {"lenet5_logits.backward/bug_a20_first_sample", "matches_reference", "n=2,in=1x1"},
    {"lenet5_logits.backward/bug_not_cleared", "matches_reference", "in=1x1"},
    {"lenet5_logits.backward/bug_mask_from_zero", "matches_reference", "in=1x1"},
    {"lenet5_logits.backward/bug_pre_activation", "matches_reference", "in=1x1"},
    {"lenet5_logits.backward/bug_pre_activation", "matches_finite_differences", "in=1x1"},
    {"lenet5_logits.backward/bug_counted_twice", "within_rounding_bound", "in=1x1"},
};

// Wrong in one layout, dimension, side or output mask.
constexpr SeededBug layout_bugs[] = {
    // With fewer than two channels and two pixels both layouts are one.
    {"conv.forward/bug_nhwc_as_nchw", "matches_reference", "c=2,in=2"},
    {"conv.forward/bug_ncw_as_nwc", "matches_reference", "c=2,in=2"},
    {"conv.forward/bug_nwc_as_ncw", "matches_reference", "c=2,in=2"},
    {"conv.forward/bug_nchw_as_nhwc", "matches_reference", "c=2,in=1x2"},
    {"conv.forward/bug_ncdhw_as_ndhwc", "matches_reference", "c=2,in=1x1x2"},
    {"conv.forward/bug_ndhwc_as_ncdhw", "matches_reference", "c=2,in=1x1x2"},
    {"conv.grad_input/bug_dx_nchw_as_nhwc", "matches_reference", "c=2,in=2"},
    {"conv.grad_input/bug_dx_nhwc_as_nchw", "matches_reference", "c=2,in=2"},
    // It takes a second row, and a width that is not the height.
    {"conv.forward/bug_nhwc_rows_by_height", "matches_reference", "in=2x1"},
    {"conv.forward/bug_ndhwc_without_width", "matches_reference", "in=2x1x2"},
    // It takes two channels and two taps, and so two pixels.
    {"conv.forward/bug_oihw_as_ohwi", "matches_reference", "c=2,in=2,filter=2"},
    {"conv.forward/bug_ohwi_as_oihw", "matches_reference", "c=2,in=2,filter=2"},
    {"conv.grad_weight/bug_dw_oihw_as_ohwi", "matches_reference", "c=2,in=2,filter=2"},
    {"conv.grad_weight/bug_dw_ohwi_as_oihw", "matches_reference", "c=2,in=2,filter=2"},
    {"conv.forward/bug_hwio_as_hwoi", "matches_reference", "k=2,in=1x1"},
    {"conv.grad_weight/bug_dw_hwio_as_oihw", "matches_reference", "c=2,k=2,in=1"},
    {"conv.forward/bug_pitch_ignored", "matches_reference", "in=2"},
    {"conv.grad_weight/bug_pitch_of_x_ignored", "matches_reference", "in=2"},
    {"conv.forward/bug_depth_by_height", "matches_reference", "in=2x1x1,stride=1x2x1"},
    {"conv.grad_input/bug_right_for_left", "matches_reference", "in=1,padding=0+1"},
    {"conv.grad_bias/bug_expanded_as_dense", "stays_in_bounds", "in=2"},
    // One axis that repeats, and one that does not.
    {"conv.grad_bias/bug_partly_expanded_as_whole", "matches_reference", "k=2,in=2"},
    {"conv.backward/bug_mask_0_writes_dx", "stays_in_bounds", "in=1"},
    {"conv.backward/bug_mask_1_forgets_dx", "matches_reference", "in=1"},
    {"conv.backward/bug_mask_2_writes_dx", "stays_in_bounds", "in=1"},
    {"conv.backward/bug_mask_3_writes_db", "stays_in_bounds", "in=1"},
    {"conv.backward/bug_mask_4_writes_dw", "stays_in_bounds", "in=1"},
    {"conv.backward/bug_mask_5_forgets_db", "matches_reference", "in=1"},
    {"conv.backward/bug_mask_6_forgets_dw", "matches_reference", "in=1"},
    {"conv.backward/bug_mask_7_forgets_db", "matches_reference", "in=1"},
    {"conv_transpose.backward/bug_db_with_dw_alone", "matches_reference", "in=1"},
    {"conv_transpose.forward/bug_output_padding_forgotten", "matches_reference",
     "in=1,dilation=2,output_padding=1"},
};

// Convolutions as products.
constexpr SeededBug product_bugs[] = {
    {"conv.forward/bug_first_groups_image", "matches_reference", "c=2,k=2,groups=2,in=1"},
    {"conv.grad_input/bug_group_of_filter", "matches_reference", "c=2,k=4,groups=2,in=1"},
    {"conv.forward/bug_dilation_ignored", "matches_reference",
     "in=1,filter=2,dilation=2,padding=1"},
    {"conv.grad_input/bug_phase_without_dilation", "matches_reference",
     "in=1,filter=2,stride=3,dilation=2,padding=1"},
    {"conv.grad_input/bug_phase_without_padding", "matches_reference", "in=1,padding=1"},
    // The pixel between two that a single tap reaches.
    {"conv.grad_input/bug_phases_by_taps", "matches_reference", "in=2,stride=2"},
    // A share has 64 terms.
    {"conv.grad_weight/bug_last_share_dropped", "matches_reference", "n=6,in=11"},
    {"conv.grad_weight/bug_shares_onto_anything", "matches_reference", "in=1"},
    {"conv.grad_weight/bug_more_shares_than_terms", "matches_reference", "in=1"},
    // A chunk has 4 samples.
    {"conv.forward/bug_remainder_skipped", "matches_reference", "n=5,in=1"},
    {"conv.grad_input/bug_overlaps_overwritten", "matches_reference", "in=1,filter=2,padding=1"},
    {"conv.forward/bug_multiplier_ignored", "matches_reference", "c=2,k=4,groups=2,in=1"},
    {"conv.grad_input/bug_first_of_multiplier", "matches_reference", "k=2,in=1"},
};

// Wrong in the order of asynchronous copies and reads of them.
constexpr SeededBug asynchrony_bugs[] = {
    {"attention.backward/bug_no_wait", "free_of_races", "b=1,d=8", "cpu"},
    {"attention.backward/bug_wait_for_all_but_one", "free_of_races", "b=1,d=8", "cpu"},
    {"attention.backward/bug_no_barrier_after_wait", "free_of_races", "b=1,d=8", "cpu"},
    {"attention.backward/bug_no_commit", "free_of_races", "b=1,d=8", "cpu"},
    // A tile has 16 rows; the third comes where the first was.
    {"attention.backward/bug_refill_before_barrier", "free_of_races", "b=1,sk=33,d=8", "cpu",
     false},
    {"attention.backward/bug_one_stage_too_few", "free_of_races", "b=1,sk=17,d=8", "cpu", false},
    // The fifth row is the first that is looked for elsewhere.
    {"attention.backward/bug_swizzle_of_four_rows", "within_rounding_bound", "b=1,sk=5,d=8"},
};

// The same of copies and products of sm_90a. Whole rows of 16 bytes have 8 elements of bfloat16 or
// 4 of float, and a step along the sum has 64.
constexpr SeededBug warpgroup_bugs[] = {
    {"fc.forward/bug_wgmma_no_wait", "free_of_races", "n=1,c=8,k=4", "cpu"},
    {"fc.forward/bug_wgmma_wrong_parity", "free_of_races", "n=1,c=8,k=4", "cpu"},
    {"fc.forward/bug_wgmma_wrong_byte_count", "free_of_races", "n=1,c=8,k=4", "cpu"},
    {"fc.forward/bug_wgmma_no_commit", "free_of_races", "n=1,c=8,k=4", "cpu"},
    {"fc.forward/bug_wgmma_no_sum_fence", "free_of_races", "n=1,c=8,k=4", "cpu"},
    {"fc.forward/bug_wgmma_no_proxy_fence", "free_of_races", "n=1,c=8,k=4", "cpu"},
    {"fc.forward/bug_wgmma_no_cluster_barrier", "free_of_races", "n=1,c=8,k=4", "cpu"},
    // The fourth step fills the first stage again; with two places, the third.
    {"fc.forward/bug_wgmma_early_refill", "free_of_races", "n=1,c=200,k=4", "cpu", false},
    {"fc.forward/bug_wgmma_one_stage_too_few", "free_of_races", "n=1,c=136,k=4", "cpu", false},
    // The first row of eight lies where it would without a swizzle.
    {"fc.forward/bug_wgmma_wrong_swizzle", "matches_reference", "n=1,c=8,k=4", "cpu"},
};

// Kernels of half, bfloat16 and double that compute in less than they declare.
constexpr SeededBug element_type_bugs[] = {
    {"conv.grad_weight/bug_f16_sums_in_half", "within_rounding_bound", "in=1x2"},
    {"conv.grad_weight/bug_f16_rounds_products", "within_rounding_bound", "in=1x2"},
    {"conv.grad_weight/bug_f16_through_integer", "within_rounding_bound", "in=1x1"},
    {"conv.grad_weight/bug_f16_taken_for_bf16", "matches_reference", "in=1x1"},
    {"conv.grad_weight/bug_f16_taken_for_bf16", "adjoint_identity", "in=1x1"},
    {"conv.grad_weight/bug_f16_taken_for_bf16", "matches_finite_differences", "in=1x1"},
    {"conv.grad_weight/bug_bf16_truncates", "within_rounding_bound", "in=1x1"},
    {"conv.grad_weight/bug_f64_sums_in_float", "within_rounding_bound", "in=1x1"},
    {"conv.grad_weight/bug_bf16x6_five_products", "within_rounding_bound", "in=1x1"},
    {"conv.forward/bug_f16_bias_added_to_half", "within_rounding_bound", "in=1x1"},
    // Of one key the weight is 1.
    {"attention.backward/bug_undeclared_factors", "within_rounding_bound", "b=1,sk=2,d=8"},
    {"attention.forward/bug_undeclared_weights", "within_rounding_bound", "b=1,sk=2"},
    {"layer_norm.forward/bug_bf16_rounded_mean", "within_rounding_bound", "rows=1,width=2"},
    // In one column dgamma is 0, and dbeta of two rows is rounded once.
    {"layer_norm.backward/bug_bf16_sums_in_outputs", "within_rounding_bound", "rows=3"},
};

// Wrong in floats of 8 bits.
constexpr SeededBug eight_bit_bugs[] = {
    {"conv.grad_weight/bug_f8_e4m3_read_as_e5m2", "matches_reference", "in=1x1"},
    {"conv.grad_weight/bug_f8_e4m3_read_as_e5m2", "adjoint_identity", "in=1x1"},
    {"conv.grad_weight/bug_f8_e4m3_read_as_e5m2", "matches_finite_differences", "in=1x1"},
    {"conv.grad_weight/bug_f8_sums_in_half", "within_rounding_bound", "in=1x1"},
    {"conv.forward/bug_f8_saturates_sums", "within_rounding_bound", "in=1x1"},
    {"conv.forward/bug_f8_flushes_smallest", "within_rounding_bound", "in=1x1"},
    {"conv.forward/bug_f8_largest_is_infinite", "within_rounding_bound", "in=1x1"},
    {"conv.forward/bug_f8_sums_in_e4m3", "within_rounding_bound", "c=2,in=1x1"},
    {"conv.forward/bug_f8_truncates", "within_rounding_bound", "in=1x1"},
    {"conv.forward/bug_f8_nan_beyond", "within_rounding_bound", "in=1x1"},
    {"relu.forward/bug_f8_inf_kept", "within_rounding_bound", "n=1"},
};

// Wrong in operators that are declared by their forward function alone.
constexpr SeededBug derived_bugs[] = {
    {"bias_gelu.forward/bug_tanh_form", "within_rounding_bound", "rows=1"},
    {"bias_gelu.forward/bug_bias_by_row", "within_rounding_bound", "rows=1,width=2"},
    {"bias_gelu.backward/bug_no_density", "within_rounding_bound", "rows=1"},
    {"bias_gelu.backward/bug_no_density", "matches_finite_differences", "rows=1"},
    {"bias_gelu.backward/bug_ignores_mask", "stays_in_bounds", "rows=1"},
    {"bias_gelu.backward/bug_dx_before_dbias", "within_rounding_bound", "rows=1"},
    {"layer_norm.forward/bug_a14_difference_of_squares", "within_rounding_bound", "rows=1,width=2"},
    {"layer_norm.forward/bug_eps_outside_root", "within_rounding_bound", "rows=1"},
    {"layer_norm.backward/bug_no_mean_of_g", "matches_finite_differences", "rows=1"},
    {"layer_norm.backward/bug_no_gamma", "within_rounding_bound", "rows=1,width=2"},
    {"layer_norm.backward/bug_first_row_only", "within_rounding_bound", "rows=2"},
    {"embedding.forward/bug_padding_looked_up", "matches_reference", "tokens=1"},
    {"embedding.grad_weight/bug_no_atomics", "free_of_races", "tokens=2,padding=1"},
    {"embedding.grad_weight/bug_not_cleared", "stays_in_bounds", "tokens=1"},
    {"batch_norm.forward/bug_unbiased_rstd", "within_rounding_bound", "n=1,pixels=2"},
    {"batch_norm.forward/bug_biased_running_var", "within_rounding_bound", "n=1,pixels=2"},
    {"batch_norm.forward/bug_momentum_swapped", "within_rounding_bound", "n=1"},
    {"batch_norm.backward/bug_mean_per_image", "matches_finite_differences", "n=2"},
};

/// All of them, in this order.
std::vector<SeededBug> every_seeded_bug();

}  // namespace gradverify
