// SPDX-License-Identifier: Apache-2.0
#include "harness/cases/uncompared.hpp"

#include <doctest/doctest.h>

namespace gradverify {

TEST_CASE("elements without a bound are told together, from the first of any case on") {
    Uncompared all{.elements = 3, .total = 10, .without_bound = 3, .place = "x[4]", .border = 18.0};
    const Uncompared nearer{
        .elements = 1, .total = 10, .without_bound = 1, .place = "x[2]", .border = 17.0};
    all.add(nearer);
    const std::string begin =
        "in 20 % of the elements nothing could be compared: their bounds are ";
    CHECK(all.print() == begin + "infinite, from x[2] = 17 on");
    all.add({.elements = 1, .total = 5, .without_bound = 1, .place = "x[0]", .border = 17.5});
    CHECK(all.border == 17.0);
    all.add({.elements = 2, .total = 10, .without_bound = 0});
    CHECK(all.print() == begin +
                             "infinite, or wider than all values of their tensor, from x[2] = "
                             "17 on");
    all.add({.total = 100, .without_bound = 1, .place = "x[0]", .border = -1, .is_upwards = false});
    CHECK(all.place.empty());
    const Uncompared down{.elements = 1,
                          .total = 5,
                          .without_bound = 1,
                          .place = "x[1]",
                          .border = -3.5,
                          .is_upwards = false};
    CHECK(down.print() == begin + "infinite, from x[1] = -3.5 down");
    CHECK(Uncompared{.elements = 1, .total = 5}.print() ==
          begin + "wider than all values of their tensor");
}

}  // namespace gradverify
