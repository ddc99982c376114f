// SPDX-License-Identifier: Apache-2.0
// ctc_loss/naive: a thread for each sample goes over its steps, forwards for the logarithms alpha
// of what leads to each state, backwards for those, beta, of what follows; one for each gradient.
// ctc_loss/blocks: a block for each sample, whose threads share the states of a step, and a warp
// for each step's logits.
//
// A sample's states are blanks and labels by turns; packed, all samples have 2 labels + n of them.
#include "kernels/kernel.cuh"

namespace {

using gradverify::TensorView;

struct Forward : gradverify::Pass<"ctc_loss", "forward"> {
    using Pass::Pass;
    TensorView loss = tensor("loss");
};
struct Backward : gradverify::Pass<"ctc_loss", "backward"> {
    using Pass::Pass;
    TensorView dloss = tensor("dloss"), dlogits = tensor("dlogits");
};

constexpr int lanes = 32, threads = 128;

__device__ float log_add(float a, float b, float c) {
    const float largest = fmaxf(a, fmaxf(b, c));
    if (largest == -INFINITY) return largest;
    return largest + logf(expf(a - largest) + expf(b - largest) + expf(c - largest));
}

/// The samples, and in the workspace the logarithms of the steps' sums, alpha and beta.
///
/// **Shapes** log_sums `t, n`; alpha and beta `t, 2 labels + n`.
struct Samples {
    const float* logits;
    const int *targets, *offsets, *lengths;
    long long steps, samples, classes, all_states;
    int blank;
    bool zeros_infinity;
    float *log_sums, *alpha, *beta;

    template <class Call>
    explicit Samples(const Call& call)
        : logits(call.tensor("logits").template as<const float>()),
          targets(call.tensor("targets").template as<const int>()),
          offsets(call.tensor("target_offsets").template as<const int>()),
          lengths(call.tensor("input_lengths").template as<const int>()),
          steps(call.size("t")),
          samples(call.size("n")),
          classes(call.size("c")),
          all_states(2 * call.size("labels") + samples),
          blank(static_cast<int>(call.size("blank"))),
          zeros_infinity(call.size("zero_infinity") == 1),
          log_sums(static_cast<float*>(call.launch.workspace)),
          alpha(log_sums + steps * samples),
          beta(alpha + steps * all_states) {}

