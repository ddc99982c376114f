// SPDX-License-Identifier: Apache-2.0
// Thrust's vectors, functors and tuples, and the declarations of what runs on cuda only.
#pragma once
#pragma GCC system_header

#include <functional>
#include <initializer_list>
#include <iterator>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "gradverify_libraries/thrust_algorithms.hpp"
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
class device_vector {
  public:
    using value_type = T;
    using size_type = std::size_t;
    using pointer = device_ptr<T>;
    using reference = T&;
    using iterator = device_ptr<T>;
    using const_iterator = device_ptr<const T>;

    device_vector() = default;
    explicit device_vector(std::size_t size, const T& value = T()) { assign(size, value); }
    template <class It, class = typename std::iterator_traits<It>::iterator_category>
    device_vector(It first, It last) {
        assign(first, last);
    }
    device_vector(const std::vector<T>& values) { take(values); }
    device_vector(std::initializer_list<T> values) { take(values); }
    device_vector(const device_vector& other) { take(other.host()); }
    device_vector(device_vector&& other) noexcept { swap(other); }
    device_vector& operator=(device_vector other) {
        swap(other);
        return *this;
    }
    ~device_vector() {
        if (data_ != nullptr) cudaFree(data_);
    }

    std::size_t size() const { return size_; }
    std::size_t capacity() const { return capacity_; }
    bool empty() const { return size_ == 0; }
    device_ptr<T> data() { return begin(); }
    device_ptr<const T> data() const { return begin(); }
    iterator begin() { return iterator(data_); }
    iterator end() { return begin() + static_cast<std::ptrdiff_t>(size_); }
    const_iterator begin() const { return const_iterator(data_); }
    const_iterator end() const { return begin() + static_cast<std::ptrdiff_t>(size_); }
    const_iterator cbegin() const { return begin(); }
    const_iterator cend() const { return end(); }
    T& operator[](std::size_t i) { return begin()[static_cast<std::ptrdiff_t>(i)]; }
    const T& operator[](std::size_t i) const { return begin()[static_cast<std::ptrdiff_t>(i)]; }
    T& front() { return *begin(); }
    T& back() { return end()[-1]; }

    void assign(std::size_t size, const T& value) { take(std::vector<T>(size, value)); }
    template <class It, class = typename std::iterator_traits<It>::iterator_category>
    void assign(It first, It last) {
        cudaDeviceSynchronize();
        take(std::vector<T>(first, last));
    }
    void resize(std::size_t size, const T& value = T()) {
        std::vector<T> values = host();
        values.resize(size, value);
        take(values);
    }
    void reserve(std::size_t size) {
        if (size <= capacity_) return;
        const std::vector<T> values = host();
        allocate(size);
        take(values);
    }
    void push_back(const T& value) { resize(size_ + 1, value); }
    void clear() { size_ = 0; }
    void shrink_to_fit() {}
    void swap(device_vector& other) {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
    }
    GRADVERIFY_SIMT_CUDA_ONLY("Thrust", "thrust::device_vector::", iterator, erase, insert)
    /// A copy on the host.
    std::vector<T> host() const {
        std::vector<T> values(size_);
        cudaMemcpy(values.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost);
        return values;
    }

  private:
    void allocate(std::size_t size) {
        if (data_ != nullptr) cudaFree(data_);
        data_ = nullptr;
        capacity_ = size;
        if (size != 0) cudaMalloc(reinterpret_cast<void**>(&data_), size * sizeof(T));
    }
    void take(const std::vector<T>& values) {
        if (values.size() > capacity_) allocate(values.size());
        size_ = values.size();
        cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice);
    }

    T* data_ = nullptr;
    std::size_t size_ = 0, capacity_ = 0;
};
template <class T>
struct host_vector : std::vector<T> {
    using std::vector<T>::vector;
    host_vector(const device_vector<T>& from) : std::vector<T>(from.host()) {}
};

using std::divides, std::equal_to, std::greater, std::greater_equal, std::less, std::less_equal,
    std::logical_and, std::logical_not, std::logical_or, std::minus, std::modulus, std::multiplies,
    std::negate, std::not_equal_to, std::plus;
#define GRADVERIFY_SIMT_FUNCTOR(NAME, RESULT, PARAMETERS, VALUE) \
    template <class T = void>                                    \
    struct NAME {                                                \
        RESULT operator() PARAMETERS const { return VALUE; }     \
    };
GRADVERIFY_SIMT_FUNCTOR(maximum, T, (const T& a, const T& b), a < b ? b : a)
GRADVERIFY_SIMT_FUNCTOR(minimum, T, (const T& a, const T& b), b < a ? b : a)
GRADVERIFY_SIMT_FUNCTOR(identity, const T&, (const T& x), x)
GRADVERIFY_SIMT_FUNCTOR(square, T, (const T& x), (x * x))
#undef GRADVERIFY_SIMT_FUNCTOR
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

GRADVERIFY_SIMT_CUDA_ONLY("such algorithm of Thrust", "thrust::", Refused, exclusive_scan_by_key,
                          inclusive_scan_by_key, merge, minmax_element, partition,
                          transform_exclusive_scan, transform_if, transform_inclusive_scan,
                          uninitialized_fill, unique_by_key)
template <class T>
device_ptr<T> device_malloc(std::size_t count) {
    T* pointer = nullptr;
    cudaMalloc(reinterpret_cast<void**>(&pointer), count * sizeof(T));
    return device_ptr<T>(pointer);
}
template <class T>
void device_free(device_ptr<T> pointer) {
    cudaFree(pointer.get());
}

}  // namespace thrust
