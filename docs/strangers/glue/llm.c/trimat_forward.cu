// SPDX-License-Identifier: Apache-2.0
// Registers the kernels of trimat_forward.cu. What lies above the diagonal is not compared, as in
// their `main`, so it is set to zero here. Kernel 0, cuBLAS's, writes to a static buffer of `main`.
#include "kernels.hpp"

void trimul_gpu(int kernel, float* out, const float* inp, int b, int t, int c, int nh);

using Forward = Pass<"qk_products", "forward">;

__global__ static void keep_lower(float* preatt, int t) {
    const int row = blockIdx.x;
    for (int j = row % t + 1 + static_cast<int>(threadIdx.x); j < t; j += blockDim.x)
        preatt[static_cast<std::int64_t>(row) * t + j] = 0.0f;
}
template <int kernel>
static void forward(const Forward& call) {
    const int b = size(call, "b"), t = size(call, "t"), h = size(call, "h");
    trimul_gpu(kernel, data(call, "preatt"), data(call, "qkv"), b, t, h * size(call, "d"), h);
    keep_lower<<<b * h * t, 32>>>(data(call, "preatt"), t);
}
static void declare(KernelDeclaration& kernel) {
    kernel.on_default_stream().up_to_elements(1 << 30).where("t", multiple_of(128));
}
GRADVERIFY_KERNEL(Forward, "kernel1", forward<1>).with(declare);
GRADVERIFY_KERNEL(Forward, "kernel2", forward<2>).with(declare);
GRADVERIFY_KERNEL(Forward, "kernel3", forward<3>).with(declare).where("d", multiple_of(4));
GRADVERIFY_KERNEL(Forward, "kernel4", forward<4>).with(declare).where("d", multiple_of(32));
