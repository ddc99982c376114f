// SPDX-License-Identifier: Apache-2.0
// The glue to channel_sums.cu, which is used as it is.
#include "harness/kernel.hpp"
#include "reference/conv.hpp"

using gradverify::conv::GradBias;
void channel_sums(const float* dy, float* db, int batch, int channels, int pixels, bool add);
void channel_sums_ptx(const float* dy, float* db, int batch, int channels, int pixels);

template <bool add>
static void launch(const GradBias& call) {
    channel_sums(call.dy.as<const float>(), call.db.as<float>(), int(call.problem.n),
                 int(call.problem.k), int(call.dy.size(2) * call.dy.size(3)), add);
}
static void launch_ptx(const GradBias& call) {
    channel_sums_ptx(call.dy.as<const float>(), call.db.as<float>(), int(call.problem.n),
                     int(call.problem.k), int(call.dy.size(2) * call.dy.size(3)));
}
// The batch is a grid's second size.
GRADVERIFY_KERNEL(GradBias, "drop_in", launch<false>).where("n", gradverify::between(0, 65535));
GRADVERIFY_KERNEL(GradBias, "drop_in_added", launch<true>)
    .where("n", gradverify::between(0, 65535))
    .adds_to_outputs();
GRADVERIFY_KERNEL(GradBias, "drop_in_ptx", launch_ptx);
