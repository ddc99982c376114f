// SPDX-License-Identifier: Apache-2.0
// Correct kernels by another formula than the reference's, and beside each a wrong one.
#include "properties/tests/launches.cuh"
#include "reference/batch_norm.hpp"
#include "reference/conv.hpp"
#include "reference/layer_norm.hpp"

namespace {

// ---- normalisation as y = x scale + shift

/// A thread for each channel. The wrong one folds the mean without the scale.
template <bool is_wrong>
__device__ void fold_batch_norm(int c, const float* x, const float* gamma, const float* beta,
                                const float* running_mean, const float* running_var, float* y,
                                float* means, float* rstds, float* new_mean, float* new_var, int n,
                                int channels, int pixels, float eps, float momentum) {
    const int count = n * pixels;
    const auto at = [&](int i) { return (i / pixels * channels + c) * pixels + i % pixels; };
    float sum = 0.0f, squares = 0.0f;
    for (int i = 0; i < count; ++i) sum += x[at(i)];
    const float mean = sum / count;
    for (int i = 0; i < count; ++i) squares += (x[at(i)] - mean) * (x[at(i)] - mean);
    const float rstd = rsqrtf(squares / count + eps);
    means[c] = mean;
    rstds[c] = rstd;
    new_mean[c] = fmaf(momentum, mean - running_mean[c], running_mean[c]);
    new_var[c] =
        (1.0f - momentum) * running_var[c] + momentum * (squares / fmaxf(count - 1.0f, 1.0f));
    const float scale = gamma[c] * rstd;
    const float shift = beta[c] - mean * (is_wrong ? rstd : scale);
    for (int i = 0; i < count; ++i) y[at(i)] = fmaf(x[at(i)], scale, shift);
}

template <bool is_wrong>
void batch_norm(const gradverify::batch_norm::Forward& call) {
    launch_each<fold_batch_norm<is_wrong>>(call.launch, call.c, call.x, call.gamma, call.beta,
                                           call.running_mean, call.running_var, call.y, call.mean,
                                           call.rstd, call.new_running_mean, call.new_running_var,
                                           call.n, call.c, call.pixels, call.eps, call.momentum);
}

/// A thread for each row, whose mean is a sum of shares.
__device__ void fold_layer_norm(int r, const float* x, const float* gamma, const float* beta,
                                float* y, float* mean, float* rstd, int width, float eps) {
    const float* row = x + r * width;
    const float share = 1.0f / width;
    float m = 0.0f, variance = 0.0f;
    for (int j = 0; j < width; ++j) m += row[j] * share;
    for (int j = 0; j < width; ++j) variance += (row[j] - m) * (row[j] - m) * share;
    mean[r] = m;
    rstd[r] = rsqrtf(variance + eps);
    for (int j = 0; j < width; ++j)
        y[r * width + j] = (row[j] * rstd[r] + -rstd[r] * m) * gamma[j] + beta[j];
}

void layer_norm(const gradverify::layer_norm::Forward& call) {
    launch_each<fold_layer_norm>(call.launch, call.rows, call.x, call.gamma, call.beta, call.y,
                                 call.mean, call.rstd, call.width, call.eps);
}

// ---- exponentials by way of base two

/// **Shapes** x, y `rows, width`.
struct Softmax : gradverify::Pass<"rewritten_softmax", "forward"> {
    using Pass::Pass;
    TensorView x = tensor("x"), y = tensor("y");
    std::int64_t rows = size("rows"), width = size("width");
};

/// **Shapes** x, bent, bits `n`.
struct Squash : gradverify::Pass<"rewritten_squash", "forward"> {
    using Pass::Pass;
    TensorView x = tensor("x"), bent = tensor("bent"), bits = tensor("bits");
    std::int64_t n = size("n");
};

constexpr float log2_of_e = 1.44269504f;

/// A thread for each row, which it reads once, and rescales the sum when the maximum grows. The
/// wrong one rescales by powers of two, not of e.
template <bool is_wrong>
__device__ void online_softmax(int r, const float* x, float* y, int width) {
    const float* row = x + r * width;
    float largest = row[0], sum = 1.0f;
    for (int j = 1; j < width; ++j) {
        const float before = largest;
        largest = fmaxf(largest, row[j]);
        sum = sum * exp2f((before - largest) * (is_wrong ? 1.0f : log2_of_e)) +
              exp2f(fmaf(row[j], log2_of_e, -largest * log2_of_e));
    }
    for (int j = 0; j < width; ++j)
        y[r * width + j] = exp2f(fmaf(row[j], log2_of_e, -largest * log2_of_e)) * (1.0f / sum);
}

template <bool is_wrong>
void softmax(const Softmax& call) {
    launch_each<online_softmax<is_wrong>>(call.launch, call.rows, call.x, call.y, call.width);
}

/// The wrong one takes the cubic of tanh's series below 1.
template <bool is_wrong>
__device__ void squash_by_exponentials(int i, const float* x, float* bent, float* bits) {
    bent[i] = 1.0f - 2.0f / (expf(2.0f * x[i]) + 1.0f);
    if (is_wrong && fabsf(x[i]) < 1.0f) bent[i] = x[i] - x[i] * x[i] * x[i] / 3.0f;
    bits[i] = 0.693147182f * log2f(exp2f(x[i] * log2_of_e) + 1.0f);
}

template <bool is_wrong>
void squash(const Squash& call) {
    launch_each<squash_by_exponentials<is_wrong>>(call.launch, call.n, call.x, call.bent,
                                                  call.bits);
}

// ---- Winograd's F(2x2, 3x3): Lavin and Gray, Fast Algorithms for Convolutional Neural Networks,
// 2015, section 4.1

struct Image {
    int n, c, h, w, k, out_h, out_w, pad_h, pad_w;
};

/// B^T d of four values; the wrong one adds where its third row subtracts.
template <bool is_wrong>
__device__ void transform_data(float* d, int step) {
    const float d0 = d[0], d1 = d[step], d2 = d[2 * step], d3 = d[3 * step];
    d[0] = d0 - d2;
    d[step] = d1 + d2;
    d[2 * step] = is_wrong ? d2 + d1 : d2 - d1;
    d[3 * step] = d1 - d3;
}

/// G g of three values.
__device__ void transform_filter(const float* g, int from_step, float* u, int step) {
    const float g0 = g[0], g1 = g[from_step], g2 = g[2 * from_step];
    u[0] = g0;
    u[step] = 0.5f * (g0 + g1 + g2);
    u[2 * step] = 0.5f * (g0 - g1 + g2);
    u[3 * step] = g2;
}

/// Divides filters as larger tiles do; with sixths no sum of integers is exact.
constexpr float scale = 6.0f;

/// A thread for each tile of two by two outputs. Without a bias b it computes the gradient by the
/// input: the same of dy, with the filter's two channels and its ends exchanged.
template <bool is_wrong>
__device__ void winograd(int tile, const float* x, const float* w, const float* b, float* y,
                         Image s) {
    const int tiles_h = (s.out_h + 1) / 2, tiles_w = (s.out_w + 1) / 2;
    const int left = tile % tiles_w * 2, top = tile / tiles_w % tiles_h * 2;
    const int k = tile / (tiles_w * tiles_h) % s.k, n = tile / (tiles_w * tiles_h * s.k);
    float sums[16] = {};
    for (int c = 0; c < s.c; ++c) {
        float data[16], half[12], filter[16];
        for (int i = 0; i < 16; ++i) {
            const int h = top + i / 4 - s.pad_h, v = left + i % 4 - s.pad_w;
            const bool is_inside = h >= 0 && h < s.h && v >= 0 && v < s.w;
            data[i] = is_inside ? x[((n * s.c + c) * s.h + h) * s.w + v] : 0.0f;
        }
        const float* first = b ? w + (k * s.c + c) * 9 : w + (c * s.k + k) * 9 + 8;
        const int next = b ? 1 : -1;
        for (int i = 0; i < 4; ++i) transform_data<false>(data + i, 4);
        for (int i = 0; i < 4; ++i) transform_data<is_wrong>(data + 4 * i, 1);
        for (int i = 0; i < 3; ++i) transform_filter(first + next * i, 3 * next, half + i, 3);
        for (int i = 0; i < 4; ++i) transform_filter(half + 3 * i, 1, filter + 4 * i, 1);
        for (int i = 0; i < 16; ++i) sums[i] += data[i] * (filter[i] / scale);
    }
    for (int i = 0; i < 4; ++i) {  // A^T m A, two outputs of each of two rows
        const int h = top + i / 2, v = left + i % 2;
        if (h >= s.out_h || v >= s.out_w) continue;
        float rows[4];
        for (int j = 0; j < 4; ++j)
            rows[j] = i / 2 == 0 ? sums[j] + sums[4 + j] + sums[8 + j]
                                 : sums[4 + j] - sums[8 + j] - sums[12 + j];
        const float sum = i % 2 == 0 ? rows[0] + rows[1] + rows[2] : rows[1] - rows[2] - rows[3];
        y[((n * s.k + k) * s.out_h + h) * s.out_w + v] = scale * sum + (b ? b[k] : 0.0f);
    }
}

template <bool is_wrong>
void convolve(const gradverify::TensorView& x, const gradverify::TensorView& w, const float* b,
              const gradverify::TensorView& y, long long pad_h, long long pad_w,
              const gradverify::Launch& on) {
    const auto size = [](const gradverify::TensorView& tensor, int axis) {
        return static_cast<int>(tensor.size(axis));
    };
    const Image s{.n = size(x, 0),
                  .c = size(x, 1),
                  .h = size(x, 2),
                  .w = size(x, 3),
                  .k = size(y, 1),
                  .out_h = size(y, 2),
                  .out_w = size(y, 3),
                  .pad_h = static_cast<int>(pad_h),
                  .pad_w = static_cast<int>(pad_w)};
    const int tiles = s.n * s.k * ((s.out_h + 1) / 2) * ((s.out_w + 1) / 2);
    launch_each<winograd<is_wrong>>(on, tiles, x, w, b, y, s);
}

template <bool is_wrong>
void convolve_forward(const gradverify::conv::Forward& call) {
    convolve<is_wrong>(call.x, call.w, call.b.as<const float>(), call.y,
                       call.problem.h().padding_left, call.problem.w().padding_left, call.launch);
}

template <bool is_wrong>
void convolve_gradient(const gradverify::conv::GradInput& call) {
    convolve<is_wrong>(call.dy, call.w, nullptr, call.dx, 2 - call.problem.h().padding_left,
                       2 - call.problem.w().padding_left, call.launch);
}

}  // namespace

