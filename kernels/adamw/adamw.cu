// SPDX-License-Identifier: Apache-2.0
// adamw.forward/naive: a thread for each element finds its tensor by bisection.
// adamw.forward/tensors: blocks for each tensor, vectors of four elements between its unaligned
// ends; in float, and with parameters and gradients in bfloat16. Both update in place.
#include "kernels/kernel.cuh"
#include "kernels/rows.cuh"

namespace {

using Forward = gradverify::Pass<"adamw", "forward">;

struct Options {
    double lr, beta1, beta2, eps, weight_decay;

    explicit Options(const Forward& call)
        : lr(call.attribute<double>("lr")),
          beta1(call.attribute<double>("beta1")),
          beta2(call.attribute<double>("beta2")),
          eps(call.attribute<double>("eps")),
          weight_decay(call.attribute<double>("weight_decay")) {}
};

/// What all elements of a tensor are updated with. The powers are near 1, so they are doubles.
class Update {
  public:
    __device__ Update(const Options& options, int step)
        : keep1_(static_cast<float>(options.beta1)),
          take1_(static_cast<float>(1.0 - options.beta1)),
          keep2_(static_cast<float>(options.beta2)),
          take2_(static_cast<float>(1.0 - options.beta2)),
          rate_(static_cast<float>(options.lr / (1.0 - pow(options.beta1, step)))),
          inverse2_(static_cast<float>(1.0 / (1.0 - pow(options.beta2, step)))),
          decay_(static_cast<float>(1.0 - options.lr * options.weight_decay)),
          eps_(static_cast<float>(options.eps)) {}

    template <class T>
    __device__ void operator()(T& param, T grad, float& exp_avg, float& exp_avg_sq) const {
        const float g = static_cast<float>(grad);
        exp_avg = keep1_ * exp_avg + take1_ * g;
        exp_avg_sq = keep2_ * exp_avg_sq + take2_ * g * g;
        const float denominator = sqrtf(exp_avg_sq * inverse2_) + eps_;
        param = static_cast<T>(decay_ * static_cast<float>(param) - rate_ * exp_avg / denominator);
    }

  private:
    float keep1_, take1_, keep2_, take2_, rate_, inverse2_, decay_, eps_;
};

/// The tensors, one behind the other.
template <class T>
struct Tensors {
    const T* grad;
    T* param;
    float *exp_avg, *exp_avg_sq;
    const int *offsets, *step;
    long long total, tensors;

    explicit Tensors(const Forward& call)
        : grad(call.tensor("grad").as<const T>()),
          param(call.tensor("new_param").as<T>()),
          exp_avg(call.tensor("new_exp_avg").as<float>()),
          exp_avg_sq(call.tensor("new_exp_avg_sq").as<float>()),
          offsets(call.tensor("offsets").as<const int>()),
          step(call.tensor("step").as<const int>()),
          total(call.size("total")),
          tensors(call.size("tensors")) {}

    /// The last tensor that begins at the element or before.
    __device__ long long tensor_of(long long i) const {
        long long first = 0, behind = tensors;
        while (behind - first > 1) {
            const long long middle = (first + behind) / 2;
            (offsets[middle] <= i ? first : behind) = middle;
        }
        return first;
    }
    template <int count>
    __device__ void update(const Update& update, long long i) const {
        const auto g = pack_at<count>(grad + i);
        auto p = pack_at<count>(param + i);
        auto m = pack_at<count>(exp_avg + i), v = pack_at<count>(exp_avg_sq + i);
        for (int k = 0; k < count; ++k) update(p.at[k], g.at[k], m.at[k], v.at[k]);
        pack_at<count>(param + i) = p;
        pack_at<count>(exp_avg + i) = m;
        pack_at<count>(exp_avg_sq + i) = v;
    }
};

__global__ void update_each(Tensors<float> all, Options options) {
    const long long i = thread_in_grid();
    if (i < all.total) all.update<1>(Update(options, all.step[all.tensor_of(i)]), i);
}

void naive(const Forward& call) {
    const Tensors<float> all(call);
    if (all.total == 0) return;
    update_each<<<blocks_of(all.total, 256), 256, 0, call.launch.stream>>>(all, Options(call));
}

constexpr int count = 4;

/// A tensor for each y of the grid.
template <class T>
__global__ void update_tensors(Tensors<T> all, Options options) {
    const long long begin = all.offsets[blockIdx.y], end = all.offsets[blockIdx.y + 1];
    if (begin == end) return;
    const Update update(options, all.step[blockIdx.y]);
    const long long aligned = min((begin + count - 1) / count * count, end);
    const long long behind = max(end / count * count, aligned);
    for (long long i = aligned + thread_in_grid() * count; i < behind;
         i += threads_in_grid() * count)
        all.template update<count>(update, i);
    if (thread_in_grid() < aligned - begin)
        all.template update<1>(update, begin + thread_in_grid());
    if (thread_in_grid() < end - behind) all.template update<1>(update, behind + thread_in_grid());
}

template <class T>
void by_tensors(const Forward& call) {
    const Tensors<T> all(call);
    const int threads = call.launch.block_size;
    const long long packs_of_mean = divided_up(divided_up(all.total, all.tensors), count);
    const dim3 grid(blocks_of_rows(divided_up(std::max(packs_of_mean, 1LL), threads)),
                    static_cast<unsigned>(all.tensors));
    update_tensors<<<grid, threads, 0, call.launch.stream>>>(all, Options(call));
}

template <class T>
void declare_update(gradverify::KernelDeclaration& kernel) {
    declare_elements_on_stream<float>(kernel);
    kernel.storage("param", gradverify::DTypeOf<T>::value)
        .storage("new_param", gradverify::DTypeOf<T>::value)
        .storage("grad", gradverify::DTypeOf<T>::value)
        .updates("new_param", "param")
        .updates("new_exp_avg", "exp_avg")
        .updates("new_exp_avg_sq", "exp_avg_sq");
}
template <class T>
void declare_tensors(gradverify::KernelDeclaration& kernel) {
    declare_update<T>(kernel);
    kernel.aligned_to(16).blocks_of({256, 64}).where("tensors", gradverify::between(1, 65535));
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "naive", naive).with(declare_update<float>);
GRADVERIFY_KERNEL_OF_FLOAT_AND_BF16(Forward, "tensors", by_tensors, declare_tensors);
