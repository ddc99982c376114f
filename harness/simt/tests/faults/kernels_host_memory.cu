// SPDX-License-Identifier: Apache-2.0
// Kernels that are given host memory, or call the host's functions, with their right twins.
// host_memory_test.cpp says which are wrong.
#include <cuda_runtime.h>

#include <vector>

#include "harness/simt/tests/launcher.hpp"

__global__ void add_from(float* data, const float* from) {
    data[threadIdx.x] += from[threadIdx.x % 2];
}
__global__ void ignore(float* data, const float*) { data[threadIdx.x] += 1; }

static float in_bss[2];
static float in_data[2] = {1, 1};
static const float constants[2] = {1, 1};
struct Weights {
    static float shared[2];
};
float Weights::shared[2] = {1, 1};

LAUNCHER(given_a_local) {
    const float local[2] = {1, 1};
    add_from<<<1, 4>>>(call.data, local);
}
LAUNCHER(given_a_scalar) {
    float local = 1;
    add_from<<<1, 1>>>(call.data, &local);
}
LAUNCHER(given_a_static_local) {
    static float kept[2] = {1, 1};
    add_from<<<1, 4>>>(call.data, kept);
}
LAUNCHER(given_bss) { add_from<<<1, 4>>>(call.data, in_bss); }
LAUNCHER(given_data) { add_from<<<1, 4>>>(call.data, in_data); }
LAUNCHER(given_constants) { add_from<<<1, 4>>>(call.data, constants); }
LAUNCHER(given_a_static_member) { add_from<<<1, 4>>>(call.data, Weights::shared); }
LAUNCHER(given_a_vector) {
    const std::vector<float> values(2, 1.0f);
    add_from<<<1, 4>>>(call.data, values.data());
}
__global__ void add_letters(float* data, const char* text) { data[0] += float(text[0] - '0'); }
LAUNCHER(given_a_literal) { add_letters<<<1, 1>>>(call.data, "1"); }

struct Arguments {
    float* data;
    int count;
    const float* from;
};
__global__ void add_from_struct(Arguments all) { all.data[threadIdx.x] += all.from[0]; }
LAUNCHER(given_in_a_struct) { add_from_struct<<<1, 4>>>(Arguments{call.data, 1, in_data}); }
LAUNCHER(given_to_a_launch_by_call) {
    float* data = call.data;
    const float* from = in_data;
    void* arguments[] = {&data, &from};
    cudaLaunchKernel(add_from, dim3(1), dim3(4), arguments);
}
LAUNCHER(given_to_an_extended_launch) {
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(4);
    cudaLaunchKernelEx(&config, add_from, call.data, static_cast<const float*>(in_data));
}

template <class To>
To as(To given) {
    return given;
}
template <class... Taken, class... Given>
void launch_all(void (*kernel)(Taken...), Given... given) {
    kernel<<<1, 4>>>(as<Taken>(given)...);
}
LAUNCHER(given_in_a_pack) {
    float local[2] = {1, 1};
    launch_all(add_from, call.data, local);
}
struct Rows {
    const float* of[2];
};
__global__ void add_rows(float* data, Rows rows) { data[threadIdx.x] += rows.of[1][0]; }
LAUNCHER(given_in_an_array) { add_rows<<<1, 4>>>(call.data, Rows{{call.data, in_bss}}); }
template <class Function>
__global__ void apply(float* data, Function function) {
    data[threadIdx.x] = function(data[threadIdx.x]);
}
LAUNCHER(given_in_a_lambda) {
    const float local = 1, *from = &local;
    apply<<<1, 4>>>(call.data, [from] __device__(float x) { return x + *from; });
}

