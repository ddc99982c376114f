// SPDX-License-Identifier: Apache-2.0
// CUB's iterators that compute what they are read for.
#pragma once
#pragma GCC system_header

#include <cstddef>
#include <iterator>

#include "cub/gradverify_common.cuh"

namespace cub {

namespace gradverify_detail {
/// An iterator that `Derived::at(n)` tells the n-th value of.
template <class Derived, class T, class Distance>
class Computed {
  public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using difference_type = Distance;
    using pointer = T*;
    using reference = T;

    T operator*() const { return self().at(offset_); }
    T operator[](Distance n) const { return self().at(offset_ + n); }
    Derived operator+(Distance n) const {
        Derived moved = self();
        moved.offset_ += n;
        return moved;
    }
    Derived operator-(Distance n) const { return *this + -n; }
    Derived& operator+=(Distance n) { return self() = *this + n; }
    Derived& operator++() { return *this += 1; }
    Derived operator++(int) {
        const Derived before = self();
        ++*this;
        return before;
    }
    Distance operator-(const Computed& other) const { return offset_ - other.offset_; }
    bool operator==(const Computed& other) const { return offset_ == other.offset_; }
    bool operator!=(const Computed& other) const { return offset_ != other.offset_; }

  private:
    const Derived& self() const { return static_cast<const Derived&>(*this); }
    Derived& self() { return static_cast<Derived&>(*this); }
    Distance offset_ = 0;
};
}  // namespace gradverify_detail

template <class T, class Distance = std::ptrdiff_t>
struct CountingInputIterator
    : gradverify_detail::Computed<CountingInputIterator<T, Distance>, T, Distance> {
    T first;
    explicit CountingInputIterator(T value) : first(value) {}
    T at(Distance n) const { return static_cast<T>(first + n); }
};
template <class T, class Distance = std::ptrdiff_t>
struct ConstantInputIterator
    : gradverify_detail::Computed<ConstantInputIterator<T, Distance>, T, Distance> {
    T value;
    explicit ConstantInputIterator(T of_all, Distance = 0) : value(of_all) {}
    T at(Distance) const { return value; }
};
template <class T, class Op, class From, class Distance = std::ptrdiff_t>
struct TransformInputIterator
    : gradverify_detail::Computed<TransformInputIterator<T, Op, From, Distance>, T, Distance> {
    From from;
    Op op;
    TransformInputIterator(From values, Op operation) : from(values), op(operation) {}
    T at(Distance n) const { return op(from[n]); }
};

}  // namespace cub
