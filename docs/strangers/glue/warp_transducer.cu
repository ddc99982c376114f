// SPDX-License-Identifier: Apache-2.0
// warp-transducer's compute_rnnt_loss on a GPU, called as its own PyTorch binding calls it.
#include <stdexcept>
#include <vector>

#include "harness/kernel.hpp"
#include "harness/pass.hpp"

#include <rnnt.h>

using Forward = gradverify::Pass<"rnnt_loss", "forward">;
using Backward = gradverify::Pass<"rnnt_loss", "backward">;
using gradverify::Problem;

template <class T>
static std::int64_t workspace_bytes(const Problem& problem) {
    std::size_t bytes = 0;
    get_workspace_size(static_cast<int>(problem.scalar("t")),
                       static_cast<int>(problem.scalar("u")) + 1,
                       static_cast<int>(problem.scalar("b")), true, &bytes, sizeof(T));
    return static_cast<std::int64_t>(bytes);
}

static rnntStatus_t compute(const float* logits, auto... rest) {
    return compute_rnnt_loss(logits, rest...);
}
static rnntStatus_t compute(const double* logits, auto... rest) {
    return compute_rnnt_loss_fp64(logits, rest...);
}

/// The costs, which it gives in the host's memory.
template <class T>
static std::vector<T> costs_and(T* gradients, const auto& call) {
    const auto size = [&](const char* name) { return static_cast<int>(call.size(name)); };
    const auto numbers = [&](const char* name) {
        return call.tensor(name).template as<const int>();
    };
    rnntOptions options{};
    options.loc = RNNT_GPU;
    options.stream = call.launch.stream;
    options.num_threads = 1;
    options.maxT = size("t");
    options.maxU = size("u") + 1;
    options.blank_label = size("last_is_blank") == 1 ? size("v") - 1 : 0;
    std::vector<T> costs(static_cast<std::size_t>(size("b")));
    const rnntStatus_t status =
        compute(call.tensor("logits").template as<const T>(), gradients, numbers("labels"),
                numbers("lengths"), numbers("frames"), size("v"), size("b"), costs.data(),
                call.launch.workspace, options);
    if (status != RNNT_STATUS_SUCCESS) throw std::runtime_error(rnntGetStatusString(status));
    return costs;
}

template <class T>
static void forward(const Forward& call) {
    const std::vector<T> costs = costs_and<T>(nullptr, call);
    T loss = 0;
    for (const T cost : costs) loss += cost;
    const auto copy = [&](const char* name, const T* from, std::size_t count) {
        cudaMemcpyAsync(call.tensor(name).template as<T>(), from, count * sizeof(T),
                        cudaMemcpyHostToDevice, call.launch.stream);
    };
    copy("costs", costs.data(), costs.size());
    copy("loss", &loss, 1);
    cudaStreamSynchronize(call.launch.stream);
}
template <class T>
static void backward(const Backward& call) {
    costs_and<T>(call.tensor("dlogits").template as<T>(), call);
}

/// A block has a thread for each count of labels.
template <class T>
static void declare(auto& kernel) {
    kernel.where("u", gradverify::between(0, 1023)).workspace(workspace_bytes<T>);
    kernel.storage(std::is_same_v<T, double> ? gradverify::DType::f64 : gradverify::DType::f32);
}
GRADVERIFY_KERNEL(Forward, "warp_transducer", forward<float>).with(declare<float>);
GRADVERIFY_KERNEL(Backward, "warp_transducer", backward<float>).with(declare<float>);
GRADVERIFY_KERNEL(Forward, "warp_transducer_f64", forward<double>).with(declare<double>);
GRADVERIFY_KERNEL(Backward, "warp_transducer_f64", backward<double>).with(declare<double>);
