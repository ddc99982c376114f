// SPDX-License-Identifier: Apache-2.0
// Correct kernels that work a block at a time, in the idioms of CUDA code at large. The detector
// must be silent on each; data[0 .. count) holds 0, 1, 2 ... and each leaves a result to compare.
#include <cuda_runtime.h>

#include "harness/simt/tests/launcher.hpp"

// 1. Hillis and Steele's inclusive scan, in place.
__global__ void hillis_steele(float* data) {
    __shared__ float values[256];
    const unsigned i = threadIdx.x;
    values[i] = data[i];
    __syncthreads();
    for (unsigned step = 1; step < blockDim.x; step *= 2) {
        const float other = i >= step ? values[i - step] : 0.0f;
        __syncthreads();
        values[i] += other;
        __syncthreads();
    }
    data[i] = values[i];
}
GRADVERIFY_SIMT_TEST_LAUNCHER(idiom_hillis_steele_scan) { hillis_steele<<<1, 256>>>(call.data); }

// 2. Blelloch's exclusive scan.
__global__ void blelloch(float* data, int n) {
    extern __shared__ float temp[];
    const int thread = threadIdx.x;
    int offset = 1;
    temp[2 * thread] = data[2 * thread];
    temp[2 * thread + 1] = data[2 * thread + 1];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (thread < d) {
            const int a = offset * (2 * thread + 1) - 1, b = offset * (2 * thread + 2) - 1;
            temp[b] += temp[a];
        }
        offset *= 2;
    }
    if (thread == 0) temp[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (thread < d) {
            const int a = offset * (2 * thread + 1) - 1, b = offset * (2 * thread + 2) - 1;
            const float t = temp[a];
            temp[a] = temp[b];
            temp[b] += t;
        }
    }
    __syncthreads();
    data[2 * thread] = temp[2 * thread];
    data[2 * thread + 1] = temp[2 * thread + 1];
}
GRADVERIFY_SIMT_TEST_LAUNCHER(idiom_blelloch_scan) {
    blelloch<<<1, 128, 256 * sizeof(float)>>>(call.data, 256);
}

// 3. Tiled transpose with a padded tile.
template <int Tile>
__global__ void transpose(const float* from, float* to, int width, int height) {
    __shared__ float tile[Tile][Tile + 1];
    int x = blockIdx.x * Tile + threadIdx.x;
    int y = blockIdx.y * Tile + threadIdx.y;
    if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = from[y * width + x];
    __syncthreads();
    x = blockIdx.y * Tile + threadIdx.x;
    y = blockIdx.x * Tile + threadIdx.y;
    if (x < height && y < width) to[y * height + x] = tile[threadIdx.x][threadIdx.y];
}
GRADVERIFY_SIMT_TEST_LAUNCHER(idiom_tiled_transpose) {
    transpose<8><<<dim3(2, 2), dim3(8, 8)>>>(call.data, call.data + 130, 13, 10);
    cudaMemcpy(call.data, call.data + 130, 130 * sizeof(float), cudaMemcpyDeviceToDevice);
}

// 4. Tiled product of matrices, with two buffers and one barrier for each tile.
__global__ void gemm(const float* a, const float* b, float* c, int n) {
    constexpr int tile = 8;
    __shared__ float as[2][tile][tile], bs[2][tile][tile];
    const int row = blockIdx.y * tile + threadIdx.y, column = blockIdx.x * tile + threadIdx.x;
    const auto load = [&](int buffer, int step) {
        as[buffer][threadIdx.y][threadIdx.x] = a[row * n + step * tile + threadIdx.x];
        bs[buffer][threadIdx.y][threadIdx.x] = b[(step * tile + threadIdx.y) * n + column];
    };
    float sum = 0.0f;
    load(0, 0);
    __syncthreads();
    for (int step = 0; step < n / tile; ++step) {
        if (step + 1 < n / tile) load((step + 1) % 2, step + 1);
        for (int k = 0; k < tile; ++k) {
            sum += as[step % 2][threadIdx.y][k] * bs[step % 2][k][threadIdx.x];
        }
        __syncthreads();
    }
    c[row * n + column] = sum;
}
GRADVERIFY_SIMT_TEST_LAUNCHER(idiom_double_buffered_gemm) {
    const int n = 24;
    gemm<<<dim3(3, 3), dim3(8, 8)>>>(call.data, call.data, call.data + n * n, n);
    cudaMemcpy(call.data, call.data + n * n, n * n * sizeof(float), cudaMemcpyDeviceToDevice);
}

