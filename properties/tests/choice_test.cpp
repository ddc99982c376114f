// SPDX-License-Identifier: Apache-2.0
// A launcher that chooses among kernels: which one it calls, and what it refuses.
#include "harness/choice.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/devices/device.hpp"
#include "harness/registry/layout.hpp"
#include "harness/registry/registry.hpp"
#include "properties/tests/verdicts.hpp"
#include "reference/conv.hpp"

namespace gradverify {

namespace {

using Candidates = std::vector<Candidate>;

Problem problem_of(const std::string& text) {
    return Problem::parse(Registry::instance().find_operator("conv")->space, text);
}

std::string chosen(const Candidates& candidates, const std::string& problem,
                   const std::string& device = "cpu") {
    const KernelDeclaration* const kernel =
        Choice(candidates, device).kernel_for(problem_of(problem));
    return kernel ? kernel->full_name() : "";
}

/// What a call in floats of x = 3, w = 5 and b = 1 gives, or why it throws.
std::string result_of(const Candidates& candidates, std::size_t misplaced_by = 0,
                      const std::string& text = "in=1x1") {
    const Operator& op = *Registry::instance().find_operator("conv");
    const std::vector<std::string> names = op.find_pass("forward")->tensors();
    const Problem problem = problem_of(text);
    const std::vector<std::size_t> bytes(names.size(), 512);
    const std::vector<std::byte*> places = device_named("cpu").place(bytes, Edge::end);
    std::vector<TensorView> views;
    for (const std::string& name : names) {
        const Sizes sizes = op.sizes_of(name, problem);
        float* const place = reinterpret_cast<float*>(places[views.size()]) + misplaced_by;
        views.push_back(view_of(place, DType::f32, sizes, row_major_strides(sizes)));
        std::fill_n(place, views.back().elements(), name == "x" ? 3.0f : name == "w" ? 5.0f : 1.0f);
    }
    try {
        Choice(candidates, "cpu")(
            conv::Forward({.problem = problem, .tensors = views, .names = names, .outputs = 1}));
    } catch (const std::invalid_argument& refused) {
        return refused.what();
    }
    return std::to_string(reinterpret_cast<const float*>(places.back())[misplaced_by]);
}

const Candidate naive{"conv.forward/naive"}, wgmma{"conv.forward/wgmma_f16"},
    half{"conv.forward/naive_f16"};

}  // namespace

TEST_CASE("a choice is the first kernel that is there, suits the problem and supports it") {
    CHECK(chosen({wgmma, half}, "c=8,k=8,in=2x2") == wgmma.kernel);
    CHECK(chosen({wgmma, half}, "c=7,k=8,in=2x2") == half.kernel);
    CHECK(chosen({half, wgmma}, "c=8,k=8,in=2x2") == half.kernel);
    CHECK(chosen({wgmma}, "c=7,k=8,in=2x2") == "");
    CHECK(chosen({{"conv.forward/absent"}, half}, "in=1x1") == half.kernel);
    CHECK(chosen({half}, "in=1x1", "no_device") == "");
    const Candidate of_small{wgmma.kernel,
                             [](const Problem& problem) { return problem.scalar("c") < 16; }};
    CHECK(chosen({of_small, half}, "c=8,k=8,in=2x2") == wgmma.kernel);
    CHECK(chosen({of_small, half}, "c=16,k=8,in=2x2") == half.kernel);
    const Choice choice({{"conv.grad_weight/wgmma_f16"}, half}, "cpu");
    CHECK(choice.workspace_bytes(problem_of("c=8,k=8,in=2x2")) ==
          Registry::instance()
              .find_kernel("conv.grad_weight/wgmma_f16")
              ->any()
              .workspace_at(problem_of("c=8,k=8,in=2x2")));
    CHECK(choice.workspace_bytes(problem_of("c=7,k=8,in=2x2")) == 0);
}

TEST_CASE("a choice calls the kernel with what it was given, or says what does not fit") {
    CHECK(result_of({naive}) == "16.000000");
    CHECK(result_of({naive}, 1) == "16.000000");
    const Candidate tf32{"conv.forward/wgmma_tf32"};
    CHECK(result_of({tf32}, 0, "c=8,k=8,in=1x1") == "121.000000");
    CHECK(result_of({tf32}, 1, "c=8,k=8,in=1x1") ==
          "conv.forward/wgmma_tf32 needs tensors at multiples of 16 bytes, and x is not at one");
    CHECK(result_of({wgmma}) == "none of the kernels takes the problem in=1x1");
    CHECK(result_of({half}) == "conv.forward/naive_f16 is given x of another element type");
    CHECK(result_of({{"conv.forward/im2col"}}) ==
          "conv.forward/im2col needs a workspace of 4 bytes, and there are 0");
}

TEST_CASE("conv's choices are the variants that suit, which need workspaces of their own") {
    struct Wanted {
        std::string choice, problem, variant;
    };
    for (const Wanted& row : std::initializer_list<Wanted>{
             {"grad_input/auto_tf32", "c=64,k=64,in=8x8,filter=3x3", "wgmma_tf32"},
             {"grad_weight/auto_f16", "c=64,k=64,in=8x8,filter=3x3", "wgmma_f16"},
             {"grad_weight/auto_f16", "c=3,k=64,in=8x8,filter=3x3", "direct_f16"},
             {"grad_weight/auto_bf16", "c=64,k=64,in=8x8,filter=3x3", "wgmma_bf16"},
             {"grad_weight/auto_f16", "n=9,c=64,k=64,groups=2,in=8x8", "direct_f16"},
             {"grad_weight/auto_tf32", "c=64,k=64,in=8x8,filter=3x3", "wgmma_tf32"},
             {"grad_weight/auto_tf32", "n=9,c=64,k=64,groups=2,in=8x8", "direct"}}) {
        const std::string &name = row.choice, pass = name.substr(0, name.find('/') + 1);
        const auto workspace_of = [&](const std::string& kernel) {
            return Registry::instance()
                .find_kernel("conv." + kernel)
                ->any()
                .workspace_at(problem_of(row.problem));
        };
        CAPTURE(name);
        CAPTURE(row.problem);
        CHECK(workspace_of(name) == workspace_of(pass + row.variant));
    }
}

TEST_CASE("conv's choices are right with each of their variants") {
    for (const std::string pass : {"forward", "grad_input", "grad_weight"}) {
        const std::string kernel = "conv." + pass + "/auto_";
        for (const char* problem : {"c=3,k=8,in=5x4,filter=3x3,stride=2x2", "c=8,k=8,in=4x3",
                                    "c=16,k=16,groups=2,in=4x3"})
            for (const char* type : {"f16", "tf32"})
                testing::check_agrees(kernel + type, "matches_reference",
                                      std::string(problem) + ":seed=1");
    }
}

}  // namespace gradverify
