// SPDX-License-Identifier: Apache-2.0
// Bugs of public kernels, made again: each is killed by the property that claims it and shrunk to
// its smallest problem. Their twins without the mistake pass.
#include <doctest/doctest.h>

#include "properties/tests/museum/pieces.hpp"
#include "properties/tests/seeded_bugs/hunt.hpp"
#include "properties/tests/verdicts.hpp"

namespace gradverify {

using namespace testing;

TEST_CASE("a famous bug is found where it is smallest") {
    for (const MuseumPiece& piece : museum) hunt_down_all({&piece.bug, 1}, {});
}

TEST_CASE("its twin without the mistake passes") {
    for (const MuseumPiece& piece : museum)
        for (const DefinedProperty& property : all_properties()) {
            const std::string twin = piece.twin();
            const Kernel* const kernel = Registry::instance().find_kernel(twin);
            REQUIRE(kernel);
            if (!property.applies(*kernel, "cpu") || property.own_cases > 0) continue;
            CAPTURE(twin);
            CAPTURE(std::string(property.name));
            const Verdicts verdicts = run_drawn(twin, property.name, 50);
            CHECK(verdicts.first_alarm == "");
            // It needs a forward kernel of the same types.
            if (property.name != "adjoint_identity") CHECK(verdicts[Verdict::passed] > 25);
        }
}

}  // namespace gradverify
