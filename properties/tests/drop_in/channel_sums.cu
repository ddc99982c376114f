// SPDX-License-Identifier: Apache-2.0
// Sums over batch and image for each channel, as in a CUDA repository that does not know this one:
// on the default stream, with a workspace of the launcher's own and vector loads that rely on
// cudaMalloc's alignment, and without thought of empty problems.
#include <stdexcept>

#include <cuda_runtime.h>

static void check(cudaError_t error) {
    if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

__global__ void sum_images(const float* __restrict__ dy, float* __restrict__ partial, int pixels) {
    __shared__ float of_warp[4];
    const size_t image = blockIdx.y * gridDim.x + blockIdx.x;
    float sum = 0;
    if (pixels % 4 == 0) {
        const float4* rows = reinterpret_cast<const float4*>(dy + image * pixels);
        for (int i = threadIdx.x; i < pixels / 4; i += blockDim.x) {
            const float4 v = __ldg(rows + i);
            sum += (v.x + v.y) + (v.z + v.w);
        }
    } else {
        for (int i = threadIdx.x; i < pixels; i += blockDim.x) sum += dy[image * pixels + i];
    }
    for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_down_sync(~0u, sum, offset);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) partial[image] = (of_warp[0] + of_warp[1]) + (of_warp[2] + of_warp[3]);
}
__global__ void sum_batch(const float* partial, float* db, int batch, int channels, bool add) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels) return;
    float sum = 0;
    for (int i = 0; i < batch; ++i) sum += partial[i * channels + c];
    db[c] = add ? db[c] + sum : sum;
}

void channel_sums(const float* dy, float* db, int batch, int channels, int pixels, bool add) {
    float* partial;
    check(cudaMalloc(&partial, sizeof(float) * batch * channels));
    sum_images<<<dim3(channels, batch), 128>>>(dy, partial, pixels);
    sum_batch<<<(channels + 63) / 64, 64>>>(partial, db, batch, channels, add);
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
    check(cudaFree(partial));
}

__global__ void sum_with_ptx(const float* dy, float* db, int batch, int channels, int pixels) {
    const int c = blockIdx.x;
    float sum = 0;
    for (int i = 0; i < batch * pixels; ++i) {
        const float* address = dy + (i / pixels * channels + c) * pixels + i % pixels;
        unsigned bits = __float_as_uint(*address);
        asm volatile("vmax.u32.u32.u32 %0, %0, %0;" : "+r"(bits));
        sum += __uint_as_float(bits);
    }
    db[c] = sum;
}
void channel_sums_ptx(const float* dy, float* db, int batch, int channels, int pixels) {
    sum_with_ptx<<<channels, 1>>>(dy, db, batch, channels, pixels);
}
