// SPDX-License-Identifier: Apache-2.0
// The launchers of this folder on device memory, beside plain loops on the host.
#include "harness/simt/tests/constructs/construct.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "harness/simt/tests/third_party/extension.h"

using construct::Array;
using construct::table;
using Floats = std::vector<float>;

namespace {

/// Numbers in [-1, 1), in no order.
Floats scattered(int count, unsigned seed) {
    return table(count, [=](int i) {
        const unsigned bits = (unsigned(i) + 1) * 2654435761u ^ seed * 40503u;
        return float((bits >> 8) % 2048) / 1024.0f - 1.0f;
    });
}
double dot(const float* a, const float* b, int count, int step_a = 1, int step_b = 1) {
    double sum = 0;
    for (int i = 0; i < count; ++i) sum += double(a[i * step_a]) * b[i * step_b];
    return sum;
}
/// As near as float sums of numbers of size 1 are.
void compare(construct::Report& report, const char* what, const Floats& got, const Floats& want,
             double bound = 1e-4) {
    const auto shifted = [](const Floats& values) {
        return table(int(values.size()), [&](int i) { return values[std::size_t(i)] + 8.0f; });
    };
    report.near(what, shifted(got), shifted(want), bound / 8);
}

}  // namespace

CONSTRUCT(third_party_layer_norm) {
    const int rows = 5, columns = 70;
    const Floats x = scattered(rows * columns, 1), w = scattered(columns, 2),
                 b = scattered(columns, 3), dy = scattered(rows * columns, 4);
    Array<float> in(x), weight(w), bias(b), dout(dy);
    Array<float> out(rows * columns), mean(rows), rstd(rows);
    Array<float> dx(rows * columns), dw(columns), db(columns);
    layernorm_forward(out, mean, rstd, in, weight, bias, rows, columns);
    layernorm_backward(dx, dw, db, dout, in, weight, mean, rstd, rows, columns);
    Floats want_y, want_dx, want_dw(columns), want_db(columns);
    for (int row = 0; row < rows; ++row) {
        const float *xr = &x[std::size_t(row * columns)], *dyr = &dy[std::size_t(row * columns)];
        double m = 0, variance = 0, mean_d = 0, mean_dn = 0;
        for (int i = 0; i < columns; ++i) m += double(xr[i]) / columns;
        for (int i = 0; i < columns; ++i) variance += (xr[i] - m) * (xr[i] - m) / columns;
        const double s = 1 / std::sqrt(variance + 1e-5);
        for (int i = 0; i < columns; ++i) {
            mean_d += double(w[std::size_t(i)]) * dyr[i] / columns;
            mean_dn += double(w[std::size_t(i)]) * dyr[i] * (xr[i] - m) * s / columns;
        }
        for (int i = 0; i < columns; ++i) {
            const auto at = std::size_t(i);
            const double n = (xr[i] - m) * s;
            want_y.push_back(float(n * w[at] + b[at]));
            want_dx.push_back(float((double(w[at]) * dyr[i] - mean_d - n * mean_dn) * s));
            want_dw[at] += float(n * dyr[i]);
            want_db[at] += dyr[i];
        }
    }
    compare(report, "y", out.host(), want_y);
    compare(report, "dx", dx.host(), want_dx);
    compare(report, "dw", dw.host(), want_dw);
    compare(report, "db", db.host(), want_db);
}

CONSTRUCT(third_party_attention_and_softmax) {
    const int heads = 2, n = 21, d = 8;
    const Floats q = scattered(heads * n * d, 5), k = scattered(heads * n * d, 6),
                 v = scattered(heads * n * d, 7);
    Array<float> dq(q), dk(k), dv(v), out(heads * n * d);
    for (const bool causal : {false, true}) {
        attention_forward(dq, dk, dv, out, heads, n, d, causal);
        Floats want;
        for (int h = 0; h < heads; ++h) {
            for (int row = 0; row < n; ++row) {
                std::vector<double> p(std::size_t(n), 0.0), sum(d, 0.0);
                double total = 0;
                for (int key = 0; key < (causal ? row + 1 : n); ++key) {
                    p[std::size_t(key)] = std::exp(dot(&q[std::size_t((h * n + row) * d)],
                                                       &k[std::size_t((h * n + key) * d)], d) /
                                                   std::sqrt(double(d)));
                    total += p[std::size_t(key)];
                    for (int x = 0; x < d; ++x)
                        sum[std::size_t(x)] +=
                            p[std::size_t(key)] * v[std::size_t((h * n + key) * d + x)];
                }
                for (int x = 0; x < d; ++x) want.push_back(float(sum[std::size_t(x)] / total));
            }
        }
        compare(report, causal ? "causal attention" : "attention", out.host(), want);
    }
    const int rows = 3, columns = 300;
    const Floats x = scattered(rows * columns, 8);
    Array<float> dx(x), y(rows * columns);
    softmax_rows(dx, y, rows, columns);
    compare(report, "softmax", y.host(), table(rows * columns, [&](int i) {
                double total = 0;
                for (int j = 0; j < columns; ++j)
                    total += std::exp(double(x[std::size_t(i / columns * columns + j)]));
                return float(std::exp(double(x[std::size_t(i)])) / total);
            }));
}

