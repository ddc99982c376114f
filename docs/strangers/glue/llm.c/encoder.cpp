// SPDX-License-Identifier: Apache-2.0
// The sum of two embeddings, of the token and of its position.
#include "harness/declare_operator.hpp"

using namespace gradverify;

static Operator describe() {
    return declare_operator("encoder")
        .parameter("b")
        .parameter("t")
        .parameter("c")
        .parameter("v")
        .input("index", {"b", "t"}, indices_below("v"))
        .input("wte", {"v", "c"})
        .input("wpe", {"t", "c"})
        .output("y", {"b", "t", "c"})
        .sum_of_products({{"wte"}, {"wpe"}})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto wte = call.input("wte"), wpe = call.input("wpe");
            const auto index = call.indices("index");
            const auto y = call.output("y");
            for (std::int64_t b = 0; b < y.size(0); ++b)
                for (std::int64_t t = 0; t < y.size(1); ++t)
                    for (std::int64_t c = 0; c < y.size(2); ++c)
                        y(b, t, c) = wte(index(b, t), c) + wpe(t, c);
        })
        .gradient("backward", {"dy", "index"}, {"dwte", "dwpe"});
}
GRADVERIFY_OPERATOR(describe);
