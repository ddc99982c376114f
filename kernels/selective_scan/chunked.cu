// SPDX-License-Identifier: Apache-2.0
// selective_scan/chunked: a warp for each channel of each sample goes over chunks of 128 places, 4
// for each lane. The places of a chunk are scanned by shuffles, forwards for the states, backwards
// for their gradients; states between chunks lie in the workspace. In float, or bfloat16 with
// states and sums in float.
#include "kernels/selective_scan/row.cuh"

namespace {

using namespace gradverify::selective_scan;

constexpr int lanes = 32, each = 4, chunk_length = lanes * each, warps = 4;
constexpr unsigned all = 0xffffffffu;

long long chunks_of(long long length) { return divided_up(length, chunk_length); }

/// x -> factor x + term; what one place does to a state, or several one after the other.
struct Affine {
    float factor = 1.0f, term = 0.0f;

    __device__ float operator()(float x) const { return factor * x + term; }
    /// This one after the other.
    __device__ Affine after(const Affine& first) const {
        return {factor * first.factor, (*this)(first.term)};
    }
};
__device__ Affine shuffled_up(const Affine& of_lane, int distance) {
    return {__shfl_up_sync(all, of_lane.factor, distance),
            __shfl_up_sync(all, of_lane.term, distance)};
}
__device__ Affine shuffled_down(const Affine& of_lane, int distance) {
    return {__shfl_down_sync(all, of_lane.factor, distance),
            __shfl_down_sync(all, of_lane.term, distance)};
}
/// What all lanes before this one do, and what all behind it do from the last one on.
__device__ Affine before_lane(Affine of_lane) {
    const int lane = threadIdx.x;
    for (int distance = 1; distance < lanes; distance *= 2) {
        const Affine other = shuffled_up(of_lane, distance);
        if (lane >= distance) of_lane = of_lane.after(other);
    }
    const Affine before = shuffled_up(of_lane, 1);
    return lane > 0 ? before : Affine();
}
__device__ Affine behind_lane(Affine of_lane) {
    const int lane = threadIdx.x;
    for (int distance = 1; distance < lanes; distance *= 2) {
        const Affine other = shuffled_down(of_lane, distance);
        if (lane + distance < lanes) of_lane = of_lane.after(other);
    }
    const Affine behind = shuffled_down(of_lane, 1);
    return lane + 1 < lanes ? behind : Affine();
}
__device__ float warp_sum(float value) {
    for (int distance = lanes / 2; distance > 0; distance /= 2)
        value += __shfl_down_sync(all, value, distance);
    return value;
}

/// A lane's places of a chunk of a row.
template <class T>
struct Places {
    const Inputs<T>& in;
    long long row, first;
    Step steps[each];

    __device__ Places(const Inputs<T>& inputs, long long of_row, long long chunk)
        : in(inputs), row(of_row), first(chunk * chunk_length + threadIdx.x * each) {
        for (int i = 0; i < each; ++i)
            if (has(i)) steps[i] = in.step(row, first + i);
    }
    __device__ bool has(int i) const { return first + i < in.length; }
    __device__ float of(const T* tensor, int i) const {
        return static_cast<float>(tensor[row * in.length + first + i]);
    }
    /// What each place does to state n; nothing behind the end.
    __device__ void load(long long n, Affine (&maps)[each]) const {
        for (int i = 0; i < each; ++i)
            if (has(i))
                maps[i] = {in.decay(steps[i], row, n),
                           steps[i].size * in.of_B(row, n, first + i) * steps[i].u};
    }
};

/// Where states between chunks lie.
///
/// **Shapes** data `rows, chunks, n`.
struct Starts {
    float* data;
    long long chunks, states;