#define REWRITTEN_BATCH_NORM(VARIANT, IS_WRONG)                                       \
    GRADVERIFY_KERNEL(gradverify::batch_norm::Forward, VARIANT, batch_norm<IS_WRONG>) \
        .updates("new_running_mean", "running_mean")                                  \
        .updates("new_running_var", "running_var")
REWRITTEN_BATCH_NORM("folded", false);
REWRITTEN_BATCH_NORM("bug_folded_without_gamma", true);

GRADVERIFY_KERNEL(gradverify::layer_norm::Forward, "folded", layer_norm);
GRADVERIFY_KERNEL(gradverify::layer_norm::Forward, "folded_many_rows", layer_norm)
    .where("rows", gradverify::multiple_of(64));

GRADVERIFY_KERNEL(Softmax, "online_in_base_two", softmax<false>);
GRADVERIFY_KERNEL(Softmax, "bug_rescaled_in_base_e", softmax<true>);

GRADVERIFY_KERNEL(Squash, "by_exponentials", squash<false>);
GRADVERIFY_KERNEL(Squash, "bug_cubic", squash<true>);

#define REWRITTEN_CONV(PASS, VARIANT, LAUNCHER)                  \
    GRADVERIFY_KERNEL(gradverify::conv::PASS, VARIANT, LAUNCHER) \
        .where("filter", gradverify::equals(3))                  \
        .where("stride", gradverify::equals(1))                  \
        .where("dilation", gradverify::equals(1))                \
        .where("groups", gradverify::equals(1))
// The largest row sums of absolute values are 2 of B^T, 1.5 of G and 3 of A^T, each twice.
REWRITTEN_CONV(Forward, "winograd", convolve_forward<false>).norm_wise(81.0);
REWRITTEN_CONV(Forward, "bug_undeclared_winograd", convolve_forward<false>);
REWRITTEN_CONV(Forward, "bug_winograd_sign", convolve_forward<true>).norm_wise(81.0);
REWRITTEN_CONV(GradInput, "winograd", convolve_gradient<false>).norm_wise(81.0);
REWRITTEN_CONV(GradInput, "bug_winograd_sign", convolve_gradient<true>).norm_wise(81.0);
