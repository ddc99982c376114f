// SPDX-License-Identifier: Apache-2.0
// A forward attention that streams over tiles of keys, in the manner of flash attention; and a row
// softmax with vector loads and a running maximum.
#include <cuda.h>
#include <cuda_runtime.h>
#include <math_constants.h>

#include <stdexcept>
#include <string>

namespace attention {

template <typename T, int kTile, int kHead>
struct Shape {
    static constexpr int tile = kTile;
    static constexpr int head = kHead;
    using type = T;
    static constexpr size_t bytes() { return sizeof(T) * (3 * kTile * kHead + kTile * kTile); }
};

template <class S>
__global__ void forward_kernel(const typename S::type* Q, const typename S::type* K,
                               const typename S::type* V, const int N, const float softmax_scale,
                               typename S::type* O, bool causal) {
    constexpr int Bc = S::tile, d = S::head;
    const int tx = threadIdx.x;
    const int qkv_offset = blockIdx.y * N * d;
    const int row = blockIdx.x * Bc + tx;

    extern __shared__ float sram[];
    float* Qi = sram;
    float* Kj = &sram[Bc * d];
    float* Vj = &sram[Bc * d * 2];
    float* S_ = &sram[Bc * d * 3];

    float acc[d];
#pragma unroll
    for (int x = 0; x < d; x++) {
        acc[x] = 0.f;
        Qi[(tx * d) + x] = row < N ? Q[qkv_offset + row * d + x] : 0.f;
    }
    float row_m = -CUDART_INF_F, row_l = 0;
    for (int j = 0; j < (N + Bc - 1) / Bc; j++) {
        const int key = j * Bc + tx;
        for (int x = 0; x < d; x++) {
            Kj[(tx * d) + x] = key < N ? K[qkv_offset + key * d + x] : 0.f;
            Vj[(tx * d) + x] = key < N ? V[qkv_offset + key * d + x] : 0.f;
        }
        __syncthreads();

        float tile_m = -CUDART_INF_F;
        for (int y = 0; y < Bc; y++) {
            float sum = 0;
            for (int x = 0; x < d; x++) sum += Qi[(tx * d) + x] * Kj[(y * d) + x];
            sum *= softmax_scale;
            if (j * Bc + y >= N || (causal && j * Bc + y > row)) sum = -CUDART_INF_F;
            S_[(Bc * tx) + y] = sum;
            tile_m = fmaxf(tile_m, sum);
        }
        const float new_m = max(row_m, tile_m);
        const float correction = row_m == -CUDART_INF_F ? 0.f : __expf(row_m - new_m);
        float tile_l = 0;
        for (int y = 0; y < Bc; y++) {
            const float p = new_m == -CUDART_INF_F ? 0.f : __expf(S_[(Bc * tx) + y] - new_m);
            S_[(Bc * tx) + y] = p;
            tile_l += p;
        }
        row_l = correction * row_l + tile_l;
        row_m = new_m;
        for (int x = 0; x < d; x++) {
            float pv = 0;
            for (int y = 0; y < Bc; y++) pv += S_[(Bc * tx) + y] * Vj[(y * d) + x];
            acc[x] = correction * acc[x] + pv;
        }
        __syncthreads();
    }
    if (row < N)
        for (int x = 0; x < d; x++) O[qkv_offset + row * d + x] = acc[x] / row_l;
}

template <int kHead>
void run(const float* q, const float* k, const float* v, float* o, int heads, int n, bool causal,
         cudaStream_t stream) {
    using S = Shape<float, 16, kHead>;
    auto* kernel = &forward_kernel<S>;
    int max_sram_size = 0;
    cudaDeviceGetAttribute(&max_sram_size, cudaDevAttrMaxSharedMemoryPerBlock, 0);
    if (S::bytes() > size_t(max_sram_size))
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(S::bytes()));
    dim3 grid_dim((n + S::tile - 1) / S::tile, heads);
    dim3 block_dim(S::tile);
    kernel<<<grid_dim, block_dim, S::bytes(), stream>>>(q, k, v, n, rsqrtf(float(kHead)), o,
                                                        causal);
}

}  // namespace attention

void attention_forward(const float* q, const float* k, const float* v, float* o, int heads, int n,
                       int d, bool causal) {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    switch (d) {
        case 8:
            attention::run<8>(q, k, v, o, heads, n, causal, stream);
            break;
        case 16:
            attention::run<16>(q, k, v, o, heads, n, causal, stream);
            break;
        default:
            throw std::invalid_argument("no head of " + std::to_string(d));
    }
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
}

struct __align__(8) MaxAndSum {
    float m, d;
};
__device__ __forceinline__ MaxAndSum merge(MaxAndSum a, MaxAndSum b) {
    const bool a_larger = a.m > b.m;
    const MaxAndSum larger = a_larger ? a : b, smaller = a_larger ? b : a;
    return {larger.m, larger.d + (smaller.d > 0 ? smaller.d * expf(smaller.m - larger.m) : 0.f)};
}

template <int THREADS>
__global__ void online_softmax(const float* __restrict__ x, float* __restrict__ y, int V) {
    __shared__ MaxAndSum partial[THREADS / 32];
    x += size_t(V) * blockIdx.x;
    y += size_t(V) * blockIdx.x;
    MaxAndSum total{-INFINITY, 0.f};
    const float4* x4 = reinterpret_cast<const float4*>(x);
    for (int i = threadIdx.x; i < V / 4; i += THREADS) {
        const float4 v = __ldg(&x4[i]);
        total = merge(total, {v.x, 1.f});
        total = merge(total, {v.y, 1.f});
        total = merge(total, {v.z, 1.f});
        total = merge(total, {v.w, 1.f});
    }
#pragma unroll
    for (int o = 16; o > 0; o >>= 1) {
        MaxAndSum other;
        other.m = __shfl_down_sync(~0u, total.m, o);
        other.d = __shfl_down_sync(~0u, total.d, o);
        total = merge(total, other);
    }
    if ((threadIdx.x & 31) == 0) partial[threadIdx.x >> 5] = total;
    __syncthreads();
    for (int w = 0; w < THREADS / 32; ++w) total = w == 0 ? partial[0] : merge(total, partial[w]);
    const float inverse = __fdividef(1.f, total.d);
    float4* y4 = reinterpret_cast<float4*>(y);
    for (int i = threadIdx.x; i < V / 4; i += THREADS) {
        float4 v = x4[i];
        v.x = expf(v.x - total.m) * inverse, v.y = expf(v.y - total.m) * inverse;
        v.z = expf(v.z - total.m) * inverse, v.w = expf(v.w - total.m) * inverse;
        y4[i] = v;
    }
}

void softmax_rows(const float* x, float* y, int rows, int columns) {
    online_softmax<64><<<rows, 64>>>(x, y, columns);
}
