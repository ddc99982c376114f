// SPDX-License-Identifier: Apache-2.0
// TMA, mbarriers and wgmma together, in a block and in pairs of blocks.
#include "harness/simt/tests/construct.hpp"
#include "harness/simt/tests/ptx/gemm_pipeline.hpp"
#include "harness/simt/tests/ptx/has_wgmma.hpp"

namespace {

CONSTRUCT(pipeline_of_tma_and_wgmma) {
    report.holds("each element, if it is there", !has_wgmma() || wrong_elements<false>() == 0);
}
CONSTRUCT(pipeline_of_two_blocks) {
    report.holds("each element, if it is there", !has_wgmma() || wrong_elements<true>() == 0);
}

}  // namespace
