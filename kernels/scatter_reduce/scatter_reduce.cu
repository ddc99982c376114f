// SPDX-License-Identifier: Apache-2.0
// scatter_{add,amax}.forward/gather: a thread for each result looks at all indices of its column.
// scatter_{add,amax}.forward/atomics: a thread for each source, in place or not; sums in bfloat16
// are taken in float.
// scatter_add.backward/each: a thread for each element.
// scatter_amax.backward/gather, atomics: a gradient is shared alike by all that are the largest,
// which a thread for each result counts, or atomics.
#include "kernels/kernel.cuh"

namespace {

using AddForward = gradverify::Pass<"scatter_add", "forward">;
using AddBackward = gradverify::Pass<"scatter_add", "backward">;
using AmaxForward = gradverify::Pass<"scatter_amax", "forward">;
using AmaxBackward = gradverify::Pass<"scatter_amax", "backward">;

struct Shape {
    long long outer, rows, k, inner;

    template <class Pass>
    explicit Shape(const Pass& call)
        : outer(call.size("outer")),
          rows(call.size("rows")),
          k(call.size("k")),
          inner(call.size("inner")) {}

    __host__ __device__ long long results() const { return outer * rows * inner; }
    __host__ __device__ long long sources() const { return outer * k * inner; }
    /// Where a source goes.
    __device__ long long result_of(long long source, const int* index) const {
        return (source / (k * inner) * rows + index[source]) * inner + source % inner;
    }
    /// Calls `visit(source)` for those that go to a result.
    template <class Visit>
    __device__ void for_sources_of(long long result, const int* index, Visit visit) const {
        const long long row = result / inner % rows;
        const long long first = result / (rows * inner) * k * inner + result % inner;
        for (long long source = first; source < first + k * inner; source += inner)
            if (index[source] == row) visit(source);
    }
};

template <class T, class Pass>
T* data(const Pass& call, const char* tensor) {
    return call.tensor(tensor).template as<T>();
}
/// Runs `kernel` with a thread for each of `threads`.
template <class... Parameters, class... Arguments>
void for_each(long long threads, cudaStream_t stream, void (*kernel)(Parameters...),
              Arguments... arguments) {
    if (threads > 0) kernel<<<blocks_of(threads, 256), 256, 0, stream>>>(arguments...);
}

struct Add {
    __device__ static float of(float a, float b) { return a + b; }
    __device__ static void into(float* result, float value) { atomicAdd(result, value); }
};
struct Amax {
    __device__ static float of(float a, float b) { return fmaxf(a, b); }
    /// Bits of positive floats are ordered as integers are, those of negative ones the other way.
    __device__ static void into(float* result, float value) {
        if (signbit(value))
            atomicMin(reinterpret_cast<unsigned*>(result), __float_as_uint(value));
        else
            atomicMax(reinterpret_cast<int*>(result), __float_as_int(value));
    }
};

template <class Reduction, class T>
__global__ void gather(Shape shape, const T* x, const T* src, const int* index, T* y) {
    const long long result = thread_in_grid();
    if (result >= shape.results()) return;
    float value = static_cast<float>(x[result]);
    shape.for_sources_of(result, index, [&](long long source) {
        value = Reduction::of(value, static_cast<float>(src[source]));
    });
    y[result] = static_cast<T>(value);
}

template <class Reduction, class T, class Pass>
void forward_by_gather(const Pass& call) {
    const Shape shape(call);
    for_each(shape.results(), call.launch.stream, gather<Reduction, T>, shape,
             data<const T>(call, "x"), data<const T>(call, "src"), data<const int>(call, "index"),
             data<T>(call, "y"));
}

template <class From, class To>
__global__ void convert(const From* from, To* to, long long elements) {
    const long long i = thread_in_grid();
    if (i < elements) to[i] = static_cast<To>(from[i]);
}

template <class Reduction, class T>
__global__ void scatter(Shape shape, const T* src, const int* index, float* results) {
    const long long source = thread_in_grid();
    if (source < shape.sources())
        Reduction::into(results + shape.result_of(source, index), static_cast<float>(src[source]));
}

template <class Reduction, class T, class Pass>
void forward_by_atomics(const Pass& call) {
    constexpr bool is_float = std::is_same_v<T, float>;
    const Shape shape(call);
    const auto stream = call.launch.stream;
    float* const results =
        static_cast<float*>(is_float ? call.tensor("y").data : call.launch.workspace);
    if (call.tensor("x").data != static_cast<void*>(results))
        for_each(shape.results(), stream, convert<T, float>, data<const T>(call, "x"), results,
                 shape.results());
    for_each(shape.sources(), stream, scatter<Reduction, T>, shape, data<const T>(call, "src"),
             data<const int>(call, "index"), results);
    if (!is_float)
        for_each(shape.results(), stream, convert<float, T>, results, data<T>(call, "y"),
                 shape.results());
}

template <class T>
__global__ void gradients_of_each(Shape shape, const T* dy, const int* index, T* dx, T* dsrc) {
    const long long i = thread_in_grid();
    if (dx && i < shape.results()) dx[i] = dy[i];
    if (dsrc && i < shape.sources()) dsrc[i] = dy[shape.result_of(i, index)];
}

template <class T>
void backward_of_add(const AddBackward& call) {
    const Shape shape(call);
    for_each(std::max(shape.results(), shape.sources()), call.launch.stream, gradients_of_each<T>,
             shape, data<const T>(call, "dy"), data<const int>(call, "index"),
             call.wants("dx") ? data<T>(call, "dx") : nullptr,
             call.wants("dsrc") ? data<T>(call, "dsrc") : nullptr);
}

struct Inputs {
    const float *dy, *x, *src, *y;
    const int* index;

