// SPDX-License-Identifier: Apache-2.0
// conv.grad_bias/cudnn...: cuDNN's gradient by the bias, which it has no bfloat16 of.
#include "kernels/conv/cudnn.cuh"

namespace {

using namespace gradverify;
using namespace gradverify::conv::cudnn;

template <class T>
void launch(const conv::GradBias& call) {
    TensorDescriptor dy, db;
    describe<T>(dy, call.dy);
    describe_channels<T>(db, call.db.size(0), Axes(call.dy).count);
    const Scale<T> one = 1, zero = 0;
    GRADVERIFY_CUDNN(ConvolutionBackwardBias, handle_on(call.launch.stream), &one, dy,
                     call.dy.as<const T>(), &zero, db, call.db.as<T>());
}

template <class T, bool is_nhwc>
void declare(KernelDeclaration& kernel) {
    declare_cudnn<T>(kernel);
    if (is_nhwc) kernel.layout("y", "nhwc");
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::GradBias, "cudnn", launch<float>).with(declare<float, false>);
GRADVERIFY_KERNEL(gradverify::conv::GradBias, "cudnn_nhwc", launch<float>)
    .with(declare<float, true>);
GRADVERIFY_KERNEL(gradverify::conv::GradBias, "cudnn_f64", launch<double>)
    .with(declare<double, false>);
GRADVERIFY_KERNEL(gradverify::conv::GradBias, "cudnn_nhwc_f64", launch<double>)
    .with(declare<double, true>);
GRADVERIFY_KERNEL(gradverify::conv::GradBias, "cudnn_f16", launch<__half>)
    .with(declare<__half, false>);
GRADVERIFY_KERNEL(gradverify::conv::GradBias, "cudnn_nhwc_f16", launch<__half>)
    .with(declare<__half, true>);
