// SPDX-License-Identifier: Apache-2.0
// Decides how a scalar of the harness meets plain numbers: it takes them as operands, and refuses
// to become one with a sentence that says what to do.
#pragma once

#include <concepts>
#include <type_traits>

namespace gradverify {

template <class N>
concept PlainNumber = std::is_arithmetic_v<N>;

namespace detail {

/// What the compiler says of a forward function that does not compute with its scalar alone.
template <class Plain>
constexpr void refuse_plain() {
    static_assert(!std::same_as<Plain, double>,
                  "gradverify: the forward function turns one of its numbers into a double, which "
                  "loses its error and its gradient; declare variables as T, and call exp(x), not "
                  "std::exp(x), with `using namespace gradverify` for rsqrt, max and min of "
                  "doubles");
}

}  // namespace detail

}  // namespace gradverify

#define GRADVERIFY_DETAIL_WITH_PLAIN(S, R, OP) \
    template <PlainNumber N>                   \
    friend R operator OP(const S& a, N b) {    \
        return a OP S(static_cast<double>(b)); \
    }                                          \
    template <PlainNumber N>                   \
    friend R operator OP(N a, const S& b) {    \
        return S(static_cast<double>(a)) OP b; \
    }

/// Members of a scalar S: operators with a plain number on one side, exact matches that the
/// conversion can't rival; and that conversion, which is not to be used.
#define GRADVERIFY_DETAIL_PLAIN_NUMBERS(S)    \
    GRADVERIFY_DETAIL_WITH_PLAIN(S, S, +)     \
    GRADVERIFY_DETAIL_WITH_PLAIN(S, S, -)     \
    GRADVERIFY_DETAIL_WITH_PLAIN(S, S, *)     \
    GRADVERIFY_DETAIL_WITH_PLAIN(S, S, /)     \
    GRADVERIFY_DETAIL_WITH_PLAIN(S, bool, <)  \
    GRADVERIFY_DETAIL_WITH_PLAIN(S, bool, >)  \
    GRADVERIFY_DETAIL_WITH_PLAIN(S, bool, <=) \
    GRADVERIFY_DETAIL_WITH_PLAIN(S, bool, >=) \
    GRADVERIFY_DETAIL_WITH_PLAIN(S, bool, ==) \
    template <std::same_as<double> Plain>     \
    operator Plain() const {                  \
        detail::refuse_plain<Plain>();        \
        return 0.0;                           \
    }
