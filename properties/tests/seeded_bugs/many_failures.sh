#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures how soon a run names and reports kernels that all have a bug: 25 of different operators,
# quick and slow. Prints each line that names one, behind the seconds since the start.
#
#   many_failures.sh build/gradverify_suite_tests [OPTION OF check...]
set -euo pipefail

kernels=(
    conv.forward/bug_a17_grid_of_many_samples
    conv.forward/bug_unroll_bound
    conv.grad_input/bug_a03_remainder_unwritten
    conv.grad_weight/bug_a05_bottom_edge
    conv.grad_weight/bug_last_share_dropped
    conv.grad_bias/bug_a19_float4
    conv.grad_bias/bug_scratch_used_again
    conv.grad_bias/bug_halved_block
    conv.backward/bug_mask_3_writes_db
    conv_transpose.backward/bug_db_with_dw_alone
    fc.forward/bug_undeclared_tf32
    conv.grad_weight/bug_f8_sums_in_half
    relu.forward/bug_float4_by_length
    relu.grad_input/bug_mask_from_zero
    maxpool.forward/bug_last_of_ties
    avgpool.grad_input/bug_swapped_strides
    fc.forward/bug_no_barrier_after_tile
    fc.grad_bias/bug_one_round
    softmax_cross_entropy.backward/bug_no_mean
    softmax_cross_entropy.forward/bug_no_largest
    lenet5_logits.backward/bug_a20_first_sample
    layer_norm.backward/bug_first_row_only
    batch_norm.backward/bug_mean_per_image
    embedding.grad_weight/bug_no_atomics
    bias_gelu.backward/bug_dx_before_dbias
)

started=${EPOCHREALTIME/[.,]/}
"$1" check "${kernels[@]}" "${@:2}" | while IFS= read -r line; do
    [[ $line =~ ^FAILED|^[0-9]+\ rows: ]] || continue
    passed=$((${EPOCHREALTIME/[.,]/} - started))
    printf '%4d.%02d s  %s\n' $((passed / 1000000)) $((passed / 10000 % 100)) "$line"
done
