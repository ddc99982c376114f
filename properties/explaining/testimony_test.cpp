// SPDX-License-Identifier: Apache-2.0
// Who is wrong, for every combination of what the witnesses can say, and how it reads.
#include "properties/explaining/testimony.hpp"

#include <doctest/doctest.h>

#include <map>

namespace {

using namespace gradverify;
using enum Culprit;

/// Names for those of the other direction, and of the same pass, that are said to speak.
struct Speaking {
    bool with = false, against = false, ally = false, peer = false;
};

Testimony testimony(bool is_reference, bool reference_consistent, bool kernel_consistent,
                    const Speaking& who, bool is_forward = false) {
    Testimony t{.pass = is_forward ? "forward" : "grad_weight",
                .is_forward = is_forward,
                .kernel_is_reference = is_reference,
                .reference_is_consistent = reference_consistent,
                .kernel_is_consistent = kernel_consistent};
    if (who.with) t.sound_with = {"f/with"};
    if (who.against) t.sound_against = {"f/against"};
    if (who.ally) t.allies = {"f/ally"};
    if (who.peer) t.peers_of_reference = {"g/peer"};
    return t;
}

}  // namespace

TEST_CASE("each combination of testimonies has its culprit") {
    // The kernel is the reference, the reference is consistent, the kernel is consistent; then for
    // sound kernels of the other direction: none, with, against, both.
    struct Line {
        bool is_reference, reference_consistent, kernel_consistent;
        Culprit none, with, against, both;
    };
    const std::vector<Line> without_ally{
        {false, true, false, kernel, unknown, kernel, unknown},
        {false, false, true, reference, reference, unknown, unknown},
        {false, false, false, self_contradiction, unknown, self_contradiction, unknown},
        {false, true, true, unknown, unknown, unknown, unknown},
        {true, true, true, rounding, rounding, rounding, rounding},
        {true, true, false, rounding, rounding, rounding, rounding},
        {true, false, true, self_contradiction, self_contradiction, self_contradiction,
         self_contradiction},
        {true, false, false, self_contradiction, self_contradiction, self_contradiction,
         self_contradiction}};
    const std::vector<Line> with_ally{
        {false, true, false, kernels_or_reference, unknown, kernel_and_ally, unknown},
        {false, false, true, reference, reference, unknown, unknown},
        {false, false, false, reference, unknown, reference, unknown},
        {false, true, true, unknown, unknown, unknown, unknown},
        {true, true, true, rounding, rounding, rounding, rounding},
        {true, true, false, rounding, rounding, rounding, rounding},
        {true, false, true, self_contradiction, self_contradiction, self_contradiction,
         self_contradiction},
        {true, false, false, self_contradiction, self_contradiction, self_contradiction,
         self_contradiction}};
    for (const bool ally : {false, true})
        for (const bool is_forward : {false, true})
            for (const Line& line : ally ? with_ally : without_ally)
                for (const auto& [with, against, expected] :
                     std::vector<std::tuple<bool, bool, Culprit>>{{false, false, line.none},
                                                                  {true, false, line.with},
                                                                  {false, true, line.against},
                                                                  {true, true, line.both}}) {
                    CAPTURE(ally);
                    CAPTURE(is_forward);
                    CAPTURE(line.is_reference);
                    CAPTURE(line.reference_consistent);
                    CAPTURE(line.kernel_consistent);
                    CAPTURE(with);
                    CAPTURE(against);
                    const Judgement judged = judge(testimony(
                        line.is_reference, line.reference_consistent, line.kernel_consistent,
                        {.with = with, .against = against, .ally = ally}, is_forward));
                    CHECK(judged.culprit == expected);
                    CHECK_FALSE(judged.sentence.empty());
                }
}

TEST_CASE("another kernel of the pass that gives the reference's numbers decides two against two") {
    CHECK(judge(testimony(false, true, false, {.ally = true})).culprit == kernels_or_reference);
    CHECK(judge(testimony(false, true, false, {.ally = true, .peer = true})).culprit ==
          kernel_and_ally);
}

