// SPDX-License-Identifier: Apache-2.0
// Declares what is used of Thrust, whose algorithms and device vectors run on cuda only. What works
// on the host alone works here too: an empty vector, a host vector, pointers, functors, tuples.
#pragma once
#pragma GCC system_header

#include <functional>
#include <iterator>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "gradverify_simt/cuda_only.hpp"

namespace thrust {

/// What an algorithm would return: it can be used as any value. No call gets so far.
struct Refused {
    template <class T>
    requires(!std::is_same_v<T, gradverify::simt::unit::FirstArgument>)
    __attribute__((noreturn)) operator T() const {
        __builtin_unreachable();
    }
    Refused operator*() const { return {}; }
    std::ptrdiff_t operator-(const auto&) const { return 0; }
    Refused operator+(const auto&) const { return {}; }
};

template <class T>
class device_ptr {
  public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = std::remove_const_t<T>;
    using difference_type = std::ptrdiff_t;
    using pointer = device_ptr;
    using reference = T&;

    device_ptr() = default;
    explicit device_ptr(T* pointer) : pointer_(pointer) {}
    T* get() const { return pointer_; }
    device_ptr operator+(std::ptrdiff_t n) const { return device_ptr(pointer_ + n); }
    device_ptr operator-(std::ptrdiff_t n) const { return device_ptr(pointer_ - n); }
    std::ptrdiff_t operator-(device_ptr other) const { return pointer_ - other.pointer_; }
    device_ptr& operator++() { return *this = *this + 1; }
    bool operator==(device_ptr other) const { return pointer_ == other.pointer_; }
    bool operator!=(device_ptr other) const { return pointer_ != other.pointer_; }
    bool operator<(device_ptr other) const { return pointer_ < other.pointer_; }
    [[noreturn]] T& operator[](gradverify::simt::unit::FirstArgument at) const {
        GRADVERIFY_SIMT_REFUSE("Thrust", "thrust::device_ptr", at.file, at.line);
    }

  private:
    T* pointer_ = nullptr;
};
template <class T>
device_ptr<T> device_pointer_cast(T* pointer) {
    return device_ptr<T>(pointer);
}
template <class T>
T* raw_pointer_cast(T* pointer) {
    return pointer;
}
template <class T>
T* raw_pointer_cast(device_ptr<T> pointer) {
    return pointer.get();
}

template <class T>
class device_vector {
  public:
    using value_type = T;
    using size_type = std::size_t;
    using pointer = device_ptr<T>;
    using reference = T&;
    using iterator = device_ptr<T>;
    using const_iterator = device_ptr<const T>;

