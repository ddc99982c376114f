// SPDX-License-Identifier: Apache-2.0
// The sentences that say who is wrong, for all that witnesses can say.
#include "properties/explaining/testimony.hpp"

#include <doctest/doctest.h>

namespace {

using namespace gradverify;

const std::string kernel_alone = "the kernel stands alone: the reference",
                  differences = "finite differences of the reference's forward map",
                  contradiction =
                      "the reference contradicts itself: its grad_weight is not the "
                      "derivative of its forward map",
                  cant_tell =
                      "can't tell who is wrong: the witnesses contradict each other: the "
                      "kernel disagrees with the reference of grad_weight, ";

}  // namespace

TEST_CASE("the sentence says who is wrong, and who agrees against whom") {
    struct Line {
        bool is_reference, reference_consistent, kernel_consistent;
        bool with, against, ally, peer;
        std::string sentence;
    };
    const std::vector<Line> lines{
        {false, true, false, false, true, false, true,
         kernel_alone + ", " + differences + ", f/against and g/peer agree against it"},
        {false, true, false, false, false, false, false,
         kernel_alone + " and " + differences +
             " agree against it (no registered forward kernel could be asked)"},
        {false, true, false, false, true, true, false,
         "the same misunderstanding in the kernel and in f/ally, which agree with each other "
         "(adjoint): the reference, " +
             differences + " and f/against agree against them"},
        // Another kernel of the pass that gives the reference's numbers decides two against two.
        {false, true, false, false, false, true, true,
         "the same misunderstanding in the kernel and in f/ally, which agree with each other "
         "(adjoint): the reference, " +
             differences + " and g/peer agree against them"},
        {false, true, false, false, false, true, false,
         "the kernel and f/ally agree with each other (adjoint), and so do the reference's forward "
         "map and its gradients: the same misunderstanding in the kernels, or in the reference"},
        {false, false, true, true, false, false, false,
         "the reference of grad_weight stands alone: the kernel, " + differences +
             " and f/with agree against it"},
        {false, false, true, false, false, true, false,
         "the reference of grad_weight stands alone: the kernel and " + differences +
             " agree against it (no registered forward kernel could be asked)"},
        {false, false, false, false, true, true, false,
         contradiction + ", while the kernel and f/ally agree with each other (adjoint)"},
        {false, false, false, false, true, false, false,
         contradiction + ", and the kernel agrees with neither"},
        {true, false, true, false, false, false, false,
         contradiction + ", and the kernel agrees with its grad_weight"},
        {true, true, false, true, true, true, true,
         "on integers, where nothing rounds, the kernel equals the reference: it is wrong by its "
         "rounding alone"},
        {false, true, false, true, true, true, false,
         cant_tell + "disagrees with " + differences +
             ", agrees with f/with, disagrees with f/against"},
        {false, false, true, false, true, false, false,
         cant_tell + "agrees with " + differences + ", disagrees with f/against"},
        {false, false, false, true, false, false, false,
         cant_tell + "disagrees with " + differences + ", agrees with f/with"},
        {false, true, true, false, true, false, true,
         cant_tell + "agrees with " + differences + ", disagrees with f/against"}};
    for (const Line& line : lines) {
        Testimony t{.pass = "grad_weight",
                    .kernel_is_reference = line.is_reference,
                    .reference_is_consistent = line.reference_consistent,
                    .kernel_is_consistent = line.kernel_consistent};
        if (line.with) t.sound_with = {"f/with"};
        if (line.against) t.sound_against = {"f/against"};
        if (line.ally) t.allies = {"f/ally"};
        if (line.peer) t.peers_of_reference = {"g/peer"};
        CHECK(judge(t) == line.sentence);
    }
}

TEST_CASE("a forward kernel is compared with the reference's gradients") {
    Testimony t{.pass = "forward", .is_forward = true, .reference_is_consistent = true};
    const std::string gradients = "the reference's gradients (by finite differences)";
    CHECK(judge(t) == kernel_alone + " and " + gradients +
                          " agree against it (no registered gradient kernel could be asked)");
    t.kernel_is_consistent = true;
    t.peers_of_reference = {"g/peer"};
    CHECK(judge(t) == kernel_alone +
                          " and g/peer agree against it, though it has the derivatives of the "
                          "reference in the directions that were tried");
    t.peers_of_kernel = {"g/other"};
    CHECK(judge(t).starts_with("can't tell who is wrong"));
    t.reference_is_consistent = false;
    CHECK(judge(t).starts_with("the reference of forward stands alone: the kernel, " + gradients +
                               " and g/other agree"));
    t.kernel_is_reference = true;
    CHECK(judge(t) ==
          "the reference contradicts itself: its gradients are not the derivatives of its forward "
          "map, and the kernel agrees with its forward");
    t.reference_is_consistent = t.saturates = true;
    CHECK(
        judge(t).ends_with("wrong by its rounding, or by what it makes of numbers beyond the "
                           "range, alone"));
}

TEST_CASE("of many names two are said and the others counted") {
    Testimony t{.pass = "grad_weight",
                .reference_is_consistent = true,
                .sound_against = {"a", "b", "c", "d"}};
    CHECK(judge(t).ends_with("a, b and 2 more kernels agree against it"));
    t.sound_against = {"a", "b", "c"};
    t.peers_of_reference = {"p"};
    CHECK(judge(t).ends_with("a, b, 1 more kernel and p agree against it"));
}
