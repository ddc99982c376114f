// SPDX-License-Identifier: Apache-2.0
// The harness's scalars take plain numbers as operands, and refuse to become one.
#pragma once

#include <concepts>
#include <type_traits>

namespace gradverify {

template <class N>
concept PlainNumber = std::is_arithmetic_v<N>;

namespace detail {

/// The base of a scalar S: all that follows from its `+ - * / < ==`, `abs`, `max` and `min`; the
/// operators with a plain number on one side, which match exactly and so win over the conversion;
/// and that conversion, which does not compile.
template <class S>
class ScalarOperators {
  public:
    friend S& operator-=(S& a, const S& b) { return a = a - b; }
    friend S& operator*=(S& a, const S& b) { return a = a * b; }
    friend S& operator/=(S& a, const S& b) { return a = a / b; }
    friend bool operator>(const S& a, const S& b) { return b < a; }
    friend bool operator<=(const S& a, const S& b) { return !(b < a); }
    friend bool operator>=(const S& a, const S& b) { return !(a < b); }
    friend S fabs(const S& x) { return abs(x); }
    friend S fmax(const S& a, const S& b) { return max(a, b); }
    friend S fmin(const S& a, const S& b) { return min(a, b); }

#define GRADVERIFY_DETAIL_WITH_PLAIN(R, OP)                \
    friend R operator OP(const S& a, PlainNumber auto b) { \
        return a OP S(static_cast<double>(b));             \
    }                                                      \
    friend R operator OP(PlainNumber auto a, const S& b) { return S(static_cast<double>(a)) OP b; }
    GRADVERIFY_DETAIL_WITH_PLAIN(S, +)
    GRADVERIFY_DETAIL_WITH_PLAIN(S, -)
    GRADVERIFY_DETAIL_WITH_PLAIN(S, *)
    GRADVERIFY_DETAIL_WITH_PLAIN(S, /)
    GRADVERIFY_DETAIL_WITH_PLAIN(bool, <)
    GRADVERIFY_DETAIL_WITH_PLAIN(bool, >)
    GRADVERIFY_DETAIL_WITH_PLAIN(bool, <=)
    GRADVERIFY_DETAIL_WITH_PLAIN(bool, >=)
    GRADVERIFY_DETAIL_WITH_PLAIN(bool, ==)
#undef GRADVERIFY_DETAIL_WITH_PLAIN

    template <std::same_as<double> Plain>
    operator Plain() const {
        static_assert(!std::same_as<Plain, double>,
                      "gradverify: the forward function turns one of its numbers into a double, "
                      "which loses its error and its gradient; declare variables as T, and call "
                      "exp(x), not std::exp(x), with `using namespace gradverify` for rsqrt, max "
                      "and min of doubles");
        return 0.0;
    }
};

template <class S>
concept Scalar = std::derived_from<S, ScalarOperators<S>>;

}  // namespace detail

}  // namespace gradverify