    __device__ long long states_of(long long sample) const {
        return 2 * (offsets[sample + 1] - offsets[sample]) + 1;
    }
    __device__ int symbol(long long sample, long long state) const {
        return state % 2 == 0 ? blank : targets[offsets[sample] + state / 2];
    }
    /// Whether a state may follow the second one before it.
    __device__ bool may_skip(long long sample, long long state) const {
        return state >= 2 && state % 2 == 1 && symbol(sample, state) != symbol(sample, state - 2);
    }
    /// A sample's row of alpha or beta at a step.
    __device__ float* row(float* of_all, long long step, long long sample) const {
        return of_all + step * all_states + 2 * offsets[sample] + sample;
    }
    __device__ const float* logits_of(long long step, long long sample) const {
        return logits + (step * samples + sample) * classes;
    }
    __device__ float log_probability(long long step, long long sample, int symbol) const {
        return logits_of(step, sample)[symbol] - log_sums[step * samples + sample];
    }
    __device__ float next_alpha(long long step, long long sample, long long state) const {
        float sum = state < 2 ? 0.0f : -INFINITY;
        if (step > 0) {
            const float* const before = row(alpha, step - 1, sample);
            sum = log_add(before[state], state >= 1 ? before[state - 1] : -INFINITY,
                          may_skip(sample, state) ? before[state - 2] : -INFINITY);
        }
        return sum + log_probability(step, sample, symbol(sample, state));
    }
    /// Of what follows the state, without its own step.
    __device__ float next_beta(long long step, long long sample, long long state) const {
        const long long states = states_of(sample);
        if (step == lengths[sample] - 1) return state + 2 >= states ? 0.0f : -INFINITY;
        const float* const after = row(beta, step + 1, sample);
        const auto by = [&](long long next) {
            return after[next] + log_probability(step + 1, sample, symbol(sample, next));
        };
        return log_add(
            by(state), state + 1 < states ? by(state + 1) : -INFINITY,
            state + 2 < states && may_skip(sample, state + 2) ? by(state + 2) : -INFINITY);
    }
    /// The logarithm of the probability of all alignments.
    __device__ float log_likelihood(long long sample) const {
        const long long states = states_of(sample);
        if (lengths[sample] == 0) return states == 1 ? 0.0f : -INFINITY;
        const float* const last = row(alpha, lengths[sample] - 1, sample);
        return log_add(last[states - 1], states >= 2 ? last[states - 2] : -INFINITY, -INFINITY);
    }
    __device__ float loss_of(long long sample) const {
        const float loss = -log_likelihood(sample);
        return zeros_infinity && loss == INFINITY ? 0.0f : loss;
    }
    /// The probability that a sample is in a state at a step.
    __device__ float posterior(long long step, long long sample, long long state,
                               float likelihood) const {
        return expf(row(alpha, step, sample)[state] + row(beta, step, sample)[state] - likelihood);
    }
};

std::int64_t bytes_of(const gradverify::Problem& p, std::int64_t recursions) {
    const std::int64_t n = p.scalar("n"), states = 2 * p.scalar("labels") + n;
    return p.scalar("t") * (n + recursions * states) * static_cast<std::int64_t>(sizeof(float));
}
std::int64_t bytes_of_forward(const gradverify::Problem& p) { return bytes_of(p, 1); }
std::int64_t bytes_of_backward(const gradverify::Problem& p) { return bytes_of(p, 2); }

__global__ void sum_rows(Samples all) {
    const long long i = thread_in_grid();
    if (i >= all.steps * all.samples) return;
    const float* const row = all.logits + i * all.classes;
    float largest = row[0], sum = 0.0f;
    for (long long c = 1; c < all.classes; ++c) largest = fmaxf(largest, row[c]);
    for (long long c = 0; c < all.classes; ++c) sum += expf(row[c] - largest);
    all.log_sums[i] = largest + logf(sum);
}

__global__ void align(Samples all, bool with_beta, float* loss) {
    const long long sample = thread_in_grid();
    if (sample >= all.samples) return;
    const long long states = all.states_of(sample), steps = all.lengths[sample];
    for (long long t = 0; t < steps; ++t)
        for (long long s = 0; s < states; ++s)
            all.row(all.alpha, t, sample)[s] = all.next_alpha(t, sample, s);
    for (long long t = steps - 1; t >= 0 && with_beta; --t)
        for (long long s = 0; s < states; ++s)
            all.row(all.beta, t, sample)[s] = all.next_beta(t, sample, s);
    if (loss) loss[sample] = all.loss_of(sample);
}

void naive_alignments(const Samples& all, bool with_beta, float* loss, cudaStream_t stream) {
    sum_rows<<<blocks_of(all.steps * all.samples, 64), 64, 0, stream>>>(all);
    align<<<blocks_of(all.samples, 64), 64, 0, stream>>>(all, with_beta, loss);
}
void naive(const Forward& call) {
    naive_alignments(Samples(call), false, call.loss.as<float>(), call.launch.stream);
}

/// A thread for each logit.
__global__ void differentiate(Samples all, const float* dloss, float* dlogits) {
    const long long i = thread_in_grid();
    if (i >= all.steps * all.samples * all.classes) return;
    const int symbol = static_cast<int>(i % all.classes);
    const long long sample = i / all.classes % all.samples;
    const long long step = i / all.classes / all.samples;
    dlogits[i] = 0.0f;
    if (step >= all.lengths[sample]) return;
    const float likelihood = all.log_likelihood(sample);
    if (likelihood == -INFINITY) return;
    float sum = expf(all.log_probability(step, sample, symbol));
    for (long long s = 0; s < all.states_of(sample); ++s)
        if (all.symbol(sample, s) == symbol) sum -= all.posterior(step, sample, s, likelihood);
    dlogits[i] = dloss[sample] * sum;
}

void naive_backward(const Backward& call) {
    const Samples all(call);
    naive_alignments(all, true, nullptr, call.launch.stream);
    differentiate<<<blocks_of(call.dlogits.elements(), 128), 128, 0, call.launch.stream>>>(
        all, call.dloss.as<const float>(), call.dlogits.as<float>());
}

__device__ float warp_sum(float value) {
    for (int distance = lanes / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}
__device__ float warp_largest(float value) {
    for (int distance = lanes / 2; distance > 0; distance /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
    return value;
}

/// A warp for each step of each sample.
__global__ void sum_rows_by_warps(Samples all) {
    const long long i = thread_in_grid() / lanes;
    if (i >= all.steps * all.samples) return;
    const float* const row = all.logits + i * all.classes;
    float largest = -INFINITY, sum = 0.0f;
    for (long long c = threadIdx.x % lanes; c < all.classes; c += lanes)
        largest = fmaxf(largest, row[c]);
    largest = warp_largest(largest);
    for (long long c = threadIdx.x % lanes; c < all.classes; c += lanes)
        sum += expf(row[c] - largest);
    sum = warp_sum(sum);
    if (threadIdx.x % lanes == 0) all.log_sums[i] = largest + logf(sum);
}

/// Each step needs all states of the one before it.
__global__ void align_by_block(Samples all, bool with_beta, float* loss) {
    const long long sample = blockIdx.x;
    const long long states = all.states_of(sample), steps = all.lengths[sample];
    for (long long t = 0; t < steps; ++t) {
        for (long long s = threadIdx.x; s < states; s += blockDim.x)
            all.row(all.alpha, t, sample)[s] = all.next_alpha(t, sample, s);
        __syncthreads();
    }
    for (long long t = steps - 1; t >= 0 && with_beta; --t) {
        for (long long s = threadIdx.x; s < states; s += blockDim.x)
            all.row(all.beta, t, sample)[s] = all.next_beta(t, sample, s);
        __syncthreads();
    }
    if (loss && threadIdx.x == 0) loss[sample] = all.loss_of(sample);
}

void align_by_blocks(const Samples& all, bool with_beta, float* loss, cudaStream_t stream) {
    sum_rows_by_warps<<<blocks_of(all.steps * all.samples * lanes, threads), threads, 0, stream>>>(
        all);
    align_by_block<<<static_cast<unsigned>(all.samples), threads, 0, stream>>>(all, with_beta,
                                                                               loss);
}
void by_blocks(const Forward& call) {
    align_by_blocks(Samples(call), false, call.loss.as<float>(), call.launch.stream);
}

/// A warp for each step of each sample: the softmax first, and less what its states come to.
__global__ void differentiate_by_warps(Samples all, const float* dloss, float* dlogits) {
    const long long i = thread_in_grid() / lanes;
    if (i >= all.steps * all.samples) return;
    const int lane = threadIdx.x % lanes;
    const long long sample = i % all.samples, step = i / all.samples;
    float* const to = dlogits + i * all.classes;
    const float likelihood = all.log_likelihood(sample);
    const bool counts = step < all.lengths[sample] && likelihood != -INFINITY;
    const float factor = dloss[sample];
    for (long long c = lane; c < all.classes; c += lanes)
        to[c] =
            counts ? factor * expf(all.log_probability(step, sample, static_cast<int>(c))) : 0.0f;
    if (!counts) return;
    __syncwarp();  // before others subtract from the elements
    float of_blank = 0.0f;
    for (long long s = lane; s < all.states_of(sample); s += lanes) {
        const float posterior = all.posterior(step, sample, s, likelihood);
        if (s % 2 == 0)
            of_blank += posterior;
        else
            atomicAdd(&to[all.symbol(sample, s)], -factor * posterior);
    }
    of_blank = warp_sum(of_blank);
    if (lane == 0) atomicAdd(&to[all.blank], -factor * of_blank);
}

void backward_by_blocks(const Backward& call) {
    const Samples all(call);
    align_by_blocks(all, true, nullptr, call.launch.stream);
    differentiate_by_warps<<<blocks_of(all.steps * all.samples * lanes, threads), threads, 0,
                             call.launch.stream>>>(all, call.dloss.as<const float>(),
                                                   call.dlogits.as<float>());
}

std::int64_t threads_of_steps(const gradverify::Problem& p) {
    return (p.scalar("t") + 2) * p.scalar("n") * threads;
}
void declare_blocks(gradverify::KernelDeclaration& kernel) {
    declare_elements_on_stream<float>(kernel);
    kernel.costs({.barriers_per_thread = 2, .threads = threads_of_steps});
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "naive", naive)
    .with(declare_elements_on_stream<float>)
    .workspace(bytes_of_forward);
GRADVERIFY_KERNEL(Forward, "blocks", by_blocks).with(declare_blocks).workspace(bytes_of_forward);
GRADVERIFY_KERNEL(Backward, "naive", naive_backward)
    .with(declare_elements_on_stream<float>)
    .workspace(bytes_of_backward);
GRADVERIFY_KERNEL(Backward, "blocks", backward_by_blocks)
    .with(declare_blocks)
    .workspace(bytes_of_backward)
    .not_deterministic();
