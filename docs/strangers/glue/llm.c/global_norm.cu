// SPDX-License-Identifier: Apache-2.0
// Registers the kernels of global_norm.cu.
#include "kernels.hpp"

extern cudaDeviceProp deviceProp;
void setup_main();
void global_norm(int kernel, float* out, const Bf16* values, size_t count, int block_size);

using Forward = Pass<"sum_of_squares", "forward">;

static void set_up() {
    static const bool is_done =
        (setup_main(), cudaGetDeviceProperties(&deviceProp, 0) == cudaSuccess);
    static_cast<void>(is_done);
}
template <int kernel>
static void forward(const Forward& call) {
    set_up();
    global_norm(kernel, data(call, "y"), data<Bf16>(call, "x"), call.size("n"),
                call.launch.block_size);
}
/// It wants 1024 numbers where it leaves the result.
static void forward4(const Forward& call) {
    set_up();
    float* out = static_cast<float*>(call.launch.workspace);
    global_norm(4, out, data<Bf16>(call, "x"), call.size("n"), call.launch.block_size);
    cudaMemcpy(data(call, "y"), out, sizeof(float), cudaMemcpyDeviceToDevice);
}
static void declare(KernelDeclaration& kernel) {
    kernel.with(in_bf16).storage("y", DType::f32).adds_to_outputs().not_deterministic();
}
GRADVERIFY_KERNEL(Forward, "kernel1", forward<1>).with(declare);
GRADVERIFY_KERNEL(Forward, "kernel2", forward<2>).with(declare);
GRADVERIFY_KERNEL(Forward, "kernel3", forward<3>).with(declare);
GRADVERIFY_KERNEL(Forward, "kernel4", forward4)
    .with(in_bf16)
    .storage("y", DType::f32)
    .workspace([](const Problem&) -> std::int64_t { return 4096; });
