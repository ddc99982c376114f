// SPDX-License-Identifier: Apache-2.0
// The operator causal_conv1d: a depthwise convolution over each sequence's past, packed sequences
// behind each other, with states that stand before their first elements.
//
//   y[t,c] = act(bias[c] + sum over i of weight[c,i] h[t+i,c]),  act(z) = z, or z sigmoid(z),
//   h: width-1 rows of initial_states, then the sequence; its last rows are final_states
#include "harness/declare_operator.hpp"

namespace gradverify {
namespace {

template <class T>
void forward(const ForwardCall<T>& call) {
    const auto x = call.input("x"), weight = call.input("weight"), bias = call.input("bias");
    const auto initial = call.input("initial_states");
    const auto y = call.output("y"), final = call.output("final_states");
    const auto offsets = call.indices("cu_seqlens");
    const std::int64_t before = weight.size(1) - 1;
    for (std::int64_t s = 0; s < initial.size(0); ++s)
        for (std::int64_t c = 0; c < x.size(1); ++c) {
            const std::int64_t length = offsets(s + 1) - offsets(s);
            const auto history = [&](std::int64_t at) {
                return at < before ? initial(s, c, at) : x(offsets(s) + at - before, c);
            };
            for (std::int64_t t = 0; t < length; ++t) {
                T sum = bias(c);
                for (std::int64_t i = 0; i <= before; ++i) sum += weight(c, i) * history(t + i);
                y(offsets(s) + t, c) = call.parameter("silu") == 1 ? sum * sigmoid(sum) : sum;
            }
            for (std::int64_t i = 0; i < before; ++i) final(s, c, i) = history(length + i);
        }
}

Sizes of_states(const Problem& p) {
    return {p.scalar("seqs"), p.scalar("channels"), p.scalar("width") - 1};
}

Operator describe() {
    return declare_operator("causal_conv1d")
        .parameter("total", {.minimum = 0})
        .parameter("seqs")
        .parameter("channels")
        .parameter("width", {.default_value = 2, .minimum = 2, .maximum = 4})
        .parameter("silu", {.default_value = 0, .minimum = 0, .maximum = 1})
        .separable_along("channels")
        .input("x", {"total", "channels"})
        .input("weight", {"channels", "width"})
        .input("bias", {"channels"})
        .input("initial_states", of_states)
        .input("cu_seqlens", {one_more_than("seqs")}, offsets_to("total"))
        .output("y", {"total", "channels"})
        .output("final_states", of_states)
        .typical("total", 1, 200)
        .typical("seqs", 1, 8)
        .typical("channels", 1, 64)
        .benchmark("total=8192,seqs=8,channels=4096,width=4,silu=1")
        .forward([]<class T>(const ForwardCall<T>& call) { forward(call); })
        .gradient("backward",
                  {"dy", "dfinal_states", "x", "weight", "bias", "initial_states", "cu_seqlens"},
                  {"dx", "dweight", "dbias", "dinitial_states"});
}

GRADVERIFY_OPERATOR(describe);

}  // namespace
}  // namespace gradverify
