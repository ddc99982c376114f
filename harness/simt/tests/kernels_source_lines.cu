// SPDX-License-Identifier: Apache-2.0
// Calls whose lines are asked for by address; source_line_test.cpp knows their numbers.
#include "harness/simt/tests/launcher.hpp"

static inline __attribute__((always_inline)) void note_inlined() {
    simt_test::note_caller();  // line 6
}

LAUNCHER(note_two_lines) {
    simt_test::note_caller();  // line 10
    note_inlined();
    // A call that never returns is the last instruction of its function.
    simt_test::note_caller_and_throw();  // line 13
}
