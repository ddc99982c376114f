// SPDX-License-Identifier: Apache-2.0
// What PyTorch's `x.index({Slice(), 0, None, "..."})` takes, except tensors.
#pragma once
#pragma GCC system_header

#include <cstdint>
#include <optional>

#include "gradverify_torch/options.hpp"

namespace at::indexing {

struct Slice {
    std::optional<std::int64_t> start, stop;
    std::int64_t step;
    Slice(std::optional<std::int64_t> start = {}, std::optional<std::int64_t> stop = {},
          std::optional<std::int64_t> step = {})
        : start(start), stop(stop), step(step.value_or(1)) {}
};
struct EllipsisIndexType {};
inline const EllipsisIndexType Ellipsis;
inline const std::nullopt_t None = std::nullopt;

struct TensorIndex {
    enum Kind { none, ellipsis, integer, slice } kind;
    std::int64_t number = 0;
    Slice part{};
    TensorIndex(std::nullopt_t) : kind(none) {}
    TensorIndex(EllipsisIndexType) : kind(ellipsis) {}
    TensorIndex(const char* text) : kind(ellipsis) {
        TORCH_CHECK_VALUE(std::string(text) == "...", "expected \"...\", got ", text);
    }
    TensorIndex(int index) : kind(integer), number(index) {}
    TensorIndex(std::int64_t index) : kind(integer), number(index) {}
    TensorIndex(const Slice& of) : kind(slice), part(of) {}
};

}  // namespace at::indexing
namespace torch::indexing {
using namespace at::indexing;
}