    __device__ float* at(long long row, long long chunk, long long n) const {
        return data + (row * chunks + chunk) * states + n;
    }
    /// Zero before the first chunk, and behind the last.
    __device__ float before(long long row, long long chunk, long long n) const {
        return chunk > 0 ? *at(row, chunk, n) : 0.0f;
    }
    __device__ float behind(long long row, long long chunk, long long n) const {
        return chunk + 1 < chunks ? *at(row, chunk + 1, n) : 0.0f;
    }
};

/// States before a lane's places and, last, behind them.
__device__ void scan_places(const Affine (&maps)[each], float start, float (&states)[each + 1]) {
    Affine of_lane;
    for (const Affine& map : maps) of_lane = map.after(of_lane);
    states[0] = before_lane(of_lane)(start);
    for (int i = 0; i < each; ++i) states[i + 1] = maps[i](states[i]);
}

/// Scans a row, and calls `visit(places, sums)` for each chunk: y before its gate, without D u.
template <class T, class Visit>
__device__ void scan_row(const Inputs<T>& in, long long row, const Starts& starts,
                         const Visit& visit) {
    for (long long chunk = 0; chunk < starts.chunks; ++chunk) {
        const Places<T> places(in, row, chunk);
        float sums[each] = {};
        for (long long n = 0; n < in.states; ++n) {
            Affine maps[each];
            float states[each + 1];
            places.load(n, maps);
            scan_places(maps, starts.before(row, chunk, n), states);
            for (int i = 0; i < each; ++i)
                if (places.has(i)) sums[i] += in.of_C(row, n, places.first + i) * states[i + 1];
            if (threadIdx.x == lanes - 1 && chunk + 1 < starts.chunks)
                *starts.at(row, chunk + 1, n) = states[each];
        }
        __syncwarp();  // before the next chunk reads them
        visit(places, sums);
    }
}

template <class T>
__global__ void scan_forward(Inputs<T> in, Starts starts, T* y) {
    const long long row = blockIdx.x * static_cast<long long>(warps) + threadIdx.y;
    if (row >= in.rows()) return;
    scan_row(in, row, starts, [&](const Places<T>& places, const float(&sums)[each]) {
        for (int i = 0; i < each; ++i) {
            if (!places.has(i)) continue;
            const float plain = sums[i] + in.D[row % in.channels] * places.steps[i].u;
            const long long l = places.first + i;
            y[row * in.length + l] = static_cast<T>(plain * in.gate(row, l));
        }
    });
}

std::int64_t bytes_of_starts(const gradverify::Problem& p) {
    return p.scalar("b") * p.scalar("d") * chunks_of(p.scalar("l")) * p.scalar("n") *
           static_cast<std::int64_t>(sizeof(float));
}

template <class T>
void forward(const Forward& call) {
    const Inputs<T> in(call);
    if (in.rows() == 0) return;
    const Starts starts{static_cast<float*>(call.launch.workspace), chunks_of(in.length),
                        in.states};
    scan_forward<<<blocks_of(in.rows(), warps), dim3(lanes, warps), 0, call.launch.stream>>>(
        in, starts, call.y.as<T>());
}

template <class T>
struct RowGradients {
    const T* dy;
    T *du, *ddelta, *dz;