// Twins.
LAUNCHER(given_a_pack) {
    float* from = nullptr;
    cudaMalloc(&from, sizeof in_data);
    cudaMemcpy(from, in_data, sizeof in_data, cudaMemcpyHostToDevice);
    launch_all(add_from, call.data, from);
    cudaFree(from);
}
enum class By { new_word, malloc_call };
template <By by>
__global__ void allocate(float** made) {
    if (by == By::new_word)
        *made = new float[2];
    else
        *made = static_cast<float*>(malloc(2 * sizeof(float)));
    (*made)[0] = (*made)[1] = 1;
}
template <By by>
__global__ void release(float* made) {
    if (by == By::new_word)
        delete[] made;
    else
        free(made);
}
template <By by>
void give_devices_own(float* data) {
    float **made, *from;
    cudaMalloc(&made, sizeof *made);
    allocate<by><<<1, 1>>>(made);
    cudaMemcpy(&from, made, sizeof from, cudaMemcpyDeviceToHost);
    add_from<<<1, 4>>>(data, from);
    release<by><<<1, 1>>>(from);
    cudaFree(made);
}
LAUNCHER(given_what_a_kernel_made_new) { give_devices_own<By::new_word>(call.data); }
LAUNCHER(given_what_a_kernel_allocated) { give_devices_own<By::malloc_call>(call.data); }
LAUNCHER(given_and_not_used) {
    const float local[2] = {1, 1};
    ignore<<<1, 4>>>(call.data, local);
}
LAUNCHER(given_device_memory) {
    float* from = nullptr;
    cudaMalloc(&from, sizeof in_data);
    cudaMemcpy(from, in_data, sizeof in_data, cudaMemcpyHostToDevice);
    add_from<<<1, 4>>>(call.data, from);
    cudaFree(from);
}
LAUNCHER(given_pinned_memory) {
    float* from = nullptr;
    cudaMallocHost(&from, sizeof in_data);
    from[0] = from[1] = 1;
    add_from<<<1, 4>>>(call.data, from);
    cudaFreeHost(from);
}
__global__ void add_range(float* data, const float* from, const float* end) {
    for (; from != end; ++from) data[threadIdx.x] += *from / 2;
}
LAUNCHER(given_the_end_of_pinned_memory) {
    float* from = nullptr;
    cudaMallocHost(&from, sizeof in_data);
    from[0] = from[1] = 1;
    add_range<<<1, 4>>>(call.data, from, from + 2);
    cudaFreeHost(from);
}
LAUNCHER(given_registered_memory) {
    std::vector<float> values(2, 1.0f);
    cudaHostRegister(values.data(), sizeof in_data, 0);
    add_from<<<1, 4>>>(call.data, values.data());
    cudaHostUnregister(values.data());
}
static __managed__ float managed[2] = {1, 1};
LAUNCHER(given_a_managed_variable) { add_from<<<1, 4>>>(call.data, managed); }
static __device__ float of_device[2] = {1, 1};
LAUNCHER(given_a_symbols_address) {
    void* from = nullptr;
    cudaGetSymbolAddress(&from, of_device);
    add_from<<<1, 4>>>(call.data, static_cast<const float*>(from));
}
static __device__ float* address_of_device = of_device;
LAUNCHER(given_a_devices_address) {
    const float* from = nullptr;
    cudaMemcpyFromSymbol(&from, address_of_device, sizeof from);
    add_from<<<1, 4>>>(call.data, from);
}
static __constant__ float constant[2];
__global__ void add_constant(float* data) { data[threadIdx.x] += constant[threadIdx.x % 2]; }
LAUNCHER(with_constant_memory) {
    cudaMemcpyToSymbol(constant, in_data, sizeof in_data);
    add_constant<<<1, 4>>>(call.data);
}
struct Sizes {
    int first, second;
    long long third;
};
__global__ void add_sizes(float* data, Sizes sizes) {
    data[threadIdx.x] += sizes.first == 5 && sizes.second == 21846 && sizes.third == 3 ? 1 : 0;
}
LAUNCHER(given_numbers) { add_sizes<<<1, 4>>>(call.data, Sizes{5, 21846, 3}); }

