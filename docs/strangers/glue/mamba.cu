// SPDX-License-Identifier: Apache-2.0
// mamba's selective_scan_fwd and selective_scan_bwd, in float with real states; the types that are
// not built throw.
#include <stdexcept>

#include "harness/pass.hpp"
#include "harness/torch.hpp"

#include "selective_scan.h"

// Before their use, so that no definition here stands in for one that is built.
using Complex = c10::complex<float>;
template <class Input, class Weight>
void selective_scan_fwd_cuda(SSMParamsBase& params, cudaStream_t stream);
template <class Input, class Weight>
void selective_scan_bwd_cuda(SSMParamsBwd& params, cudaStream_t stream);
#define NOT_BUILT(PASS, PARAMS, INPUT, WEIGHT)                                \
    template <>                                                               \
    void selective_scan_##PASS##_cuda<INPUT, WEIGHT>(PARAMS&, cudaStream_t) { \
        throw std::runtime_error("not built: another type");                  \
    }
#define NEITHER_BUILT(INPUT, WEIGHT)             \
    NOT_BUILT(fwd, SSMParamsBase, INPUT, WEIGHT) \
    NOT_BUILT(bwd, SSMParamsBwd, INPUT, WEIGHT)
NEITHER_BUILT(at::Half, float)
NEITHER_BUILT(at::Half, Complex)
NEITHER_BUILT(at::BFloat16, float)
NEITHER_BUILT(at::BFloat16, Complex)
NOT_BUILT(bwd, SSMParamsBwd, float, Complex)

#include "selective_scan.cpp"

using at::Tensor;
using Maybe = c10::optional<Tensor>;
using Forward = gradverify::Pass<"selective_scan", "forward">;
using Backward = gradverify::Pass<"selective_scan", "backward">;

static Maybe gate(const auto& call) {
    if (call.size("gated") == 1) return call.tensor("z").tensor();
    return {};
}
static std::vector<Tensor> scan(const auto& call) {
    const auto t = [&](const char* name) { return call.tensor(name).tensor(); };
    return selective_scan_fwd(t("u"), t("delta"), t("A"), t("B"), t("C"), t("D"), gate(call),
                              t("delta_bias"), call.size("delta_softplus") == 1);
}
// The output before the gate, what is saved, and the output behind it where there is one.
static void forward(const Forward& call) {
    call.tensor("y").tensor().copy_(scan(call)[call.size("gated") == 1 ? 2 : 0]);
}
static void backward(const Backward& call) {
    const auto t = [&](const char* name) { return call.tensor(name).tensor(); };
    const bool is_gated = call.size("gated") == 1;
    const std::vector<Tensor> saved = scan(call);
    Maybe out, none;
    if (is_gated) out = saved[0];
    const std::vector<Tensor> gradients = selective_scan_bwd(
        t("u"), t("delta"), t("A"), t("B"), t("C"), t("D"), gate(call), t("delta_bias"), t("dy"),
        saved[1], out, none, call.size("delta_softplus") == 1, false);
    const char* const names[] = {"du", "ddelta", "dA", "dB", "dC", "dD", "ddelta_bias"};
    for (std::size_t i = 0; i < std::size(names); ++i) t(names[i]).copy_(gradients[i]);
    if (is_gated)
        t("dz").copy_(gradients[std::size(names)]);
    else
        t("dz").zero_();
}
GRADVERIFY_KERNEL(Forward, "mamba", forward).where("n", gradverify::between(1, 256));
// Sums over samples are by atomics.
GRADVERIFY_KERNEL(Backward, "mamba", backward)
    .where("n", gradverify::between(1, 256))
    .not_deterministic();
