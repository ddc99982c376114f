// SPDX-License-Identifier: Apache-2.0
// The launchers of third_party/*.cu, as a host program would see them.
#pragma once

#include <cstdint>

enum class ScalarType { Float, Half, BFloat16 };
void bias_gelu(ScalarType type, const void* x, const void* bias, void* out, std::int64_t rows,
               std::int64_t columns);
void embedding_backward(ScalarType type, const void* grad, const std::int64_t* indices,
                        float* grad_weight, int count, int width, int vocabulary,
                        std::int64_t padding_idx);
void layernorm_forward(float* out, float* mean, float* rstd, const float* inp, const float* weight,
                       const float* bias, int N, int C);
void layernorm_backward(float* dinp, float* dweight, float* dbias, const float* dout,
                        const float* inp, const float* weight, const float* mean, const float* rstd,
                        int N, int C);
void attention_forward(const float* q, const float* k, const float* v, float* o, int heads, int n,
                       int d, bool causal);
void softmax_rows(const float* x, float* y, int rows, int columns);
void sgemm(int M, int N, int K, float alpha, const float* A, const float* B, float beta, float* C);
int conv_forward(const float* image, const float* filters, float* out, int channels, int size,
                 int outputs, int filter);
