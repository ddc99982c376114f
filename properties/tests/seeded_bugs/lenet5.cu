// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of a chain of layers: one layer is wrong, or the layers are joined wrongly.
#include <string_view>

#include "kernels/lenet5/simple_chain.cuh"
#include "properties/tests/launches.cuh"
#include "reference/fc.hpp"
#include "reference/lenet5.hpp"

namespace {

using gradverify::TensorView;
using gradverify::lenet5::LogitsBackward;

// A20: every sample reads the first one's cotangent.
__device__ void grad_input_of_first_sample(int i, const float* dy, const float* w, float* dx, int c,
                                           int k) {
    float sum = 0.0f;
    for (int out = 0; out < k; ++out) sum += dy[out] * w[out * c + i % c];
    dx[i] = sum;
}

void launch_first_sample(const gradverify::fc::GradInput& call) {
    const auto n = call.dx.size(0), c = call.dx.size(1);
    if (n * c > 0)
        launch_each<grad_input_of_first_sample>(call.launch, n * c, call.dy, call.w, call.dx, c,
                                                call.dy.size(1));
}

/// The simple chain with one of its kernels replaced.
template <gradverify::FixedText kernel>
void chain_with(const LogitsBackward& call) {
    static const gradverify::Chain chain = simple_chain_with({kernel.text});
    chain(call);
}

/// The pass with one tensor given in the place of another.
struct Rejoined : LogitsBackward {
    Rejoined(const LogitsBackward& call, std::string_view asked, std::string_view given)
        : LogitsBackward(call), asked_(asked), given_(given) {}
    TensorView tensor(std::string_view name) const {
        return LogitsBackward::tensor(name == asked_ ? given_ : name);
    }

  private:
    std::string_view asked_, given_;
};

// fc2's input is read before its ReLU.
void pre_activation(const LogitsBackward& call) {
    simple_chain()(Rejoined(call, "relu3_out", "fc1_out"));
}

__device__ void double_each(int i, float* values) { values[i] *= 2.0f; }

// All layers are right, but one result is doubled.
void counted_twice(const LogitsBackward& call) {
    simple_chain()(call);
    const TensorView db = call.tensor("dconv2_b");
    launch_each<double_each>(call.launch, db.elements(), db);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::fc::GradInput, "bug_a20_first_sample", launch_first_sample);
GRADVERIFY_KERNEL(LogitsBackward, "bug_a20_first_sample",
                  chain_with<"fc.grad_input/bug_a20_first_sample">);
GRADVERIFY_KERNEL(LogitsBackward, "bug_not_cleared",
                  chain_with<"maxpool.grad_input/bug_not_cleared">)
    .not_deterministic();
GRADVERIFY_KERNEL(LogitsBackward, "bug_mask_from_zero",
                  chain_with<"relu.grad_input/bug_mask_from_zero">);
GRADVERIFY_KERNEL(LogitsBackward, "bug_pre_activation", pre_activation);
GRADVERIFY_KERNEL(LogitsBackward, "bug_counted_twice", counted_twice);
