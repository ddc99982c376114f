// SPDX-License-Identifier: Apache-2.0
// conv.*/auto_*: calls the faster of two variants, if it takes the problem. A build that is not for
// sm_90a has no `wgmma`.
#include <string>
#include <type_traits>
#include <vector>

#include "harness/choice.hpp"
#include "kernels/element.cuh"
#include "reference/conv.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::conv;

/// Floats are multiplied as tf32, which `direct` need not be.
template <class Pass, class T>
const Choice& choice() {
    const auto candidates = [] {
        const std::string pass = std::string("conv.") + Pass::pass_name + "/";
        if constexpr (std::is_same_v<T, float>)
            return std::vector<Candidate>{{pass + "wgmma_tf32"}, {pass + "direct"}};
        const std::string type = std::is_same_v<T, __half> ? "f16" : "bf16";
        return std::vector<Candidate>{{pass + "wgmma_" + type}, {pass + "direct_" + type}};
    };
    static const Choice choice(candidates(), GRADVERIFY_UNIT_DEVICE);
    return choice;
}

template <class Pass, class T>
void launch(const Pass& call) {
    choice<Pass, T>()(call);
}

template <class Pass, class T>
void declare(KernelDeclaration& kernel) {
    declare_elements_on_stream<T>(kernel);
    kernel.spatial_axes(2, 2)
        .layout("x", "nhwc")
        .layout("w", "ohwi")
        .layout("y", "nhwc")
        .where("k", multiple_of(8))
        .aligned_to(16)
        .on_tensor_cores()
        .supports("asymmetric_padding")
        .only_if(
            "a variant takes it",
            [](const Problem& problem) { return choice<Pass, T>().kernel_for(problem) != nullptr; })
        .workspace(
            [](const Problem& problem) { return choice<Pass, T>().workspace_bytes(problem); });
}

}  // namespace

#define REGISTER(PASS)                                                                     \
    GRADVERIFY_KERNEL(PASS, "auto_f16", launch<PASS, __half>).with(declare<PASS, __half>); \
    GRADVERIFY_KERNEL(PASS, "auto_bf16", launch<PASS, __nv_bfloat16>)                      \
        .with(declare<PASS, __nv_bfloat16>);                                               \
    GRADVERIFY_KERNEL(PASS, "auto_tf32", launch<PASS, float>).with(declare<PASS, float>)
REGISTER(Forward);
REGISTER(GradInput);
REGISTER(GradWeight);
