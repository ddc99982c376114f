// SPDX-License-Identifier: Apache-2.0
// A small declared operator, and a declaration's mistake.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "harness/declare_operator.hpp"
#include "harness/operators/operator.hpp"

namespace gradverify::testing {

/// The one mistake of a declaration.
inline std::string mistake_of(const Operator& op) {
    REQUIRE(op.mistakes.size() == 1);
    CHECK(op.passes.empty());
    return op.mistakes.front();
}

/// y = f(x), element by element.
template <class Function>
OperatorDeclaration elementwise(Function function, const std::string& name = "o") {
    return declare_operator(name)
        .parameter("n")
        .input("x", {"n"})
        .output("y", {"n"})
        .forward([function]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x");
            for (std::int64_t i = 0; i < x.size(0); ++i) call.output("y")(i) = function(x(i));
        });
}

inline OperatorDeclaration copying() {
    return elementwise([]<class T>(const T& x) { return x; });
}

}  // namespace gradverify::testing
