// SPDX-License-Identifier: Apache-2.0
#include "properties/tests/museum/museum_table.hpp"

#include <fmt/format.h>

#include <iostream>
#include <string>

#include "harness/base/text.hpp"
#include "properties/tests/museum/pieces.hpp"
#include "properties/tests/seeded_bugs/bug_table.hpp"

namespace gradverify {

static std::string link_of(std::string_view thread) {
    const auto parts = split(thread, '#');
    return fmt::format("[{}](https://github.com/{}/issues/{})", thread, parts[0], parts[1]);
}

int museum_table_main() {
    std::cout
        << "# A museum of famous bugs\n\n"
           "Bugs of public kernels, from their public threads, each made again in a kernel of "
           "ours\n(`properties/tests/museum/`), beside a twin without the mistake, which "
           "passes. The smallest problem is\nknown by thinking. Cases and seconds are medians "
           "over 20 seeds, on the device `cpu`, as in [seeded\nbugs](seeded-bugs.md). The last "
           "column says whether the project's own tests could see the bug, as far as\nits "
           "thread or repository tell. Made by `gradverify_suite_tests museum`.\n\n"
           "On one H200, in November 2026, 19 of the 21 were found, all in 40 seconds. The other "
           "two, a buffer that\ntwo reductions share and sums that another block clears, are "
           "matters of an order that a GPU did not\nshow; the race detector sees them. Two twins "
           "failed there on tensors of more than 2^31 elements, as their\noffsets are of 32 bits, "
           "which all pieces declare since.\n\n"
           "| thread | mistake | kernel | property | smallest problem | killed, cases, at it, "
           "proof, seconds | did its own tests see it |\n"
           "| --- | --- | --- | --- | --- | --- | --- |\n";
    bool all_well = true;
    for (const MuseumPiece& piece : museum) {
        const BugCell cell = measure_bug(piece.bug, "cpu");
        all_well &= cell.is_well;
        std::cout << fmt::format("| {} | {} | `{}` | {} | `{}` | {} | {} |", link_of(piece.thread),
                                 piece.mistake, piece.bug.kernel, piece.bug.property,
                                 piece.bug.smallest, cell.text, piece.own_test)
                  << std::endl;
    }
    return all_well ? 0 : 1;
}

}  // namespace gradverify