    device_vector() = default;
    template <class A>
    device_vector(const A&, GRADVERIFY_SIMT_PLACE) {
        GRADVERIFY_SIMT_REFUSE("Thrust", "thrust::device_vector", file, line);
    }
    template <class A, class B>
    device_vector(const A&, const B&, GRADVERIFY_SIMT_PLACE) {
        GRADVERIFY_SIMT_REFUSE("Thrust", "thrust::device_vector", file, line);
    }
    std::size_t size() const { return 0; }
    bool empty() const { return true; }
    device_ptr<T> data() { return {}; }
    device_ptr<const T> data() const { return {}; }
    iterator begin() { return {}; }
    iterator end() { return {}; }
    const_iterator begin() const { return {}; }
    const_iterator end() const { return {}; }
    void clear() {}
    void shrink_to_fit() {}
    void swap(device_vector&) {}
    GRADVERIFY_SIMT_CUDA_ONLY("Thrust", "thrust::device_vector::", void, assign, insert, push_back,
                              reserve, resize)
    [[noreturn]] T& operator[](gradverify::simt::unit::FirstArgument at) const {
        GRADVERIFY_SIMT_REFUSE("Thrust", "thrust::device_vector", at.file, at.line);
    }
    GRADVERIFY_SIMT_CUDA_ONLY_PLAIN("Thrust", "thrust::device_vector::", T&, back)
    GRADVERIFY_SIMT_CUDA_ONLY_PLAIN("Thrust", "thrust::device_vector::", T&, front)
};
template <class T>
struct host_vector : std::vector<T> {
    using std::vector<T>::vector;
    template <class U>
    host_vector(const device_vector<U>&) {}  // an empty one: there is no other
};

struct execution_policy {
    execution_policy on(cudaStream_t) const { return *this; }
    execution_policy operator()(const auto&) const { return *this; }
};
constexpr execution_policy device, host, seq;
namespace cuda {
constexpr execution_policy par, par_nosync;
}

using std::divides, std::equal_to, std::greater, std::greater_equal, std::less, std::less_equal,
    std::logical_and, std::logical_not, std::logical_or, std::minus, std::modulus, std::multiplies,
    std::negate, std::not_equal_to, std::plus;
template <class T = void>
struct maximum {
    T operator()(const T& a, const T& b) const { return a < b ? b : a; }
};
template <class T = void>
struct minimum {
    T operator()(const T& a, const T& b) const { return b < a ? b : a; }
};
template <class T = void>
struct identity {
    const T& operator()(const T& x) const { return x; }
};
template <class T>
struct square {
    T operator()(const T& x) const { return x * x; }
};
using std::minstd_rand, std::minstd_rand0;
using default_random_engine = minstd_rand;
#define GRADVERIFY_SIMT_DISTRIBUTION(NAME)                                        \
    template <class T>                                                            \
    struct NAME {                                                                 \
        explicit NAME(T = 0, T = 1) {}                                            \
        GRADVERIFY_SIMT_CUDA_ONLY("Thrust", "thrust::" #NAME "::", T, operator()) \
    };
GRADVERIFY_SIMT_DISTRIBUTION(normal_distribution)
GRADVERIFY_SIMT_DISTRIBUTION(uniform_int_distribution)
GRADVERIFY_SIMT_DISTRIBUTION(uniform_real_distribution)
#undef GRADVERIFY_SIMT_DISTRIBUTION
namespace random {
using thrust::default_random_engine, thrust::normal_distribution, thrust::uniform_int_distribution,
    thrust::uniform_real_distribution;
}
using std::get, std::make_pair, std::make_tuple, std::pair, std::tie, std::tuple;

#define GRADVERIFY_SIMT_ITERATOR(NAME)                                                  \
    template <class...>                                                                 \
    struct NAME : Refused {                                                             \
        template <class... Args>                                                        \
        explicit NAME(gradverify::simt::unit::FirstArgument first, Args&&...) {         \
            GRADVERIFY_SIMT_REFUSE("Thrust", "thrust::" #NAME, first.file, first.line); \
        }                                                                               \
    };                                                                                  \
    GRADVERIFY_SIMT_CUDA_ONLY("Thrust", "thrust::", Refused, make_##NAME)
GRADVERIFY_SIMT_ITERATOR(constant_iterator)
GRADVERIFY_SIMT_ITERATOR(counting_iterator)
GRADVERIFY_SIMT_ITERATOR(permutation_iterator)
GRADVERIFY_SIMT_ITERATOR(transform_iterator)
GRADVERIFY_SIMT_ITERATOR(zip_iterator)
#undef GRADVERIFY_SIMT_ITERATOR

GRADVERIFY_SIMT_CUDA_ONLY("Thrust", "thrust::", Refused, adjacent_difference, all_of, any_of,
                          binary_search, copy, copy_if, copy_n, count, count_if, device_free, equal,
                          exclusive_scan, exclusive_scan_by_key, fill, fill_n, find, find_if,
                          for_each, for_each_n, gather, generate, inclusive_scan,
                          inclusive_scan_by_key, inner_product, is_sorted, lower_bound, max_element,
                          merge, min_element, minmax_element, none_of, partition, reduce,
                          reduce_by_key, remove, remove_if, replace, replace_if, reverse, scatter,
                          sequence, sort, sort_by_key, stable_sort, stable_sort_by_key, swap_ranges,
                          tabulate, transform, transform_exclusive_scan, transform_if,
                          transform_inclusive_scan, transform_reduce, uninitialized_fill, unique,
                          unique_by_key, unique_copy, upper_bound)
template <class T>
[[noreturn]] device_ptr<T> device_malloc(std::size_t, GRADVERIFY_SIMT_PLACE) {
    GRADVERIFY_SIMT_REFUSE("Thrust", "thrust::device_malloc", file, line);
}

}  // namespace thrust
