// SPDX-License-Identifier: Apache-2.0
// The operator conv as a kernel author sees it. Needs neither Eigen nor CUDA, and holds no index
// arithmetic: a kernel that borrowed the reference's geometry would share its mistakes.
//
//   y[n,k,o] = b[k] + sum over c, f of x[n, c, o*stride + f*dilation - padding] * w[k,c,f]
//
// with x = 0 outside the image; c runs over the channels of k's group. The output has
// floor((in + left + right - dilation*(filter-1) - 1) / stride) + 1 elements along an axis, and
// none where the dilated filter is larger than the padded image. dx, dw and db are the gradients of
// <dy, y>; db is dy summed over batch and space.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "harness/pass.hpp"

namespace gradverify::conv {

/// One spatial axis.
struct Axis {
    std::int64_t in = 1;      ///< image size
    std::int64_t filter = 1;  ///< filter size
    std::int64_t stride = 1;
    std::int64_t dilation = 1;
    std::int64_t padding_left = 0, padding_right = 0;
    std::int64_t output_padding = 0;  ///< of conv_transpose
};

/// A problem of conv. `n` images, `c` input channels, `k` output channels.
struct Parameters {
    std::int64_t n = 1, c = 1, k = 1, groups = 1;
    int rank = 0;                ///< spatial axes
    std::array<Axis, 3> axes{};  ///< outermost first: for rank 2 height, then width

    explicit Parameters(const Problem& problem);

    std::span<const Axis> spatial() const {
        return std::span(axes).first(static_cast<std::size_t>(rank));
    }
    const Axis& h() const { return axes[static_cast<std::size_t>(rank - 2)]; }
    const Axis& w() const { return axes[static_cast<std::size_t>(rank - 1)]; }
};

inline Parameters::Parameters(const Problem& problem)
    : n(problem.scalar("n")),
      c(problem.scalar("c")),
      k(problem.scalar("k")),
      groups(problem.scalar("groups")),
      rank(problem.rank()) {
    const auto in = problem.all_of("in"), filter = problem.all_of("filter");
    const auto stride = problem.all_of("stride"), dilation = problem.all_of("dilation");
    const auto padding = problem.all_of("padding");
    for (std::size_t i = 0; i < in.size(); ++i)
        axes[i] = {.in = in[i],
                   .filter = filter[i],
                   .stride = stride[i],
                   .dilation = dilation[i],
                   .padding_left = padding[2 * i],
                   .padding_right = padding[2 * i + 1]};
}

/// **Shapes** x `n, c, in`; w `k, c/groups, filter`; b `k`; y `n, k, out`.
struct Forward : Pass<"conv", "forward"> {
    using Pass::Pass;
    Parameters problem{Pass::problem()};
    TensorView x = tensor("x"), w = tensor("w"), b = tensor("b"), y = tensor("y");
};

/// **Shapes** dy `n, k, out`; w `k, c/groups, filter`; dx `n, c, in`.
struct GradInput : Pass<"conv", "grad_input"> {
    using Pass::Pass;
    Parameters problem{Pass::problem()};
    TensorView dy = tensor("dy"), w = tensor("w"), dx = tensor("dx");
};

/// **Shapes** dy `n, k, out`; x `n, c, in`; dw `k, c/groups, filter`.
struct GradWeight : Pass<"conv", "grad_weight"> {
    using Pass::Pass;
    Parameters problem{Pass::problem()};
    TensorView dy = tensor("dy"), x = tensor("x"), dw = tensor("dw");
};

/// **Shapes** dy `n, k, out`; db `k`.
struct GradBias : Pass<"conv", "grad_bias"> {
    using Pass::Pass;
    Parameters problem{Pass::problem()};
    TensorView dy = tensor("dy"), db = tensor("db");
};

/// dx, dw and db in one call, as PyTorch's convolution_backward has it. A kernel that declares
/// `takes_mask()` computes those that the call `wants`.
/// **Shapes** dy `n, k, out`; x, dx `n, c, in`; w, dw `k, c/groups, filter`; db `k`.
struct Backward : Pass<"conv", "backward"> {
    using Pass::Pass;
    Parameters problem{Pass::problem()};
    TensorView dy = tensor("dy"), x = tensor("x"), w = tensor("w");
    TensorView dx = tensor("dx"), dw = tensor("dw"), db = tensor("db");
};

}  // namespace gradverify::conv
