// SPDX-License-Identifier: Apache-2.0
#include "properties/properties.hpp"

#include <doctest/doctest.h>

#include "properties/tests/small_operators.hpp"

namespace gradverify {

using namespace testing;

TEST_CASE("a property is asked of kernels whose operator it can be true of") {
    const auto applies = [](const char* property, const Operator& op, const char* pass,
                            const KernelDeclaration& declared = {}) {
        Kernel kernel;
        kernel.op = &op;
        kernel.pass = op.find_pass(pass);
        kernel.by_device = {{"cpu", &declared}};
        return find_property(property)->applies_to(kernel);
    };
    const Operator dot = dot_product(), exact = product(), smooth = product(false);
    CHECK(applies("matches_reference", exact, "forward"));
    CHECK_FALSE(applies("matches_reference", smooth, "forward"));
    CHECK(applies("adjoint_identity", exact, "backward"));
    CHECK_FALSE(applies("adjoint_identity", exact, "forward"));
    CHECK_FALSE(applies("adjoint_identity", smooth, "backward"));
    const auto holds_large = [&](const Operator& op, const KernelDeclaration& declared = {}) {
        return applies("holds_when_large", op, "forward", declared);
    };
    CHECK(holds_large(dot));
    CHECK_FALSE(holds_large(exact));
    CHECK_FALSE(holds_large(dot, KernelDeclaration().block_scaled("x", mxfp8)));
    Operator padded_input = dot, padded_output = dot;
    padded_input.inputs[0].lengths.tensor = padded_output.outputs[0].lengths.tensor = "w";
    CHECK_FALSE(holds_large(padded_input));
    CHECK_FALSE(holds_large(padded_output));
}

}  // namespace gradverify
