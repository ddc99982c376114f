// SPDX-License-Identifier: Apache-2.0
// The seeded bugs: which property must kill each, and at which problem. Knows nothing of how.
#pragma once

#include <string_view>

namespace gradverify {

struct SeededBug {
    std::string_view kernel;
    std::string_view property;
    std::string_view smallest;     ///< known by thinking, not by running
    std::string_view device = "";  ///< the only one that can see it; "": each
    bool certified = true;         ///< there are few enough smaller problems to run them all
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
    // No sample is no row of the grid; where that is never asked for, 65535 rows are the most.
    {"conv.forward/bug_a17_grid_of_samples", "matches_reference", "n=0,in=1x1"},
    {"conv.forward/bug_a17_grid_of_many_samples", "matches_reference", "n=65536,in=1x1", "", false},
    // Four pixels: 2x2 is nearer than 1x4.
    {"conv.grad_bias/bug_a19_float4", "free_of_races", "in=2x2", "cpu"},
    {"conv.grad_bias/bug_a19_float4", "repeatable", "in=2x2", "cuda"},
    // By the unmapped page alone: on cuda only compute-sanitizer sees such a read.
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
    // A second window along the other axis, which the step along this one does not reach.
    {"avgpool.grad_input/bug_swapped_strides", "matches_finite_differences", "in=1x2,stride=2x1"},
    // Past the end of x and w, or by value where the next row is there to be read.
    {"fc.forward/bug_a12_tail_of_tile", "stays_in_bounds", "n=1"},
    {"fc.forward/bug_a12_tail_of_tile", "matches_reference", "n=1"},
    {"fc.forward/bug_a12_tail_within_buffer", "matches_reference", "n=2,k=2"},
    // Tiles of eight: nine terms are the first that take two.
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

}  // namespace gradverify
