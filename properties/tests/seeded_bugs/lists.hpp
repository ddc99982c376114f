// SPDX-License-Identifier: Apache-2.0
// The seeded bugs by subject, beside those of list.hpp: of layouts and masks, of convolutions as
// products, of tensor cores, of element types, of operators that are declared by their forward
// function. Which property must kill each, and at which problem; nothing of how.
#pragma once

#include <vector>

#include "properties/tests/seeded_bugs/list.hpp"

namespace gradverify {

// Wrong in one layout, one dimension, on one side or for one output mask.
constexpr SeededBug layout_bugs[] = {
    // Two channels and two pixels: else both layouts are one.
    {"conv.forward/bug_nhwc_as_nchw", "matches_reference", "c=2,in=2"},
    {"conv.forward/bug_ncw_as_nwc", "matches_reference", "c=2,in=2"},
    {"conv.forward/bug_nwc_as_ncw", "matches_reference", "c=2,in=2"},
    {"conv.forward/bug_nchw_as_nhwc", "matches_reference", "c=2,in=1x2"},
    {"conv.forward/bug_ncdhw_as_ndhwc", "matches_reference", "c=2,in=1x1x2"},
    {"conv.forward/bug_ndhwc_as_ncdhw", "matches_reference", "c=2,in=1x1x2"},
    {"conv.grad_input/bug_dx_nchw_as_nhwc", "matches_reference", "c=2,in=2"},
    {"conv.grad_input/bug_dx_nhwc_as_nchw", "matches_reference", "c=2,in=2"},
    // A second row, and a width that is not the height.
    {"conv.forward/bug_nhwc_rows_by_height", "matches_reference", "in=2x1"},
    {"conv.forward/bug_ndhwc_without_width", "matches_reference", "in=2x1x2"},
    // Two channels and two taps, which a second pixel is there for.
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
    {"relayout.forward/bug_tail_of_tile", "stays_in_bounds", "in=1"},
    // Where one of the two axes has one element, both orders are one.
    {"relayout.grad_input/bug_swapped_axes", "matches_reference", "in=2x2"},
};

// Convolutions as products: wrong in groups, dilation, shares of a sum, phases of the stride,
// chunks of a batch or channel multipliers.
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

// Of the tiles of kernels on tensor cores.
constexpr SeededBug tensor_core_bugs[] = {
    {"conv.forward/bug_tail_of_depth_unmasked", "matches_reference", "in=1"},
    {"conv.forward/bug_group_offset_forgotten", "matches_reference", "c=2,k=2,groups=2,in=1"},
    {"conv.forward/bug_columns_unguarded", "stays_in_bounds", "in=1"},
    {"conv.forward/bug_tensor_core_sums_in_half", "within_rounding_bound", "in=1"},
    // 17 pixels are the first that make two parts; no three sizes nearer than these have as many.
    {"conv.grad_weight/bug_last_part_dropped", "matches_reference", "n=2,in=3x3"},
};

// Kernels of half, bfloat16 and double that compute in less than they declare. One product is
// rounded as the result is; a second one is needed for what is rounded between.
constexpr SeededBug element_type_bugs[] = {
    {"conv.grad_weight/bug_f16_sums_in_half", "within_rounding_bound", "in=1x2"},
    {"conv.grad_weight/bug_f16_rounds_products", "within_rounding_bound", "in=1x2"},
    {"conv.grad_weight/bug_f16_through_integer", "within_rounding_bound", "in=1x1"},
    {"conv.grad_weight/bug_f16_taken_for_bf16", "matches_reference", "in=1x1"},
    {"conv.grad_weight/bug_f16_taken_for_bf16", "adjoint_identity", "in=1x1"},
    {"conv.grad_weight/bug_f16_taken_for_bf16", "matches_finite_differences", "in=1x1"},
    {"conv.grad_weight/bug_bf16_truncates", "within_rounding_bound", "in=1x1"},
    {"conv.grad_weight/bug_f64_sums_in_float", "within_rounding_bound", "in=1x1"},
    {"conv.forward/bug_f16_bias_added_to_half", "within_rounding_bound", "in=1x1"},
    {"layer_norm.forward/bug_bf16_rounded_mean", "within_rounding_bound", "rows=1,width=2"},
    // In one column dgamma is 0, and dbeta of two rows is rounded once.
    {"layer_norm.backward/bug_bf16_sums_in_outputs", "within_rounding_bound", "rows=2,width=2"},
};

// Of floats of 8 bits. Factors of few digits have sums of few, but for those of very different
// sizes.
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
    {"relu.forward/bug_f8_inf_kept", "within_rounding_bound", "n=2"},
};

// Of operators that are declared by their forward function alone.
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
    {"layer_norm.backward/bug_no_gamma", "within_rounding_bound", "rows=1,width=2,eps=0.1"},
    {"layer_norm.backward/bug_first_row_only", "within_rounding_bound", "rows=2"},
    {"embedding.forward/bug_padding_looked_up", "matches_reference", "tokens=1"},
    {"embedding.grad_weight/bug_no_atomics", "free_of_races", "tokens=2,padding=1"},
    {"embedding.grad_weight/bug_not_cleared", "stays_in_bounds", "tokens=1"},
    {"batch_norm.forward/bug_unbiased_rstd", "within_rounding_bound", "n=1,pixels=2"},
    {"batch_norm.forward/bug_biased_running_var", "within_rounding_bound", "n=1,pixels=2"},
    {"batch_norm.forward/bug_momentum_swapped", "within_rounding_bound", "n=1"},
    {"batch_norm.backward/bug_mean_per_image", "matches_finite_differences", "n=2"},
};

/// All of them, those of list.hpp first.
std::vector<SeededBug> every_seeded_bug();

}  // namespace gradverify
