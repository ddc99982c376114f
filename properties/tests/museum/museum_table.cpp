// SPDX-License-Identifier: Apache-2.0
#include "properties/tests/museum/museum_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/text.hpp"
#include "properties/tests/museum/pieces.hpp"
#include "properties/tests/seeded_bugs/bug_table.hpp"

namespace gradverify {

namespace {

std::string link_of(std::string_view thread) {
    const auto parts = split(thread, '#');
    return fmt::format("[{}](https://github.com/{}/issues/{})", thread, parts[0], parts[1]);
}

/// Returns whether each piece is killed where it is smallest.
bool print_kills() {
    std::cout
        << "# A museum of famous bugs\n\n"
           "Bugs of public kernels, from their public threads, each made again in a kernel of "
           "ours\n(`properties/tests/museum/`), beside a twin without the mistake, which "
           "passes. The smallest problem is\nknown by thinking. Cases and seconds are medians "
           "over 20 seeds, on the device `cpu`, as in [seeded\nbugs](seeded-bugs.md). Made by "
           "`gradverify_suite_tests museum`.\n\n"
           "On one H200, in November 2026, 19 of the 21 were found, all in 40 seconds. The other "
           "two, a buffer that\ntwo reductions share and sums that another block clears, are "
           "matters of an order that a GPU did not\nshow; the race detector sees them. Two twins "
           "failed there on tensors of more than 2^31 elements, as their\noffsets are of 32 bits, "
           "which all pieces declare since.\n\n"
           "| thread | mistake | kernel | property | smallest problem | killed, cases, at it, "
           "proof, seconds |\n"
           "| --- | --- | --- | --- | --- | --- |\n";
    bool all_well = true;
    for (const MuseumPiece& piece : museum) {
        const BugCell cell = measure_bug(piece.bug, "cpu");
        all_well &= cell.is_well;
        std::cout << fmt::format("| {} | {} | `{}` | {} | `{}` | {} |", link_of(piece.thread),
                                 piece.mistake, piece.bug.kernel, piece.bug.property,
                                 piece.bug.smallest, cell.text)
                  << std::endl;
    }
    return all_well;
}

/// In how many draws a usual test fails a piece and its twin.
struct Seen {
    int piece = 0, twin = 0;
};

struct UsualTests {
    const MuseumPiece* piece;
    Seen allclose;
    std::optional<Seen> gradcheck;

    explicit UsualTests(const MuseumPiece& of) : piece(&of) {
        const std::string kernel(of.bug.kernel), twin(of.twin);
        allclose = {draws_seen_by_allclose(kernel, of.usual),
                    draws_seen_by_allclose(twin, of.usual)};
        if (const auto seen = draws_seen_by_gradcheck(kernel, of.usual))
            gradcheck = {*seen, *draws_seen_by_gradcheck(twin, of.usual)};
    }

    std::string line() const {
        const UsualTest& test = piece->usual;
        const std::string tolerance =
            test.tolerance
                ? fmt::format("{:g}, {:g}", test.tolerance->relative, test.tolerance->absolute)
                : "default";
        const std::string by_gradcheck =
            gradcheck ? fmt::format("`{}` | {}, {}", test.problem_of_gradcheck(), gradcheck->piece,
                                    gradcheck->twin)
                      : "- | -";
        return fmt::format("| {} | {} | `{}` | {} | {}, {} | {} |", link_of(piece->thread),
                           piece->own_test, test.problem, tolerance, allclose.piece, allclose.twin,
                           by_gradcheck);
    }
};

/// "7 in all draws, 1 in some and 13 in none"
std::string print_counts(const std::vector<int>& seen) {
    const auto all = std::ranges::count(seen, usual_draws), none = std::ranges::count(seen, 0);
    return fmt::format("{} in all draws, {} in some and {} in none", all,
                       static_cast<std::ptrdiff_t>(seen.size()) - all - none, none);
}

void print_usual_tests() {
    std::vector<UsualTests> rows;
    std::vector<int> by_allclose, by_gradcheck;
    int alarms = 0;
    for (const MuseumPiece& piece : museum) {
        const UsualTests& row = rows.emplace_back(piece);
        by_allclose.push_back(row.allclose.piece);
        if (row.gradcheck) by_gradcheck.push_back(row.gradcheck->piece);
        alarms += row.allclose.twin + (row.gradcheck ? row.gradcheck->twin : 0);
    }
    std::cout << fmt::format(
        "\n## What the usual tests see of them\n\n"
        "Whether the project's own tests could see the bug then, as far as its thread or its "
        "repository tells; and\nwhat two usual tests say of our kernels, in {} draws, on the "
        "device `cpu`.\n\n"
        "- `allclose` compares each output to a reference in double, within the rtol and atol of "
        "the project's test,\n  or else the defaults of `torch.testing.assert_close` for the "
        "type. Numbers are from a normal distribution\n  and indices uniform; an upstream gradient "
        "or a scale is one, and indices differ, where its test has them so.\n"
        "- `gradcheck` compares the Jacobian, by a call of the gradient's kernel for each unit "
        "cotangent, to central\n  differences of the forward function in double, with a step of "
        "{:g}, an rtol of {:g} and an atol of {:g}:\n  `torch.autograd.gradcheck` with what people "
        "give it for floats. It takes forward kernels for granted.\n\n"
        "The problem is the nearest to the project's test, with fewer rows, heads or channels "
        "where that is large.\nBefore a call, outputs and half of the memory around all tensors "
        "hold NaN. Threads run one by one, in ascending\norder, up to their next barrier: races "
        "show as that order has it. That of pytorch#5276 did not on a GPU, whose\nwarps go in "
        "step.\n\n"
        "- Of {} pieces, `allclose` fails {}.\n"
        "- Of {} gradients, `gradcheck` fails {}.\n"
        "- Draws that fail a twin: {}, where a maximum changes its place within the step.\n\n"
        "The tolerance hides DeepSpeed#581 and would hide MIOpen#916. The others that `allclose` "
        "does not fail need a\nshape, a parameter, data or an order of threads that the test has "
        "not.\n\n"
        "Each count is of the draws in which the piece fails, then its twin.\n\n"
        "| thread | did its own tests see it | problem | rtol, atol | allclose fails | gradcheck's "
        "problem | gradcheck fails |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n",
        usual_draws, gradcheck_step, gradcheck_tolerance.relative, gradcheck_tolerance.absolute,
        by_allclose.size(), print_counts(by_allclose), by_gradcheck.size(),
        print_counts(by_gradcheck), alarms);
    for (const UsualTests& row : rows) std::cout << row.line() << "\n";
}

}  // namespace

int museum_table_main() {
    const bool all_well = print_kills();
    print_usual_tests();
    return all_well ? 0 : 1;
}

}  // namespace gradverify
