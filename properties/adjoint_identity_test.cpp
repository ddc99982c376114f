// SPDX-License-Identifier: Apache-2.0
// The identity is asked of gradients alone, and of forward kernels that are right where they are
// called: at the case's values, and along the direction.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "properties/tests/made_case.hpp"

namespace gradverify {

using namespace testing;

namespace {

const std::string right = "passed: ";
const std::string wrong =
    "failed: is not the adjoint of the forward kernel dot.forward/right: <dy, J v> differs from "
    "<g, v>";
const std::string no_forward = "skipped: no registered forward kernel is right on the problem";

// The forward kernels below are right where x[0] is 1, as here; y[1] has no cotangent.
const std::string data = "n=2,c=2:data=dy[0]=3,w[0]=2,w[1]=5,x[0]=1,x[3]=4";

bool is_elsewhere(const PassCall& call) { return Elements(call, "x")[0] != 1.0; }

template <int index>
void wrong_elsewhere(const PassCall& call) {
    run_dot_product(call);
    if (is_elsewhere(call)) Elements(call, "y").add(index, 1.0);
}

void throws_elsewhere(const PassCall& call) {
    if (is_elsewhere(call)) throw std::runtime_error("x[0] is not 1");
    run_dot_product(call);
}

void one_off(const PassCall& call) {
    run_dot_product(call);
    Elements(call, "dx").add(0, 1.0);
}

void slightly_off(const PassCall& call) {
    run_dot_product(call);
    Elements(call, "dx").add(0, 0x1p-10);
}

}  // namespace

TEST_CASE("the identity is asked of each gradient that a call is asked for, within its bound") {
    const KernelDeclaration forward = dot_kernel("forward/right");
    struct Line {
        KernelDeclaration kernel;
        std::string setting, want;
    };
    const std::vector<Line> lines{
        {dot_kernel("backward/plain"), "", right},
        {dot_kernel("backward/one_off", one_off), "", wrong},
        {dot_kernel("with_y/plain"), "", right},
        {dot_kernel("backward/adds", run_dot_product<true>).adds_to_outputs(), "", right},
        {dot_kernel("backward/masked").takes_mask(), ":mask=1", right},
        {dot_kernel("backward/masked").takes_mask(), ":mask=2", right},
        {dot_kernel("backward/transforms").norm_wise(1.0), "", right},
        {dot_kernel("backward/transforms", slightly_off).norm_wise(1.0), "", wrong}};
    for (const Line& line : lines) {
        CAPTURE(line.kernel.full_name());
        CHECK(said(run_among({line.kernel, forward}, "adjoint_identity", data + line.setting)) ==
              line.want);
    }
}

TEST_CASE("a skip says whether a forward kernel is missing, can't be called, or is wrong") {
    const KernelDeclaration gradient = dot_kernel("backward/plain");
    std::vector kernels{gradient};
    for (int i = 0; i < 2; ++i) {
        CHECK(said(run_among(kernels, "adjoint_identity", data)) ==
              "skipped: no forward kernel is registered");
        kernels.push_back(dot_kernel("forward/elsewhere"));
        kernels.back().device = "cuda";
    }
    const std::string beyond_f16 = "n=2,c=2:data=x[0]=1,w[0]=4097";
    for (const KernelDeclaration& forward :
         {dot_kernel("forward/short").where("n", equals(1)),
          dot_kernel("forward/adds", run_dot_product<true>).adds_to_outputs(),
          dot_kernel("forward/half").storage("w", DType::f16)})
        CHECK(said(run_among({gradient, forward}, "adjoint_identity", beyond_f16)) ==
              "skipped: no registered forward kernel takes the problem and gives exact integers");
}

TEST_CASE("a forward kernel that is wrong along the direction is passed over for the next") {
    struct Line {
        KernelDeclaration::Thunk gradient, forward;
        std::string want, want_with_right;
    };
    const std::vector<Line> lines{{run_dot_product<>, wrong_elsewhere<0>, no_forward, right},
                                  {run_dot_product<>, throws_elsewhere, no_forward, right},
                                  {one_off, wrong_elsewhere<0>, no_forward, wrong},
                                  // What has no cotangent is in no product.
                                  {run_dot_product<>, wrong_elsewhere<1>, right, right}};
    for (const Line& line : lines) {
        std::vector kernels{dot_kernel("backward/plain", line.gradient),
                            dot_kernel("forward/first", line.forward)};
        CHECK(said(run_among(kernels, "adjoint_identity", data)) == line.want);
        kernels.push_back(dot_kernel("forward/right"));
        CHECK(said(run_among(kernels, "adjoint_identity", data)) == line.want_with_right);
    }
}

}  // namespace gradverify
