// SPDX-License-Identifier: Apache-2.0
// {group_norm,instance_norm}.{forward,backward}/naive: a thread for each group, and for each
// channel of dgamma and dbeta, in float. {group_norm,instance_norm}.{forward,backward}/blocks: a
// block for each group in vectors of 16 bytes; the gradients from sums over each channel of each
// sample; in float and bfloat16.
//
//   dx = rstd (g - mean of g - xhat (mean of g xhat)),  g = dy gamma,  xhat = (x - mean) rstd
#include "kernels/kernel.cuh"
#include "kernels/rows.cuh"

namespace {

struct GroupNorm {
    using Forward = gradverify::Pass<"group_norm", "forward">;
    using Backward = gradverify::Pass<"group_norm", "backward">;
    static constexpr const char* groups = "groups";
};
struct InstanceNorm {
    using Forward = gradverify::Pass<"instance_norm", "forward">;
    using Backward = gradverify::Pass<"instance_norm", "backward">;
    static constexpr const char* groups = "c";
};

struct Sizes {
    long long samples, channels, pixels, groups;

    template <class Operator, class Pass>
    static Sizes of(const Pass& call) {
        return {call.size("n"), call.size("c"), call.size("pixels"), call.size(Operator::groups)};
    }
    __host__ __device__ long long all_groups() const { return samples * groups; }
    __host__ __device__ long long all_channels() const { return samples * channels; }
    /// The elements of a group, which lie behind each other.
    __host__ __device__ long long count() const { return channels / groups * pixels; }
    __device__ long long group_of(long long channel_of_all) const {
        return channel_of_all / (channels / groups);
    }
    /// The channel of an element of a group.
    __device__ long long channel(long long group_of_all, long long i) const {
        return group_of_all % groups * (channels / groups) + i / pixels;
    }
};

template <class T>
struct Parameters {
    const T *gamma, *beta;
};
template <class T>
struct Results {
    T* y;
    float *mean, *rstd;
};

template <class T, class Pass>
T* data(const Pass& call, const char* tensor) {
    return call.tensor(tensor).template as<T>();
}
template <class T, class Pass>
Parameters<T> parameters_of(const Pass& call) {
    return {data<const T>(call, "gamma"), data<const T>(call, "beta")};
}
template <class T, class Pass>
Results<T> results_of(const Pass& call) {
    return {data<T>(call, "y"), data<float>(call, "mean"), data<float>(call, "rstd")};
}

__global__ void normalise_each(Sizes s, const float* of_x, Parameters<float> parameters,
                               Results<float> results, float eps) {
    const long long group = thread_in_grid(), count = s.count();
    if (group >= s.all_groups()) return;
    const float* const x = of_x + group * count;
    float mean = 0.0f, squares = 0.0f;
    for (long long i = 0; i < count; ++i) mean += x[i];
    mean /= static_cast<float>(count);
    for (long long i = 0; i < count; ++i) squares += (x[i] - mean) * (x[i] - mean);
    const float rstd = rsqrtf(squares / static_cast<float>(count) + eps);
    for (long long i = 0; i < count; ++i) {
        const long long c = s.channel(group, i);
        results.y[group * count + i] =
            (x[i] - mean) * rstd * parameters.gamma[c] + parameters.beta[c];
    }
    results.mean[group] = mean;
    results.rstd[group] = rstd;
}

template <class Operator>
void forward(const typename Operator::Forward& call) {
    const auto sizes = Sizes::of<Operator>(call);
    if (sizes.samples == 0) return;
    normalise_each<<<blocks_of(sizes.all_groups(), 64), 64, 0, call.launch.stream>>>(
        sizes, data<const float>(call, "x"), parameters_of<float>(call), results_of<float>(call),
        call.attribute("eps"));
}

template <class T>
struct Inputs {
    const T *dy, *x, *gamma;
    const float *mean, *rstd;

    template <class Pass>
    explicit Inputs(const Pass& call)
        : dy(data<const T>(call, "dy")),
          x(data<const T>(call, "x")),
          gamma(data<const T>(call, "gamma")),
          mean(data<const float>(call, "mean")),
          rstd(data<const float>(call, "rstd")) {}

