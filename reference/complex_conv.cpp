// SPDX-License-Identifier: Apache-2.0
// The operator complex_conv, made of conv.
#include "reference/complex_conv.hpp"

#include "harness/registry/registry.hpp"
#include "reference/complex_parts.hpp"
#include "reference/conv_operator.hpp"

namespace gradverify::complex_conv {
namespace {

Operator describe() {
    Operator op = on_complex_numbers(conv::describe(), FirstChannels::of_output);
    op.benchmark = "n=128,c=64,k=128,in=71x71,filter=3x3,stride=2,padding=1";
    return op;
}

GRADVERIFY_OPERATOR(describe);

}  // namespace
}  // namespace gradverify::complex_conv
