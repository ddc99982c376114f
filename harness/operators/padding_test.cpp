// SPDX-License-Identifier: Apache-2.0
#include "harness/operators/padding.hpp"

#include <doctest/doctest.h>

using namespace gradverify;

TEST_CASE("rows behind the length of their batch are padding, along any axis") {
    using Flags = std::vector<bool>;
    const Array<double> lengths{{2}, {1, 2}};
    CHECK(padding_of({2, 2}, lengths, 1) == Flags{false, true, false, false});
    CHECK(padding_of({2, 2}, lengths, 0) == Flags{false, false, true, false});
    // x(b, t, j) and x(t, b, j).
    CHECK(padding_of({2, 2, 2}, lengths, 1) ==
          Flags{false, false, true, true, false, false, false, false});
    CHECK(padding_of({2, 2, 2}, lengths, 0) ==
          Flags{false, false, false, false, true, true, false, false});
    // One length for all.
    CHECK(padding_of({3, 2}, {{}, {1}}, 0) == Flags{false, false, true, true, true, true});
    // A length for each of two heads of each batch, and an empty tensor.
    CHECK(padding_of({1, 2, 2}, {{1, 2}, {0, 1}}, 2) == Flags{true, true, false, true});
    CHECK(padding_of({0, 3}, {{0}, {}}, 1).empty());
}

TEST_CASE("lengths are those of a tensor's other axes") {
    CHECK(can_be_padded({2, 5, 3}, {2}, 1));
    CHECK(can_be_padded({5, 2, 3}, {2}, 0));
    CHECK(can_be_padded({5}, {}, 0));
    CHECK_FALSE(can_be_padded({2, 5}, {3}, 1));
    CHECK_FALSE(can_be_padded({2, 5}, {2}, 2));
    CHECK_FALSE(can_be_padded({2, 5}, {2, 5}, 1));
}
