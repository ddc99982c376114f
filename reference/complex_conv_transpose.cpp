// SPDX-License-Identifier: Apache-2.0
// The operator complex_conv_transpose, made of conv_transpose.
#include "reference/complex_conv_transpose.hpp"

#include "harness/registry/registry.hpp"
#include "reference/complex_parts.hpp"
#include "reference/conv_transpose_operator.hpp"

namespace gradverify::complex_conv_transpose {
namespace {

Operator describe() {
    Operator op = on_complex_numbers(conv_transpose::describe(), FirstChannels::of_input);
    op.benchmark = "n=128,c=128,k=64,in=36x36,filter=3x3,stride=2,padding=1";
    return op;
}

GRADVERIFY_OPERATOR(describe);

}  // namespace
}  // namespace gradverify::complex_conv_transpose