TEST_CASE("a kernel with the right derivatives and wrong values stands alone against its peers") {
    Testimony t = testimony(false, true, true, {.with = true, .peer = true}, true);
    CHECK(judge(t).culprit == kernel);
    CHECK(judge(t).sentence ==
          "the kernel stands alone: the reference and g/peer agree against it, though it has the "
          "derivatives of the reference in the directions that were tried");
    t.peers_of_kernel = {"g/other"};
    CHECK(judge(t).culprit == unknown);
}

TEST_CASE("the sentence names who agrees against whom") {
    const auto sentence = [](bool consistent, bool kernel_consistent, const Speaking& who,
                             bool is_forward = false) {
        return judge(testimony(false, consistent, kernel_consistent, who, is_forward)).sentence;
    };
    CHECK(sentence(true, false, {.against = true, .peer = true}) ==
          "the kernel stands alone: the reference, finite differences of the reference's forward "
          "map, f/against and g/peer agree against it");
    CHECK(sentence(true, false, {}) ==
          "the kernel stands alone: the reference and finite differences of the reference's "
          "forward map agree against it (no registered forward kernel could be asked)");
    CHECK(sentence(true, false, {.against = true}, true) ==
          "the kernel stands alone: the reference, the reference's gradients (by finite "
          "differences) and f/against agree against it");
    CHECK(sentence(false, true, {.with = true}) ==
          "the reference of grad_weight stands alone: the kernel, finite differences of the "
          "reference's forward map and f/with agree against it");
    CHECK(sentence(false, true, {.with = true}, true) ==
          "the reference of forward stands alone: the kernel, the reference's gradients (by finite "
          "differences) and f/with agree against it");
    CHECK(sentence(true, false, {.against = true, .ally = true}) ==
          "the same misunderstanding in the kernel and in f/ally, which agree with each other "
          "(adjoint): the reference, finite differences of the reference's forward map and "
          "f/against agree against them");
    CHECK(sentence(true, false, {.ally = true}) ==
          "the kernel and f/ally agree with each other (adjoint), and so do the reference's "
          "forward map and its gradients: the same misunderstanding in the kernels, or in the "
          "reference");
    CHECK(sentence(false, false, {.ally = true}) ==
          "the reference contradicts itself: its grad_weight is not the derivative of its forward "
          "map, while the kernel and f/ally agree with each other (adjoint)");
    CHECK(sentence(false, false, {}) ==
          "the reference contradicts itself: its grad_weight is not the derivative of its forward "
          "map, and the kernel agrees with neither");
    CHECK(sentence(true, true, {.with = true, .against = true}) ==
          "can't tell who is wrong: the witnesses contradict each other: the kernel disagrees with "
          "the reference of grad_weight, agrees with finite differences of the reference's forward "
          "map, agrees with f/with, disagrees with f/against");
    CHECK(judge(testimony(true, true, true, {})).sentence ==
          "on integers, where nothing rounds, the kernel equals the reference: it is wrong by its "
          "rounding alone");
    Testimony of_8_bits = testimony(true, true, true, {}, true);
    of_8_bits.saturates = true;
    CHECK(judge(of_8_bits).sentence ==
          "on integers, where nothing rounds, the kernel equals the reference: it is wrong by its "
          "rounding, or by what it makes of numbers beyond the range, alone");
    CHECK(judge(testimony(true, false, true, {}, true)).sentence ==
          "the reference contradicts itself: its gradients are not the derivatives of its forward "
          "map, and the kernel agrees with its forward");
}

TEST_CASE("of many names two are said and the others counted") {
    Testimony t = testimony(false, true, false, {.against = true});
    t.sound_against = {"a", "b", "c", "d"};
    CHECK(judge(t).sentence ==
          "the kernel stands alone: the reference, finite differences of the reference's forward "
          "map, a, b and 2 more kernels agree against it");
    t.sound_against = {"a", "b", "c"};
    t.peers_of_reference = {"p"};
    CHECK(judge(t).sentence.find("a, b, 1 more kernel and p agree") != std::string::npos);
}
