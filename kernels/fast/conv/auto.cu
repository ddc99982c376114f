// SPDX-License-Identifier: Apache-2.0
// conv.*/auto: calls the variant that is likely to be the fastest of those that take the problem,
// by what docs/results/wgmma.md measured. A build that is not for sm_90a has no `wgmma`.
#include <string>
#include <type_traits>
#include <vector>

#include "harness/choice.hpp"
#include "kernels/element.cuh"
#include "reference/conv.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::conv;

/// Floats with channels last, which tensor cores cut.
struct Tf32 {};
template <class T>
using ElementOf = std::conditional_t<std::is_same_v<T, Tf32>, float, T>;

/// Where a block has a whole image, and tensor cores would be idle.
bool has_small_images(const Problem& problem) {
    const Parameters p(problem);
    return p.c <= 16 && p.k <= 32;
}

template <class Pass, class T>
const Choice& choice() {
    const auto candidates = [] {
        const std::string pass = std::string("conv.") + Pass::pass_name + "/";
        if constexpr (std::is_same_v<T, float>) {
            return std::vector<Candidate>{{pass + "small_images", has_small_images},
                                          {pass + "wgmma_bf16x6"},
                                          {pass + "implicit_gemm"}};
        } else if constexpr (std::is_same_v<T, Tf32>) {
            return std::vector<Candidate>{
                {pass + "wgmma_space_to_depth_tf32"}, {pass + "wgmma_tf32"}, {pass + "direct"}};
        } else {
            const std::string type = std::is_same_v<T, __half> ? "f16" : "bf16";
            return std::vector<Candidate>{{pass + "wgmma_space_to_depth_" + type},
                                          {pass + "wgmma_" + type},
                                          {pass + "direct_" + type}};
        }
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
    declare_elements_on_stream<ElementOf<T>>(kernel);
    kernel.spatial_axes(2, 2)
        .aligned_to(16)
        .supports("asymmetric_padding")
        .only_if(
            "a variant takes it",
            [](const Problem& problem) { return choice<Pass, T>().kernel_for(problem) != nullptr; })
        .workspace(
            [](const Problem& problem) { return choice<Pass, T>().workspace_bytes(problem); });
    if constexpr (std::is_same_v<T, float>)
        kernel.splits_factors({.products = 6, .digits = 24});
    else
        kernel.layout("x", "nhwc")
            .layout("w", "ohwi")
            .layout("y", "nhwc")
            .where("k", multiple_of(8))
            .on_tensor_cores();
}

}  // namespace

#define REGISTER(PASS)                                                                     \
    GRADVERIFY_KERNEL(PASS, "auto", launch<PASS, float>).with(declare<PASS, float>);       \
    GRADVERIFY_KERNEL(PASS, "auto_f16", launch<PASS, __half>).with(declare<PASS, __half>); \
    GRADVERIFY_KERNEL(PASS, "auto_bf16", launch<PASS, __nv_bfloat16>)                      \
        .with(declare<PASS, __nv_bfloat16>);                                               \
    GRADVERIFY_KERNEL(PASS, "auto_tf32", launch<PASS, Tf32>).with(declare<PASS, Tf32>)
REGISTER(Forward);
REGISTER(GradInput);
REGISTER(GradWeight);
