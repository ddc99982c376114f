// SPDX-License-Identifier: Apache-2.0
// conv.grad_bias/cudnn...: cuDNN's gradient by the bias, which it has no bfloat16 of.
#include "kernels/conv/cudnn.cuh"

namespace {

using namespace gradverify;
using namespace gradverify::conv;
using namespace gradverify::conv::cudnn;

template <class T>
void launch(const GradBias& call) {
    TensorDescriptor dy, db;
    describe<T>(dy, call.dy);
    describe_channels<T>(db, call.db.size(0), Axes(call.dy).count);
    const Scale<T> one = 1, zero = 0;
    GRADVERIFY_CUDNN(ConvolutionBackwardBias, handle_on(call.launch.stream), &one, dy,
                     call.dy.as<const T>(), &zero, db, call.db.as<T>());
}

template <class T>
void declare_nhwc(KernelDeclaration& kernel) {
    declare_cudnn<T>(kernel);
    kernel.layout("y", "nhwc");
}

}  // namespace

GRADVERIFY_KERNEL(GradBias, "cudnn", launch<float>).with(declare_cudnn<float>);
GRADVERIFY_KERNEL(GradBias, "cudnn_nhwc", launch<float>).with(declare_nhwc<float>);
GRADVERIFY_KERNEL(GradBias, "cudnn_f64", launch<double>).with(declare_cudnn<double>);
GRADVERIFY_KERNEL(GradBias, "cudnn_nhwc_f64", launch<double>).with(declare_nhwc<double>);
GRADVERIFY_KERNEL(GradBias, "cudnn_f16", launch<__half>).with(declare_cudnn<__half>);
GRADVERIFY_KERNEL(GradBias, "cudnn_nhwc_f16", launch<__half>).with(declare_nhwc<__half>);