    explicit Inputs(const AmaxBackward& call)
        : dy(data<const float>(call, "dy")),
          x(data<const float>(call, "x")),
          src(data<const float>(call, "src")),
          y(data<const float>(call, "y")),
          index(data<const int>(call, "index")) {}
};

__global__ void gather_gradients(Shape shape, Inputs in, float* dx, float* dsrc) {
    const long long result = thread_in_grid();
    if (result >= shape.results()) return;
    const float largest = in.y[result];
    int count = in.x[result] == largest ? 1 : 0;
    shape.for_sources_of(result, in.index, [&](long long source) {
        if (in.src[source] == largest) ++count;
    });
    const float share = in.dy[result] / static_cast<float>(count);
    dx[result] = in.x[result] == largest ? share : 0.0f;
    shape.for_sources_of(result, in.index, [&](long long source) {
        dsrc[source] = in.src[source] == largest ? share : 0.0f;
    });
}

void backward_by_gather(const AmaxBackward& call) {
    const Shape shape(call);
    for_each(shape.results(), call.launch.stream, gather_gradients, shape, Inputs(call),
             data<float>(call, "dx"), data<float>(call, "dsrc"));
}

__global__ void count_results(Shape shape, Inputs in, int* counts) {
    const long long result = thread_in_grid();
    if (result < shape.results()) counts[result] = in.x[result] == in.y[result] ? 1 : 0;
}
__global__ void count_sources(Shape shape, Inputs in, int* counts) {
    const long long source = thread_in_grid();
    if (source >= shape.sources()) return;
    const long long result = shape.result_of(source, in.index);
    if (in.src[source] == in.y[result]) atomicAdd(counts + result, 1);
}
__global__ void share_gradients(Shape shape, Inputs in, const int* counts, float* dx, float* dsrc) {
    const long long i = thread_in_grid();
    const auto share = [&](float value, long long result) {
        return value == in.y[result] ? in.dy[result] / static_cast<float>(counts[result]) : 0.0f;
    };
    if (i < shape.results()) dx[i] = share(in.x[i], i);
    if (i < shape.sources()) dsrc[i] = share(in.src[i], shape.result_of(i, in.index));
}

void backward_by_atomics(const AmaxBackward& call) {
    const Shape shape(call);
    const Inputs in(call);
    const auto stream = call.launch.stream;
    auto* const counts = static_cast<int*>(call.launch.workspace);
    for_each(shape.results(), stream, count_results, shape, in, counts);
    for_each(shape.sources(), stream, count_sources, shape, in, counts);
    for_each(std::max(shape.results(), shape.sources()), stream, share_gradients, shape, in, counts,
             data<float>(call, "dx"), data<float>(call, "dsrc"));
}

/// A float or an int for each result.
std::int64_t workspace(const gradverify::Problem& problem) {
    return problem.scalar("outer") * problem.scalar("rows") * problem.scalar("inner") * 4;
}

void declare_atomics(gradverify::KernelDeclaration& kernel) {
    kernel.not_deterministic().in_place("y", "x");
}

}  // namespace

using Bf16 = __nv_bfloat16;

GRADVERIFY_KERNEL(AddForward, "gather", forward_by_gather<Add, float, AddForward>)
    .with(declare_elements_on_stream<float>);
GRADVERIFY_KERNEL(AddForward, "gather_bf16", forward_by_gather<Add, Bf16, AddForward>)
    .with(declare_elements_on_stream<Bf16>);
GRADVERIFY_KERNEL(AddForward, "atomics", forward_by_atomics<Add, float, AddForward>)
    .with(declare_elements_on_stream<float>)
    .with(declare_atomics);
GRADVERIFY_KERNEL(AddForward, "atomics_bf16", forward_by_atomics<Add, Bf16, AddForward>)
    .with(declare_elements_on_stream<Bf16>)
    .with(declare_atomics)
    .workspace(workspace);
GRADVERIFY_KERNEL(AddBackward, "each", backward_of_add<float>)
    .with(declare_elements_on_stream<float>)
    .takes_mask();
GRADVERIFY_KERNEL(AddBackward, "each_bf16", backward_of_add<Bf16>)
    .with(declare_elements_on_stream<Bf16>)
    .takes_mask();
GRADVERIFY_KERNEL(AmaxForward, "gather", forward_by_gather<Amax, float, AmaxForward>)
    .with(declare_elements_on_stream<float>);
GRADVERIFY_KERNEL(AmaxForward, "atomics", forward_by_atomics<Amax, float, AmaxForward>)
    .with(declare_elements_on_stream<float>)
    .in_place("y", "x");
GRADVERIFY_KERNEL(AmaxBackward, "gather", backward_by_gather)
    .with(declare_elements_on_stream<float>);
GRADVERIFY_KERNEL(AmaxBackward, "atomics", backward_by_atomics)
    .with(declare_elements_on_stream<float>)
    .workspace(workspace);