    explicit RowGradients(const Backward& call)
        : dy(call.dy.as<const T>()),
          du(call.du.as<T>()),
          ddelta(call.ddelta.as<T>()),
          dz(call.dz.as<T>()) {}
};

/// Adds what state n hands back to the gradients of a lane's places. `starts` holds the state
/// before the chunk, and afterwards the gradient by it.
template <class T>
__device__ void differentiate_state(const Places<T>& places, long long chunk, long long n,
                                    const float (&dy)[each], const Starts& starts,
                                    StepGradient (&gradients)[each], float (&plain)[each],
                                    const Shared& shared) {
    const Inputs<T>& in = places.in;
    const long long row = places.row;
    Affine maps[each], back;
    float states[each + 1], by_output[each] = {}, dA = 0.0f;
    places.load(n, maps);
    scan_places(maps, starts.before(row, chunk, n), states);
    for (int i = each - 1; i >= 0; --i) {
        if (places.has(i)) {
            const float C = in.of_C(row, n, places.first + i);
            by_output[i] = C * dy[i];
            plain[i] += C * states[i + 1];
            atomicAdd(&shared.dC[in.of_state(row, n, places.first + i)], dy[i] * states[i + 1]);
        }
        back = Affine{maps[i].factor, maps[i].factor * by_output[i]}.after(back);
    }
    float behind = behind_lane(back)(starts.behind(row, chunk, n));
    for (int i = each - 1; i >= 0; --i) {
        const float by_state = behind + by_output[i];
        behind = maps[i].factor * by_state;
        if (!places.has(i)) continue;
        const StepGradient gradient =
            differentiate_step(in, places.steps[i], row, n, places.first + i, states[i], by_state,
                               maps[i].factor, &dA, shared.dB);
        gradients[i].u += gradient.u;
        gradients[i].size += gradient.size;
    }
    dA = warp_sum(dA);
    __syncwarp();  // all lanes have read the state before the chunk
    if (threadIdx.x != 0) return;
    atomicAdd(&shared.dA[row % in.channels * in.states + n], dA);
    *starts.at(row, chunk, n) = behind;
}

template <class T>
__global__ void scan_backward(Inputs<T> in, RowGradients<T> out, Starts starts, Shared shared) {
    const long long row = blockIdx.x * static_cast<long long>(warps) + threadIdx.y;
    if (row >= in.rows()) return;
    scan_row(in, row, starts, [](const Places<T>&, const float(&)[each]) {});
    const float D = in.D[row % in.channels];
    float dD = 0.0f, dbias = 0.0f;
    for (long long chunk = starts.chunks - 1; chunk >= 0; --chunk) {
        const Places<T> places(in, row, chunk);
        StepGradient gradients[each] = {};
        float dy[each] = {}, plain[each] = {};
        for (int i = 0; i < each; ++i)
            if (places.has(i)) dy[i] = places.of(out.dy, i) * in.gate(row, places.first + i);
        for (long long n = 0; n < in.states; ++n)
            differentiate_state(places, chunk, n, dy, starts, gradients, plain, shared);
        __syncwarp();  // before the chunk in front reads what comes back
        for (int i = 0; i < each; ++i) {
            if (!places.has(i)) continue;
            const Step& step = places.steps[i];
            const long long l = places.first + i, at = row * in.length + l;
            const float ddelta = gradients[i].size * in.slope(step);
            out.du[at] = static_cast<T>(gradients[i].u + D * dy[i]);
            out.ddelta[at] = static_cast<T>(ddelta);
            out.dz[at] = static_cast<T>(places.of(out.dy, i) * (plain[i] + D * step.u) *
                                        in.gate_slope(row, l));
            dD += dy[i] * step.u;
            dbias += ddelta;
        }
    }
    dD = warp_sum(dD);
    dbias = warp_sum(dbias);
    if (threadIdx.x != 0) return;
    atomicAdd(&shared.dD[row % in.channels], dD);
    atomicAdd(&shared.ddelta_bias[row % in.channels], dbias);
}

std::int64_t bytes_of_backward(const gradverify::Problem& p) {
    return bytes_of_sums(p) + bytes_of_starts(p);
}

template <class T>
void backward(const Backward& call) {
    const Inputs<T> in(call);
    with_shared<T>(call, [&](const Shared& shared) {
        const Starts starts{shared.dC + call.dC.elements(), chunks_of(in.length), in.states};
        scan_backward<<<blocks_of(in.rows(), warps), dim3(lanes, warps), 0, call.launch.stream>>>(
            in, RowGradients<T>(call), starts, shared);
    });
}

std::int64_t threads_of_rows(const gradverify::Problem& p) {
    return p.scalar("b") * p.scalar("d") * lanes * chunks_of(p.scalar("l")) * p.scalar("n");
}
template <class T>
void declare_forward(gradverify::KernelDeclaration& kernel) {
    declare_scan<T>(kernel);
    kernel.workspace(bytes_of_starts)
        .costs({.barriers_per_thread = 12, .threads = threads_of_rows});
}
template <class T>
void declare_backward(gradverify::KernelDeclaration& kernel) {
    declare_scan<T>(kernel);
    kernel.workspace(bytes_of_backward)
        .not_deterministic()
        .costs({.barriers_per_thread = 40, .threads = threads_of_rows});
}

}  // namespace

GRADVERIFY_KERNEL_OF_FLOAT_AND_BF16(Forward, "chunked", forward, declare_forward);
GRADVERIFY_KERNEL_OF_FLOAT_AND_BF16(Backward, "chunked", backward, declare_backward);