// 5. Bitonic sort in shared memory.
__global__ void bitonic(float* data) {
    __shared__ float values[128];
    const unsigned i = threadIdx.x;
    values[i] = -data[i];
    __syncthreads();
    for (unsigned size = 2; size <= blockDim.x; size *= 2) {
        for (unsigned step = size / 2; step > 0; step /= 2) {
            const unsigned other = i ^ step;
            if (other > i) {
                const bool ascends = (i & size) == 0;
                const float a = values[i], b = values[other];
                if ((a > b) == ascends) {
                    values[i] = b;
                    values[other] = a;
                }
            }
            __syncthreads();
        }
    }
    data[i] = values[i];
}
GRADVERIFY_SIMT_TEST_LAUNCHER(idiom_bitonic_sort) { bitonic<<<1, 128>>>(call.data); }

// 6. A loop that ends when no thread of the block has anything left to do.
__global__ void relax(float* data) {
    __shared__ int values[64];
    const unsigned i = threadIdx.x;
    values[i] = i == 0 ? 0 : 1000;
    __syncthreads();
    int changed = 1;
    while (__syncthreads_or(changed)) {
        const int left = i > 0 ? values[i - 1] + 1 : 0;
        __syncthreads();
        changed = left < values[i];
        if (changed) values[i] = left;
    }
    data[i] = values[i];
}
GRADVERIFY_SIMT_TEST_LAUNCHER(idiom_syncthreads_or_loop) { relax<<<1, 64>>>(call.data); }

// 7. A value broadcast through shared memory, again and again, with two barriers.
__global__ void broadcast(float* data, int count) {
    __shared__ float value;
    float sum = 0.0f;
    for (int i = 0; i < count; ++i) {
        if (threadIdx.x == unsigned(i) % blockDim.x) value = data[i];
        __syncthreads();
        sum += value;
        __syncthreads();
    }
    data[threadIdx.x] = sum;
}
GRADVERIFY_SIMT_TEST_LAUNCHER(idiom_broadcast) { broadcast<<<1, 48>>>(call.data, 48); }

// 8. Grid-stride histogram: shared bins first, then atomics on global memory.
__global__ void histogram(const float* data, int* bins, int count) {
    __shared__ int own[16];
    for (unsigned i = threadIdx.x; i < 16; i += blockDim.x) own[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        atomicAdd(&own[static_cast<int>(data[i]) % 16], 1);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 16; i += blockDim.x) atomicAdd(&bins[i], own[i]);
}
__global__ void to_floats(const int* from, float* to) { to[threadIdx.x] = from[threadIdx.x]; }
GRADVERIFY_SIMT_TEST_LAUNCHER(idiom_histogram) {
    int* bins = nullptr;
    cudaMalloc(&bins, 16 * sizeof(int));
    cudaMemset(bins, 0, 16 * sizeof(int));
    histogram<<<3, 40>>>(call.data, bins, 200);
    to_floats<<<1, 16>>>(bins, call.data);
    cudaFree(bins);
}