// Functions of the host, as no rule of words finds them.
template <class Operation>
__global__ void apply_operation(float* data) {
    data[threadIdx.x] = Operation::of(data[threadIdx.x]);
}
float plus_one_on_host(float x) { return x + 1; }
struct HostFunctor {
    float operator()(float x) const { return x + 1; }
    static float of(float x) { return x + 1; }
};
struct DeviceFunctor {
    float bias;
    __device__ float operator()(float x) const { return x + bias; }
    static __device__ float of(float x) { return x + 1; }
};
// nvcc refuses these, and defines that; a file that asks for its name needs no marks.
#ifndef __CUDACC_EXTENDED_LAMBDA__
LAUNCHER(call_a_hosts_functor) { apply<<<1, 4>>>(call.data, HostFunctor()); }
LAUNCHER(call_a_hosts_static_member) { apply_operation<HostFunctor><<<1, 4>>>(call.data); }
LAUNCHER(call_a_hosts_lambda) {
    apply<<<1, 4>>>(call.data, [](float x) { return x + 1; });
}
LAUNCHER(call_a_pointer_to_a_hosts_function) { apply<<<1, 4>>>(call.data, &plus_one_on_host); }

template <auto function>
__global__ void apply_constant(float* data) {
    data[threadIdx.x] = function(data[threadIdx.x]);
}
LAUNCHER(call_a_template_argument) { apply_constant<plus_one_on_host><<<1, 4>>>(call.data); }
struct HelpedFunctor {
    float plus_one(float x) const { return x + 1; }
    __device__ float operator()(float x) const { return plus_one(x); }
};
LAUNCHER(call_a_hosts_member) { apply<<<1, 4>>>(call.data, HelpedFunctor()); }
struct HostBase {
    float plus_one(float x) const { return x + 1; }
};
struct DerivedFunctor : HostBase {
    __device__ float operator()(float x) const { return HostBase::plus_one(x); }
};
LAUNCHER(call_a_bases_member) { apply<<<1, 4>>>(call.data, DerivedFunctor()); }
#endif

LAUNCHER(call_a_devices_functor) { apply<<<1, 4>>>(call.data, DeviceFunctor{1}); }
LAUNCHER(call_a_devices_static_member) { apply_operation<DeviceFunctor><<<1, 4>>>(call.data); }
LAUNCHER(call_a_devices_lambda) {
    const float one = plus_one_on_host(0);
    apply<<<1, 4>>>(call.data, [one] __device__(float x) { return x + one; });
}
constexpr float plus_one_anywhere(float x) { return x + 1; }
LAUNCHER(call_a_constexpr_function) {
    apply<<<1, 4>>>(call.data, [] __device__(float x) { return plus_one_anywhere(x); });
}
/// It converts on the host, but here where the kernel begins.
class Owner {
  public:
    explicit Owner(float* data) : data_(data) {}
    Owner(const Owner& other) : data_(other.get()) {}
    ~Owner() { release(); }
    operator float*() const { return get(); }

  private:
    float* get() const { return data_; }
    void release() {}
    float* data_;
};
LAUNCHER(given_what_the_host_converts) { ignore<<<1, 4>>>(Owner(call.data), nullptr); }

/// Its threads convert it, without a copy by code of its own.
struct View {
    float* data;
    float* begin() const { return data; }
    operator float*() const { return begin(); }
};
LAUNCHER(given_what_converts_itself) { ignore<<<1, 4>>>(View{call.data}, nullptr); }

// What the host evaluates for a launch.
float one_on_host() { return 1; }
struct Pair {
    float first, second;
};
__global__ void add_pair(float* data, Pair pair) { data[threadIdx.x] += pair.first; }
LAUNCHER(given_braces) { add_pair<<<1, 4>>>(call.data, {one_on_host(), 0}); }
__global__ void add_default(float* data, float x = one_on_host()) { data[threadIdx.x] += x; }
LAUNCHER(given_a_default) { add_default<<<1, 4>>>(call.data); }
auto picked_on_host() { return &add_pair; }
LAUNCHER(picked) { picked_on_host()<<<1, 4>>>(call.data, Pair{1, 0}); }
LAUNCHER(given_a_hosts_result) { add_pair<<<1, 4>>>(call.data, Pair{plus_one_on_host(0), 0}); }
