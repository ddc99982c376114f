// SPDX-License-Identifier: Apache-2.0
// The museum: bugs of public GPU kernels from their public threads, each made again in a kernel of
// ours, with a twin that has everything but the mistake.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "properties/tests/seeded_bugs/lists.hpp"

namespace gradverify {

struct MuseumPiece {
    SeededBug bug;
    std::string_view thread;       ///< `owner/name#number`, an issue or a pull request on GitHub
    std::string_view mistake;      ///< in our words
    std::string_view shared = "";  ///< the twin of several pieces

    /// The same kernel without the mistake: `fixed_` for `museum_`, where it is this piece's alone.
    std::string twin() const {
        if (!shared.empty()) return std::string(shared);
        const std::size_t slash = bug.kernel.find('/') + 1;
        return fmt::format("{}fixed{}", bug.kernel.substr(0, slash),
                           bug.kernel.substr(bug.kernel.find('_', slash)));
    }
};

constexpr MuseumPiece museum[] = {
    // A batch has 32 tokens.
    {{"embedding.grad_weight/museum_batch_without_barrier", "free_of_races", "tokens=33", "cpu",
      false},
     "pytorch/pytorch#187687",
     "a warp stages the next batch of indices where another still reads this one"},
    {{"embedding.grad_weight/museum_padding_of_long_inputs", "matches_reference", "tokens=769", "",
      false},
     "pytorch/pytorch#28716",
     "another path, from 769 indices on, adds to the padding's row"},
    {{"embedding.grad_weight/museum_last_of_duplicates", "free_of_races", "tokens=2,padding=1"},
     "apache/mxnet#9172",
     "rows that are looked up twice are set, not added to"},
    {{"softmax_cross_entropy.backward/museum_upstream_by_row", "stays_in_bounds", "n=2", "cpu"},
     "NVIDIA/TransformerEngine#2139",
     "the pointer to the upstream gradient is the wrong one"},
    {{"softmax_cross_entropy.forward/museum_folds_share_a_buffer", "free_of_races", "n=1"},
     "pytorch/pytorch#5276",
     "a second reduction writes to the buffer that the first is read from"},
    // Rows of up to 16 elements are 16 apart for one kernel and 32 for the other. One key has no
    // gradient, and the second head is the second row.
    {{"attention.backward/museum_padded_sums", "within_rounding_bound", "b=1,sk=2,h=2"},
     "Dao-AILab/flash-attention#2896",
     "dq's sums have rows of a multiple of 16 elements where they are added, of 32 where read"},
    // The 33rd element is the first of the second warp's; a sum of nothing is cleared to itself.
    {{"attention.backward/museum_cleared_after_store", "free_of_races", "b=1,d=33", "cpu", false},
     "karpathy/llm.c#847",
     "a warp clears the sums of warps that others may have stored already"},
    {{"layer_norm.backward/museum_gamma_by_row", "within_rounding_bound", "rows=1,width=2"},
     "deepspeedai/DeepSpeed#692",
     "in a tile gamma is taken by the thread's row, not by its column"},
    {{"layer_norm.backward/museum_rows_of_block_summed", "within_rounding_bound", "rows=2"},
     "flagos-ai/FlagGems#59",
     "the sums of a row are those of all rows of the block"},
    {{"layer_norm.forward/museum_variance_in_half", "within_rounding_bound", "rows=1"},
     "deepspeedai/DeepSpeed#581",
     "variance + eps is rounded to half before its root is taken"},
    // A block has 256 threads.
    {{"batch_norm.backward/museum_pixel_for_thread", "within_rounding_bound", "n=1,pixels=257", "",
      false},
     "ROCm/MIOpen#916",
     "a thread has one pixel of each image, and pixels beyond the block are not summed"},
    {{"batch_norm.forward/museum_difference_of_squares", "within_rounding_bound", "n=1,pixels=2"},
     "tenstorrent/tt-metal#45968",
     "the variance is the mean of squares less the square of the mean"},
    // A block covers 32 columns and 8 rows.
    {{"maxpool.grad_input/museum_swapped_grid", "matches_reference", "in=9x1", "", false},
     "pytorch/pytorch#36820",
     "the launcher is given the output's width for its height"},
    // Taps at -1 and 1: that inside the image is pixel 1.
    {{"maxpool.forward/museum_dilated_from_edge", "matches_reference",
      "in=1x2,window=1x2,dilation=1x2,padding=0x1"},
     "microsoft/onnxruntime#29637",
     "a window that begins in the padding steps from pixel 0"},
    {{"avgpool.grad_input/museum_pixel_without_padding", "matches_reference",
      "in=1x1,window=1x2,padding=0x1"},
     "pytorch/pytorch#188344",
     "the windows over a pixel are asked for without the padding",
     "avgpool.grad_input/fixed_museum"},
    {{"avgpool.grad_input/museum_whole_divisor", "matches_reference",
      "in=1x1,window=1x2,stride=1x2,include_pad=1,ceil=1"},
     "tracel-ai/cubek#648",
     "the gradient divides by the whole window where rounding up lets it overhang",
     "avgpool.grad_input/fixed_museum"},
    {{"conv.grad_input/museum_pixels_between_strides", "stays_in_bounds", "in=1x2,stride=1x2"},
     "ROCm/composable_kernel#105",
     "pixels that no pointwise filter reads are not written",
     "conv.grad_input/fixed_museum"},
    {{"conv.grad_input/museum_first_plane", "matches_reference", "c=2,in=1x1"},
     "soumith/cudnn.torch#28",
     "of pointwise filters only the first channel's gradient is made",
     "conv.grad_input/fixed_museum"},
    {{"fc.grad_weight/museum_e5m2_taken_for_e4m3", "matches_reference", "n=1"},
     "NVIDIA/TransformerEngine#3342",
     "the bytes of the cotangent, in E5M2, are read as E4M3"},
    // 6 parts of 11 elements are the nearest that are more than a block's 64 threads.
    {{"segment_sum.forward/museum_cleared_by_another_block", "free_of_races",
      "total=1,parts=6,width=11"},
     "PaddlePaddle/Paddle#32596",
     "a block's barrier stands between clearing and the sums of other blocks"},
    {{"segment_sum.forward/museum_empty_total", "stays_in_bounds", "total=0"},
     "NVIDIA/nvalchemi-toolkit-ops#76",
     "without a row to add up the launcher returns, and sums keep what was in memory"},
};

}  // namespace gradverify