// 9. Warps that produce and warps that consume, taking turns at common barriers.
__global__ void produce_and_consume(float* data) {
    __shared__ float buffer[2][32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum = 0.0f;
    for (int round = 0; round < 5; ++round) {
        if (warp == 0 && round < 4) buffer[round % 2][lane] = data[round * 32 + lane];
        if (warp == 1 && round > 0) sum += buffer[(round - 1) % 2][31 - lane];
        __syncthreads();
    }
    if (warp == 1) data[lane] = sum;
}
GRADVERIFY_SIMT_TEST_LAUNCHER(idiom_producer_and_consumer) {
    produce_and_consume<<<1, 64>>>(call.data);
}

// 10. One piece of shared memory seen as two types, one after the other.
__global__ void reinterpret(float* data) {
    __shared__ union {
        float as_float[64];
        unsigned char as_bytes[256];
    } memory;
    memory.as_float[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    const unsigned top = memory.as_bytes[4 * (63 - threadIdx.x) + 3];
    __syncthreads();
    for (int i = 0; i < 4; ++i) memory.as_bytes[threadIdx.x + 64 * i] = top + i;
    __syncthreads();
    data[threadIdx.x] = memory.as_bytes[4 * threadIdx.x] + memory.as_bytes[4 * threadIdx.x + 3];
}
GRADVERIFY_SIMT_TEST_LAUNCHER(idiom_shared_union) { reinterpret<<<1, 64>>>(call.data); }

// 11. Dynamic shared memory carved into arrays of several types.
__global__ void carve(float* data, int n) {
    extern __shared__ unsigned char raw[];
    double* wide = reinterpret_cast<double*>(raw);
    float* narrow = reinterpret_cast<float*>(wide + n);
    short* small = reinterpret_cast<short*>(narrow + n);
    const int i = threadIdx.x;
    wide[i] = data[i] * 0.5;
    narrow[i] = data[n - 1 - i];
    small[i] = static_cast<short>(i);
    __syncthreads();
    const int j = (i + 1) % n;
    data[i] = static_cast<float>(wide[j]) + narrow[j] + small[j];
}
GRADVERIFY_SIMT_TEST_LAUNCHER(idiom_carved_dynamic_shared) {
    carve<<<1, 50, 50 * (sizeof(double) + sizeof(float) + sizeof(short))>>>(call.data, 50);
}

// 12. Copies by vector types, and of structures with padding.
struct Pair {
    double value;
    int index;
};
__global__ void vectors(float* data) {
    __shared__ float4 staged[16];
    __shared__ Pair pairs[16];
    const unsigned i = threadIdx.x;
    staged[i] = reinterpret_cast<const float4*>(data)[i];
    pairs[i].value = data[4 * i];
    pairs[i].index = static_cast<int>(i);
    __syncthreads();
    const Pair pair = pairs[15 - i];
    float4 mine = staged[15 - i];
    mine.x += static_cast<float>(pair.value) + pair.index;
    reinterpret_cast<float4*>(data)[i] = mine;
}
GRADVERIFY_SIMT_TEST_LAUNCHER(idiom_vector_copies) { vectors<<<1, 16>>>(call.data); }

// 13. Every thread stores the same value, and reads it back at once; blocks overlap in a halo.
__global__ void same_value(float* data, int count) {
    __shared__ int limit;
    limit = count;
    __threadfence_block();  // has it read again
    const int own = limit;
    __syncthreads();
    for (int i = -1; i <= 1; ++i) {
        const int at = static_cast<int>(blockIdx.x) * 4 + static_cast<int>(threadIdx.x) % 4 + i;
        if (at >= 0 && at < own) data[at] = 2.0f * at + limit;
    }
}
GRADVERIFY_SIMT_TEST_LAUNCHER(idiom_same_value_writes) { same_value<<<4, 32>>>(call.data, 16); }

// 14. Ping-pong between two arrays in global memory, a launch for each step.
__global__ void smooth(const float* from, float* to, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    to[i] = from[i > 0 ? i - 1 : i] + from[i] + from[i + 1 < count ? i + 1 : i];
}
GRADVERIFY_SIMT_TEST_LAUNCHER(idiom_ping_pong) {
    for (int step = 0; step < 4; ++step) {
        smooth<<<4, 16>>>(call.data + step % 2 * 64, call.data + (1 - step % 2) * 64, 50);
    }
}

// 15. Blocks of bytes of a constant size, which compilers expand in place.
struct Row {
    float values[64];
};
__global__ void rows_of_bytes(float* data) {
    __shared__ Row rows[4];
    if (threadIdx.x == 0) memset(rows, 0, sizeof rows);
    __syncthreads();
    if (threadIdx.x < 2) memcpy(&rows[threadIdx.x], data + 64 * threadIdx.x, sizeof(Row));
    __syncthreads();
    if (threadIdx.x == 2) memcpy(&rows[2], &rows[1], sizeof(Row));
    if (threadIdx.x == 3) rows[3] = rows[0];
    __syncthreads();
    for (int i = threadIdx.x; i < 64; i += 32)
        data[i] = rows[0].values[i] + rows[1].values[i] + rows[2].values[i] + rows[3].values[i];
}
GRADVERIFY_SIMT_TEST_LAUNCHER(idiom_blocks_of_bytes) { rows_of_bytes<<<1, 32>>>(call.data); }
