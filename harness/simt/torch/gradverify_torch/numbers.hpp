// SPDX-License-Identifier: Apache-2.0
// PyTorch's numbers: c10::Half, c10::BFloat16, floats of 8 bits and c10::complex, their arithmetic,
// and the types that sums of them are in.
#pragma once
#pragma GCC system_header

#include <complex>
#include <cstdint>
#include <limits>
#include <ostream>
#include <type_traits>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_fp8.h"

namespace c10 {

#define GRADVERIFY_TORCH_NARROW(NAME, OF_CUDA)                                      \
    struct alignas(2) NAME {                                                        \
        using gradverify_format = OF_CUDA::gradverify_format;                       \
        unsigned short x;                                                           \
        struct from_bits_t {};                                                      \
        static constexpr from_bits_t from_bits() { return {}; }                     \
        NAME() = default;                                                           \
        constexpr NAME(unsigned short bits, from_bits_t) : x(bits) {}               \
        constexpr NAME(float value) : x(gradverify_format::from_float(value)) {}    \
        constexpr NAME(const OF_CUDA& value) : x(value.gradverify_bits) {}          \
        constexpr operator float() const { return gradverify_format::to_float(x); } \
        constexpr operator OF_CUDA() const { return OF_CUDA##_raw{x}; }             \
    };                                                                              \
    inline std::ostream& operator<<(std::ostream& out, const NAME& value) {         \
        return out << static_cast<float>(value);                                    \
    }                                                                               \
    constexpr NAME operator-(const NAME& a) {                                       \
        return NAME(static_cast<unsigned short>(a.x ^ 0x8000u), NAME::from_bits()); \
    }
GRADVERIFY_TORCH_NARROW(Half, __half)
GRADVERIFY_TORCH_NARROW(BFloat16, __nv_bfloat16)
#undef GRADVERIFY_TORCH_NARROW

// Larger numbers than there are become infinity, or NaN where there is none.
#define GRADVERIFY_TORCH_FLOAT8(NAME, FORMAT)                                                    \
    struct alignas(1) NAME {                                                                     \
        std::uint8_t x;                                                                          \
        struct from_bits_t {};                                                                   \
        static constexpr from_bits_t from_bits() { return {}; }                                  \
        NAME() = default;                                                                        \
        constexpr NAME(std::uint8_t bits, from_bits_t) : x(bits) {}                              \
        constexpr NAME(float value)                                                              \
            : x(gradverify::simt::unit::FORMAT::from_float(value, false)) {}                     \
        constexpr operator float() const { return gradverify::simt::unit::FORMAT::to_float(x); } \
    };                                                                                           \
    inline std::ostream& operator<<(std::ostream& out, const NAME& value) {                      \
        return out << static_cast<float>(value);                                                 \
    }
GRADVERIFY_TORCH_FLOAT8(Float8_e4m3fn, E4m3Format)
GRADVERIFY_TORCH_FLOAT8(Float8_e5m2, E5m2Format)
#undef GRADVERIFY_TORCH_FLOAT8

// As in PyTorch: with a float the result is a float, with an integer it is narrow.
#define GRADVERIFY_TORCH_OPERATOR(T, OP)                                                 \
    constexpr T operator OP(const T& a, const T& b) { return float(a) OP float(b); }     \
    constexpr T& operator OP##=(T & a, const T & b) { return a = a OP b; }               \
    constexpr float operator OP(T a, float b) { return float(a) OP b; }                  \
    constexpr float operator OP(float a, T b) { return a OP float(b); }                  \
    constexpr float& operator OP##=(float& a, const T & b) { return a = a OP float(b); } \
    constexpr double operator OP(T a, double b) { return double(float(a)) OP b; }        \
    constexpr double operator OP(double a, T b) { return a OP double(float(b)); }        \
    template <class I>                                                                   \
    requires(std::is_integral_v<I>)                                                      \
    constexpr T operator OP(T a, I b) {                                                  \
        return a OP T(static_cast<float>(b));                                            \
    }                                                                                    \
    template <class I>                                                                   \
    requires(std::is_integral_v<I>)                                                      \
    constexpr T operator OP(I a, T b) {                                                  \
        return T(static_cast<float>(a)) OP b;                                            \
    }
#define GRADVERIFY_TORCH_COMPARISON(T, OP)                                              \
    constexpr bool operator OP(const T& a, const T& b) { return float(a) OP float(b); } \
    template <class N>                                                                  \
    requires(std::is_arithmetic_v<N>)                                                   \
    constexpr bool operator OP(const T& a, N b) {                                       \
        return float(a) OP b;                                                           \
    }                                                                                   \
    template <class N>                                                                  \
    requires(std::is_arithmetic_v<N>)                                                   \
    constexpr bool operator OP(N a, const T& b) {                                       \
        return a OP float(b);                                                           \
    }
#define GRADVERIFY_TORCH_OPERATORS(T)  \
    GRADVERIFY_TORCH_COMPARISON(T, ==) \
    GRADVERIFY_TORCH_COMPARISON(T, !=) \
    GRADVERIFY_TORCH_COMPARISON(T, <)  \
    GRADVERIFY_TORCH_COMPARISON(T, >)  \
    GRADVERIFY_TORCH_COMPARISON(T, <=) \
    GRADVERIFY_TORCH_COMPARISON(T, >=) \
    GRADVERIFY_TORCH_OPERATOR(T, +)    \
    GRADVERIFY_TORCH_OPERATOR(T, -)    \
    GRADVERIFY_TORCH_OPERATOR(T, *)    \
    GRADVERIFY_TORCH_OPERATOR(T, /)
GRADVERIFY_TORCH_OPERATORS(Half)
GRADVERIFY_TORCH_OPERATORS(BFloat16)
GRADVERIFY_TORCH_OPERATORS(Float8_e4m3fn)
GRADVERIFY_TORCH_OPERATORS(Float8_e5m2)
#undef GRADVERIFY_TORCH_OPERATORS
#undef GRADVERIFY_TORCH_COMPARISON
#undef GRADVERIFY_TORCH_OPERATOR

template <class T>
struct alignas(sizeof(T) * 2) complex {
    using value_type = T;
    T real_ = T(0), imag_ = T(0);

