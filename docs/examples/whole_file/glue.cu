#include "harness/kernel.hpp"
#include "layernorm.h"
#include "reference/layer_norm.hpp"
using namespace gradverify::layer_norm;
static void forward(const Forward& c) {
    layernorm_forward(c.x.as<float>(), c.gamma.as<float>(), c.beta.as<float>(), c.y.as<float>(),
                      c.mean.as<float>(), c.rstd.as<float>(), c.rows, c.width, c.eps);
}
static void backward(const Backward& c) {
    layernorm_backward(c.dy.as<float>(), c.x.as<float>(), c.gamma.as<float>(), c.mean.as<float>(),
                       c.rstd.as<float>(), c.dx.as<float>(), c.dgamma.as<float>(),
                       c.dbeta.as<float>(), c.rows, c.width);
}
GRADVERIFY_KERNEL(Forward, "theirs", forward);
GRADVERIFY_KERNEL(Backward, "theirs", backward).where("width", gradverify::between(1, 12288));