    __device__ float xhat(float value, long long group) const {
        return (value - mean[group]) * rstd[group];
    }
};

__global__ void group_of_dx(Sizes s, Inputs<float> in, float* dx) {
    const long long group = thread_in_grid(), count = s.count(), at = group * count;
    if (group >= s.all_groups()) return;
    const auto g = [&](long long i) { return in.dy[at + i] * in.gamma[s.channel(group, i)]; };
    float sum = 0.0f, sum_xhat = 0.0f;
    for (long long i = 0; i < count; ++i) {
        sum += g(i);
        sum_xhat += g(i) * in.xhat(in.x[at + i], group);
    }
    for (long long i = 0; i < count; ++i)
        dx[at + i] = in.rstd[group] * (g(i) - (sum + in.xhat(in.x[at + i], group) * sum_xhat) /
                                                  static_cast<float>(count));
}

__global__ void channel_of_parameters(Sizes s, Inputs<float> in, float* dgamma, float* dbeta) {
    const long long c = thread_in_grid();
    if (c >= s.channels) return;
    float gamma = 0.0f, beta = 0.0f;
    for (long long n = 0; n < s.samples; ++n)
        for (long long p = 0; p < s.pixels; ++p) {
            const long long channel = n * s.channels + c, at = channel * s.pixels + p;
            gamma += in.dy[at] * in.xhat(in.x[at], s.group_of(channel));
            beta += in.dy[at];
        }
    dgamma[c] = gamma;
    dbeta[c] = beta;
}

template <class Operator>
void backward(const typename Operator::Backward& call) {
    const auto sizes = Sizes::of<Operator>(call);
    const Inputs<float> in(call);
    if (sizes.samples > 0)
        group_of_dx<<<blocks_of(sizes.all_groups(), 64), 64, 0, call.launch.stream>>>(
            sizes, in, data<float>(call, "dx"));
    channel_of_parameters<<<blocks_of(sizes.channels, 64), 64, 0, call.launch.stream>>>(
        sizes, in, data<float>(call, "dgamma"), data<float>(call, "dbeta"));
}

constexpr int threads = 128;

/// Calls `use(i, value)` with this thread's elements of a row.
template <int count, class T, class Use>
__device__ void for_elements(const T* row, long long elements, Use use) {
    for (long long i = threadIdx.x * count; i < elements; i += blockDim.x * count) {
        const auto pack = pack_at<count>(row + i);
        for (int k = 0; k < count; ++k) use(i + k, static_cast<float>(pack.at[k]));
    }
}

template <int count, class T>
__global__ void normalise_groups(Sizes s, const T* of_x, Parameters<T> parameters,
                                 Results<T> results, float eps) {
    __shared__ float share[32];
    const long long elements = s.count();
    for (long long group = blockIdx.x; group < s.all_groups(); group += gridDim.x) {
        const T* const x = of_x + group * elements;
        float sum = 0.0f, squares = 0.0f;
        for_elements<count>(x, elements, [&](long long, float value) { sum += value; });
        const float mean = sum_of_warps(sum, share) / static_cast<float>(elements);
        for_elements<count>(x, elements, [&](long long, float value) {
            squares += (value - mean) * (value - mean);
        });
        const float variance = sum_of_warps(squares, share) / static_cast<float>(elements);
        const float rstd = rsqrtf(variance + eps);
        for (long long i = threadIdx.x * count; i < elements; i += threads * count) {
            const long long c = s.channel(group, i);
            auto pack = pack_at<count>(x + i);
            for (T& element : pack.at)
                element = static_cast<T>((static_cast<float>(element) - mean) * rstd *
                                             static_cast<float>(parameters.gamma[c]) +
                                         static_cast<float>(parameters.beta[c]));
            pack_at<count>(results.y + group * elements + i) = pack;
        }
        if (threadIdx.x > 0) continue;
        results.mean[group] = mean;
        results.rstd[group] = rstd;
    }
}

template <class Operator, class T>
void forward_by_blocks(const typename Operator::Forward& call) {
    const auto sizes = Sizes::of<Operator>(call);
    if (sizes.samples == 0) return;
    constexpr int full = elements_of_pack<T>;
    const auto normalise =
        sizes.pixels % full == 0 ? normalise_groups<full, T> : normalise_groups<1, T>;
    normalise<<<blocks_of_rows(sizes.all_groups()), threads, 0, call.launch.stream>>>(
        sizes, data<const T>(call, "x"), parameters_of<T>(call), results_of<T>(call),
        call.attribute("eps"));
}

/// Sums over a channel of a sample: of dy, and of dy xhat.
using Sums = float2;

template <int count, class T>
__global__ void sum_channels(Sizes s, Inputs<T> in, Sums* sums) {
    __shared__ float share[32];
    for (long long channel = blockIdx.x; channel < s.all_channels(); channel += gridDim.x) {
        const long long group = s.group_of(channel), at = channel * s.pixels;
        float sum = 0.0f, sum_xhat = 0.0f;
        for (long long p = threadIdx.x * count; p < s.pixels; p += blockDim.x * count) {
            const auto dy = pack_at<count>(in.dy + at + p), x = pack_at<count>(in.x + at + p);
            for (int k = 0; k < count; ++k) {
                sum += static_cast<float>(dy.at[k]);
                sum_xhat +=
                    static_cast<float>(dy.at[k]) * in.xhat(static_cast<float>(x.at[k]), group);
            }
        }
        sum = sum_of_warps(sum, share);
        sum_xhat = sum_of_warps(sum_xhat, share);
        if (threadIdx.x == 0) sums[channel] = {sum, sum_xhat};
    }
}

template <int count, class T>
__global__ void groups_of_dx(Sizes s, Inputs<T> in, const Sums* sums, T* dx) {
    __shared__ float share[32];
    const long long channels = s.channels / s.groups, elements = s.count();
    for (long long group = blockIdx.x; group < s.all_groups(); group += gridDim.x) {
        float sum = 0.0f, sum_xhat = 0.0f;
        for (long long c = threadIdx.x; c < channels; c += threads) {
            const float gamma = static_cast<float>(in.gamma[group % s.groups * channels + c]);
            sum += gamma * sums[group * channels + c].x;
            sum_xhat += gamma * sums[group * channels + c].y;
        }
        const float mean = sum_of_warps(sum, share) / static_cast<float>(elements);
        const float mean_xhat = sum_of_warps(sum_xhat, share) / static_cast<float>(elements);
        for (long long i = threadIdx.x * count; i < elements; i += threads * count) {
            const long long at = group * elements + i;
            const float gamma = static_cast<float>(in.gamma[s.channel(group, i)]);
            const auto dy = pack_at<count>(in.dy + at), x = pack_at<count>(in.x + at);
            Pack<T, count> result;
            for (int k = 0; k < count; ++k) {
                const float xhat = in.xhat(static_cast<float>(x.at[k]), group);
                result.at[k] =
                    static_cast<T>(in.rstd[group] * (static_cast<float>(dy.at[k]) * gamma - mean -
                                                     xhat * mean_xhat));
            }
            pack_at<count>(dx + at) = result;
        }
    }
}

template <class T>
__global__ void sum_samples(Sizes s, const Sums* sums, T* dgamma, T* dbeta) {
    const long long c = thread_in_grid();
    if (c >= s.channels) return;
    float gamma = 0.0f, beta = 0.0f;
    for (long long n = 0; n < s.samples; ++n) {
        const Sums of_sample = sums[n * s.channels + c];
        beta += of_sample.x;
        gamma += of_sample.y;
    }
    dgamma[c] = static_cast<T>(gamma);
    dbeta[c] = static_cast<T>(beta);
}

template <class Operator, class T>
void backward_by_blocks(const typename Operator::Backward& call) {
    const auto sizes = Sizes::of<Operator>(call);
    const auto stream = call.launch.stream;
    const Inputs<T> in(call);
    auto* const sums = static_cast<Sums*>(call.launch.workspace);
    if (sizes.samples > 0) {
        constexpr int full = elements_of_pack<T>;
        const bool in_packs = sizes.pixels % full == 0;
        const auto sum = in_packs ? sum_channels<full, T> : sum_channels<1, T>;
        const auto gradient = in_packs ? groups_of_dx<full, T> : groups_of_dx<1, T>;
        const int threads_of_channel = sizes.pixels > 512 ? threads : 32;
        sum<<<blocks_of_rows(sizes.all_channels()), threads_of_channel, 0, stream>>>(sizes, in,
                                                                                     sums);
        gradient<<<blocks_of_rows(sizes.all_groups()), threads, 0, stream>>>(sizes, in, sums,
                                                                             data<T>(call, "dx"));
    }
    sum_samples<<<blocks_of(sizes.channels, 64), 64, 0, stream>>>(
        sizes, sums, data<T>(call, "dgamma"), data<T>(call, "dbeta"));
}

std::int64_t workspace(const gradverify::Problem& problem) {
    return problem.scalar("n") * problem.scalar("c") * static_cast<std::int64_t>(sizeof(Sums));
}

std::int64_t threads_of_channels(const gradverify::Problem& problem) {
    return threads * problem.scalar("n") * problem.scalar("c");
}

template <class T>
void declare_blocks(gradverify::KernelDeclaration& kernel) {
    declare_elements_on_stream<T>(kernel);
    kernel.aligned_to(16).costs({.barriers_per_thread = 12, .threads = threads_of_channels});
}

}  // namespace

#define NORM_BY_BLOCKS(OPERATOR, NAME, T)                                        \
    GRADVERIFY_KERNEL(OPERATOR::Forward, NAME, forward_by_blocks<OPERATOR, T>)   \
        .with(declare_blocks<T>);                                                \
    GRADVERIFY_KERNEL(OPERATOR::Backward, NAME, backward_by_blocks<OPERATOR, T>) \
        .with(declare_blocks<T>)                                                 \
        .workspace(workspace)
#define NORM(OPERATOR)                                                 \
    GRADVERIFY_KERNEL(OPERATOR::Forward, "naive", forward<OPERATOR>)   \
        .with(declare_elements_on_stream<float>);                      \
    GRADVERIFY_KERNEL(OPERATOR::Backward, "naive", backward<OPERATOR>) \
        .with(declare_elements_on_stream<float>);                      \
    NORM_BY_BLOCKS(OPERATOR, "blocks", float);                         \
    NORM_BY_BLOCKS(OPERATOR, "blocks_bf16", __nv_bfloat16)

NORM(GroupNorm);
NORM(InstanceNorm);