    constexpr complex() = default;
    constexpr complex(const T& real, const T& imag = T()) : real_(real), imag_(imag) {}
    template <class U>
    explicit(sizeof(U) > sizeof(T)) constexpr complex(const complex<U>& other)
        : real_(static_cast<T>(other.real_)), imag_(static_cast<T>(other.imag_)) {}
    constexpr complex(const std::complex<T>& other) : real_(other.real()), imag_(other.imag()) {}
    constexpr operator std::complex<T>() const { return {real_, imag_}; }

    constexpr T real() const { return real_; }
    constexpr T imag() const { return imag_; }
    constexpr void real(T value) { real_ = value; }
    constexpr void imag(T value) { imag_ = value; }

    constexpr complex& operator+=(const complex& b) { return *this = *this + b; }
    constexpr complex& operator-=(const complex& b) { return *this = *this - b; }
    constexpr complex& operator*=(const complex& b) { return *this = *this * b; }
    constexpr complex& operator/=(const complex& b) { return *this = *this / b; }

    friend constexpr complex operator+(const complex& a) { return a; }
    friend constexpr complex operator-(const complex& a) { return {-a.real_, -a.imag_}; }
    friend constexpr complex operator+(const complex& a, const complex& b) {
        return {a.real_ + b.real_, a.imag_ + b.imag_};
    }
    friend constexpr complex operator-(const complex& a, const complex& b) {
        return {a.real_ - b.real_, a.imag_ - b.imag_};
    }
    friend constexpr complex operator*(const complex& a, const complex& b) {
        return {a.real_ * b.real_ - a.imag_ * b.imag_, a.real_ * b.imag_ + a.imag_ * b.real_};
    }
    friend constexpr complex operator/(const complex& a, const complex& b) {
        const T square = b.real_ * b.real_ + b.imag_ * b.imag_;
        return {(a.real_ * b.real_ + a.imag_ * b.imag_) / square,
                (a.imag_ * b.real_ - a.real_ * b.imag_) / square};
    }
    friend constexpr bool operator==(const complex& a, const complex& b) {
        return a.real_ == b.real_ && a.imag_ == b.imag_;
    }
    friend constexpr bool operator!=(const complex& a, const complex& b) { return !(a == b); }
};

/// The type that PyTorch accumulates elements of T in, on a GPU unless `is_cuda` is false.
template <class T>
struct gradverify_arithmetic {
    using op = T;
    using on_cuda =
        std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, std::int64_t, T>;
    using on_host = std::conditional_t<std::is_same_v<T, float>, double, on_cuda>;
};
template <>
struct gradverify_arithmetic<Half> : gradverify_arithmetic<float> {
    using on_host = float;
};
template <>
struct gradverify_arithmetic<BFloat16> : gradverify_arithmetic<Half> {};
template <>
struct gradverify_arithmetic<Float8_e4m3fn> : gradverify_arithmetic<Half> {};
template <>
struct gradverify_arithmetic<Float8_e5m2> : gradverify_arithmetic<Half> {};
template <>
struct gradverify_arithmetic<__half> : gradverify_arithmetic<Half> {};
template <>
struct gradverify_arithmetic<__nv_bfloat16> : gradverify_arithmetic<Half> {};

template <class T>
struct scalar_value_type {
    using type = T;
};
template <class T>
struct scalar_value_type<complex<T>> {
    using type = T;
};

}  // namespace c10

namespace at {
using namespace c10;
template <class T, bool is_cuda>
using acc_type = std::conditional_t<is_cuda, typename c10::gradverify_arithmetic<T>::on_cuda,
                                    typename c10::gradverify_arithmetic<T>::on_host>;
template <class T, bool is_cuda>
struct AccumulateType {
    using type = acc_type<T, is_cuda>;
};
template <class T>
using opmath_type = typename c10::gradverify_arithmetic<T>::op;
template <class T>
struct OpMathType {
    using type = opmath_type<T>;
};
}  // namespace at

namespace std {
#define GRADVERIFY_TORCH_LIMITS(T, DIGITS, LOWEST, LEAST, MAX, EPSILON, INFINITE, NAN_BITS) \
    template <>                                                                             \
    struct numeric_limits<T> : numeric_limits<float> {                                      \
        static constexpr int digits = DIGITS;                                               \
        static constexpr T of(unsigned short bits) { return T(bits, T::from_bits()); }      \
        static constexpr T min() { return of(LEAST); }                                      \
        static constexpr T lowest() { return of(LOWEST); }                                  \
        static constexpr T max() { return of(MAX); }                                        \
        static constexpr T epsilon() { return of(EPSILON); }                                \
        static constexpr T infinity() { return of(INFINITE); }                              \
        static constexpr T quiet_NaN() { return of(NAN_BITS); }                             \
    };
GRADVERIFY_TORCH_LIMITS(c10::Half, 11, 0xfbff, 0x0400, 0x7bff, 0x1400, 0x7c00, 0x7e00)
GRADVERIFY_TORCH_LIMITS(c10::BFloat16, 8, 0xff7f, 0x0080, 0x7f7f, 0x3c00, 0x7f80, 0x7fc0)
#undef GRADVERIFY_TORCH_LIMITS

template <class T>
constexpr T real(const c10::complex<T>& a) {
    return a.real_;
}
template <class T>
constexpr T imag(const c10::complex<T>& a) {
    return a.imag_;
}
template <class T>
constexpr c10::complex<T> conj(const c10::complex<T>& a) {
    return {a.real_, -a.imag_};
}
template <class T>
T abs(const c10::complex<T>& a) {
    return std::abs(std::complex<T>(a));
}
template <class T>
c10::complex<T> exp(const c10::complex<T>& a) {
    return std::exp(std::complex<T>(a));
}
}  // namespace std
