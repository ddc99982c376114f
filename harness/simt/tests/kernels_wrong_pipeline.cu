// SPDX-License-Identifier: Apache-2.0
// A pipeline of TMA and wgmma, right and with one mistake each.
#include "harness/simt/tests/gemm_pipeline.hpp"
#include "harness/simt/tests/launcher.hpp"

#define PIPELINE(NAME, IS_PAIR, MISTAKE)                                         \
    LAUNCHER(NAME) {                                                             \
        const auto wrong = static_cast<float>(wrong_elements<IS_PAIR>(MISTAKE)); \
        cudaMemcpy(call.data, &wrong, sizeof wrong, cudaMemcpyHostToDevice);     \
    }
PIPELINE(pipeline_right, false, Mistake::none)
PIPELINE(pipeline_of_pairs, true, Mistake::none)
PIPELINE(full_not_waited_for, false, Mistake::full_not_waited_for)
PIPELINE(empty_not_waited_for_of_pipeline, false, Mistake::empty_not_waited_for)
PIPELINE(wrong_parity, false, Mistake::wrong_parity)
PIPELINE(expects_too_little, false, Mistake::expects_too_little)
PIPELINE(expects_too_much, false, Mistake::expects_too_much)
PIPELINE(released_early, false, Mistake::released_early)
PIPELINE(released_early_in_pair, true, Mistake::released_early)
PIPELINE(store_not_fenced, false, Mistake::store_not_fenced)
PIPELINE(no_cluster_barrier, true, Mistake::no_cluster_barrier)
