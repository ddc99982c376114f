// SPDX-License-Identifier: Apache-2.0
// CUB's iterators that compute what they are read for: Thrust's, as in CUDA 13, which has no
// others.
#pragma once
#pragma GCC system_header

#include <cstddef>

#include "cub/gradverify_common.cuh"
#include "gradverify_libraries/thrust_iterators.hpp"

namespace cub {

template <class T, class = std::ptrdiff_t>
using CountingInputIterator = thrust::counting_iterator<T>;
template <class T, class = std::ptrdiff_t>
using ConstantInputIterator = thrust::constant_iterator<T>;
/// Its values are of a type that is named.
template <class T, class Op, class From, class = std::ptrdiff_t>
class TransformInputIterator
    : public thrust::gradverify_detail::Iterator<TransformInputIterator<T, Op, From>, T, T> {
  public:
    TransformInputIterator(From values, Op operation) : from_(values), op_(operation) {}
    T at() const { return op_(*from_); }
    void move(std::ptrdiff_t n) { from_ += n; }
    std::ptrdiff_t from(const TransformInputIterator& other) const { return from_ - other.from_; }

  private:
    From from_;
    Op op_;
};

}  // namespace cub
