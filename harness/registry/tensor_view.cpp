// SPDX-License-Identifier: Apache-2.0
#include "harness/registry/tensor_view.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "harness/base/refuse.hpp"

namespace gradverify {

void TensorView::require_pairs(DType wanted) const {
    if (dtype != wanted)
        gradverify::refuse(
            "the launcher reads a tensor of {0} as pairs of {1}; name a pair of {2}, "
            "or declare .storage(gradverify::DType::{1})",
            traits_of(dtype).name, traits_of(wanted).name, traits_of(dtype).cpp_name);
    bool are_pairs = rank > 0 && size(rank - 1) == 2 && stride(rank - 1) == 1;
    for (int axis = 0; axis + 1 < rank; ++axis) are_pairs = are_pairs && stride(axis) % 2 == 0;
    if (!are_pairs)
        throw std::invalid_argument(
            "the launcher reads a tensor as pairs, but its last axis is not one of two numbers "
            "beside each other, an even number of them from the next two");
}

void TensorView::refuse(DType wanted) const {
    const std::string_view read = traits_of(wanted).name;
    gradverify::refuse("the launcher reads a tensor of {} as {}; write as<{}>(){}",
                       traits_of(dtype).name, read, traits_of(dtype).cpp_name,
                       is_floating(dtype) && is_floating(wanted)
                           ? fmt::format(", or declare .storage(gradverify::DType::{})", read)
                           : "");
}

}  // namespace gradverify