CONSTRUCT(third_party_matrix_product_and_convolution) {
    const int m = 37, n = 50, k = 19;
    const Floats a = scattered(m * k, 9), b = scattered(k * n, 10), c = scattered(m * n, 11);
    Array<float> da(a), db(b), dc(c);
    sgemm(m, n, k, 0.5f, da, db, 2.0f, dc);
    compare(
        report, "product", dc.host(), table(m * n, [&](int i) {
            return float(0.5 * dot(&a[std::size_t(i / n * k)], &b[std::size_t(i % n)], k, 1, n) +
                         2.0 * c[std::size_t(i)]);
        }));
    const int channels = 3, size = 7, outputs = 4, filter = 3, out_size = size - filter + 1;
    const Floats image = scattered(channels * size * size, 12),
                 filters = scattered(outputs * channels * filter * filter, 13);
    Array<float> dimage(image), dfilters(filters), out(outputs * out_size * out_size);
    report.holds("convolution succeeds",
                 conv_forward(dimage, dfilters, out, channels, size, outputs, filter) == 0);
    compare(
        report, "convolution", out.host(), table(outputs * out_size * out_size, [&](int i) {
            const int x = i % out_size, y = i / out_size % out_size, o = i / out_size / out_size;
            double sum = 0;
            for (int ch = 0; ch < channels; ++ch)
                for (int r = 0; r < filter; ++r)
                    sum += dot(&image[std::size_t((ch * size + y + r) * size + x)],
                               &filters[std::size_t(((o * channels + ch) * filter + r) * filter)],
                               filter);
            return float(sum);
        }));
}

template <class T>
static void check_extension(construct::Report& report, ScalarType type, int columns, double bound) {
    const int rows = 6, vocabulary = 5;
    const auto narrow = [](const Floats& values) {
        return table(int(values.size()), [&](int i) { return T(values[std::size_t(i)]); });
    };
    const Floats x = scattered(rows * columns, 14), bias = scattered(columns, 15);
    const std::vector<T> nx = narrow(x), nbias = narrow(bias);
    Array<T> dx(nx), dbias(nbias), out(rows * columns);
    bias_gelu(type, dx, dbias, out, rows, columns);
    const std::vector<T> got = out.host();
    compare(report, "bias and GELU",
            table(rows * columns, [&](int i) { return float(got[std::size_t(i)]); }),
            table(rows * columns,
                  [&](int i) {
                      const double v = double(float(nx[std::size_t(i)])) +
                                       float(nbias[std::size_t(i % columns)]);
                      return float(v * 0.5 * (1 + std::erf(v / std::sqrt(2.0))));
                  }),
            bound);
    const std::vector<std::int64_t> indices = {1, 3, 1, 0, 4, 1};
    Array<std::int64_t> dindices(indices);
    Array<float> dweight(vocabulary * columns);
    embedding_backward(type, dx, dindices, dweight, rows, columns, vocabulary, 4);
    compare(report, "embedding", dweight.host(), table(vocabulary * columns, [&](int i) {
                float sum = 0;
                for (int row = 0; row < rows; ++row)
                    if (indices[std::size_t(row)] == i / columns && i / columns != 4)
                        sum += float(nx[std::size_t(row * columns + i % columns)]);
                return sum;
            }));
}
CONSTRUCT(third_party_extension) {
    check_extension<float>(report, ScalarType::Float, 33, 1e-5);
    check_extension<__half>(report, ScalarType::Half, 34, 4e-3);
    check_extension<__half>(report, ScalarType::Half, 33, 4e-3);
    check_extension<__nv_bfloat16>(report, ScalarType::BFloat16, 33, 2e-2);
}
