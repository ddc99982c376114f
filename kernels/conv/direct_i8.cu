// SPDX-License-Identifier: Apache-2.0
// conv.forward/direct_i8, direct_u8: convolution of integers of 8 bits, summed in 32, as networks
// are run after training. Filters have signs; images as well, or none, which is what comes of a
// ReLU.
#include <cstdint>

#include "kernels/conv/direct.cuh"
#include "reference/conv.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::conv;

template <class Image>
void launch(const Forward& call) {
    launch_to_features<Image, std::int8_t, std::int32_t>(call.problem, call.x, call.w, &call.b,
                                                         call.y, call.launch);
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "direct_i8", launch<std::int8_t>)
    .with(declare_direct_product<std::int32_t>)
    .storage("x", DType::i8)
    .storage("w", DType::i8);
GRADVERIFY_KERNEL(Forward, "direct_u8", launch<std::uint8_t>)
    .with(declare_direct_product<std::int32_t>)
    .storage("x", DType::u8)
    .storage("w", DType::i8);
