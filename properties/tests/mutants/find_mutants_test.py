# SPDX-License-Identifier: Apache-2.0
"""That each construct has the mutants that it should have, and none where they could not compile."""

import pathlib
import subprocess
import tempfile
import unittest

from find_mutants import ends_of, find_mutants
from mutants import ROOT, deciders


class FindMutants(unittest.TestCase):
    def mutants_of(self, source, name="source.cpp"):
        """What the mutants make of the lines they change; the mutated text is kept."""
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            (root / name).write_text(source + "\n")
            self.mutants, self.text = find_mutants(root, name, 1)
        return [ends_of(mutant.edit)[1] for mutant in self.mutants]

    def in_body(self, line, parameters="int a, int b, bool p, bool q"):
        return self.mutants_of(f"void use(int);\nvoid f({parameters}) {{\n{line}\n}}\n")

    def check(self, line, *mutants, **parameters):
        self.assertEqual(self.in_body(line, **parameters), list(mutants))

    def test_comparisons_move_their_boundary_and_turn_round(self):
        self.check("const bool c = a < b;", "const bool c = a <= b;", "const bool c = a >= b;")
        self.check("const bool c = a == b;", "const bool c = a != b;")

    def test_arithmetic_is_exchanged_or_loses_an_operand(self):
        self.check("const int c = a + b;", "const int c = a - b;", "const int c = a;")
        self.check("const int c = a * b;", "const int c = a + b;")
        self.check("const int c = -a;", "const int c = a;")
        # The difference of two pointers is a number, and their sum nothing.
        self.check("const long c = m - n;", parameters="int* m, int* n")

    def test_numbers_are_one_more_and_one_less(self):
        self.check("const int c = 7;", "const int c = 8;", "const int c = 6;")
        self.check("const int c = 0;", "const int c = 1;")
        self.check("const double c = 0.5;", "const double c = 2 * 0.5;")
        # Not beside + and -, whose own mutants say as much, nor in a comparison.
        self.assertEqual(len(self.in_body("const int c = a + 1;")), 2)
        self.assertEqual(len(self.in_body("const bool c = a < 1;")), 2)

    def test_each_part_of_a_condition_holds_or_does_not(self):
        self.check("const bool c = p && q;",
                   "const bool c = true && q;", "const bool c = p && true;")  # fmt: skip
        self.check("if (p) use(a);", "if (true) use(a);", "if (p) ;")
        self.assertEqual(self.in_body("if (p) use(a); else use(b);")[:2],
                         ["if (false) use(a); else use(b);", "if (true) use(a); else use(b);"])  # fmt: skip
        self.check("const int c = p ? a : b;",
                   "const int c = false ? a : b;", "const int c = true ? a : b;")  # fmt: skip
        self.check("const bool c = !p;", "const bool c = p;")

    def test_a_condition_that_declares_a_variable_is_left_alone(self):
        for word in ("if", "while"):
            self.check(f"{word} (const int* c = n) use(*c);", f"{word} (const int* c = n) ;",
                       parameters="int* n")  # fmt: skip

    def test_a_statement_is_dropped_but_no_declaration(self):
        self.check("use(a);", ";")
        self.check("a = b;", ";")
        self.check("int c = a;")
        self.check("for (;;) break;", "for (;;) ;")

    def test_the_last_break_of_a_switch_is_kept(self):
        self.check("switch (a) { case 1: break; case 2: use(a); break; }",
                   "switch (a) { case 1: ; case 2: use(a); break; }",
                   "switch (a) { case 1: break; case 2: ; break; }")  # fmt: skip

    def test_results_are_one_more_or_the_opposite(self):
        self.assertEqual(self.mutants_of("int f(int a) { return a; }"),
                         ["int f(int a) { return a + 1; }"])  # fmt: skip
        self.assertEqual(self.mutants_of("bool f() { return true; }"), ["bool f() { return false; }"])

    def test_a_function_becomes_one_of_its_arguments(self):
        std = "namespace std { template <class T> const T& max(const T&, const T&); }\n"
        self.assertEqual(self.mutants_of(std + "int f(int a, int b) { return std::max(a, b); }"),
                         ["int f(int a, int b) { return a; }",
                          "int f(int a, int b) { return b; }"])  # fmt: skip

    def test_what_must_be_constant_is_left_alone(self):
        self.assertEqual(self.mutants_of("int table[3];\nstatic_assert(1 < 2);"), [])
        self.assertEqual(self.mutants_of("constexpr int f(int a) { return a + 1; }"), [])
        self.check("switch (a) { case 1: ; }")
        self.check("if constexpr (sizeof(int) < 8 && true) use(a);",
                   "if constexpr (sizeof(int) < 8 && true) ;")  # fmt: skip
        self.assertEqual(self.mutants_of("constexpr int n = 3;"), [])
        self.check("constexpr double u = 64.0, v = 0.25;")
        pair = "template <class T, int n> struct Several { T all[n]; };\n"
        self.assertEqual(self.mutants_of(pair + "struct S { Several<Several<int, 2>, 3> m; };"), [])
        self.assertEqual(self.mutants_of(pair + "Several<int, 2> f(Several<int, 3> a);"), [])
        self.assertEqual(self.mutants_of("struct S { static constexpr double share = 0.5; };"), [])
        self.assertEqual(self.mutants_of("struct S { constexpr S() {}\nint n = 3; };"), [])

    def test_functions_that_a_macro_defines_are_left_alone(self):
        self.assertEqual(self.mutants_of("#define TWICE(f) int f(int a) { return a + a; }\nTWICE(g)"), [])

    def test_a_mutant_names_its_place(self):
        self.mutants_of("int one() {\n    return 1;\n}\n")
        first = self.mutants[0]
        self.assertEqual((first.file, first.function, first.line, first.edit, first.number),
                         ("source.cpp", "one", 2, "return «1 => 2»;", 1))  # fmt: skip
        self.assertIn("return (::gradverify::mutants::on(1) ? 2 : "
                      "::gradverify::mutants::on(2) ? 0 : 1);", self.text)  # fmt: skip
        self.assertTrue(self.text.startswith('#include "properties/tests/mutants/switch.hpp"\n'))
        self.mutants_of("#pragma once\nint n();\n", "header.hpp")
        self.assertTrue(self.text.startswith('#pragma once\n#include "properties/tests/mutants/switch.hpp"'))

    def test_clang_understands_what_is_mutated(self):
        # clang-tidy reads what lies in harness/. A folder's files together, for the headers' sake.
        folders = {}
        for path in map(pathlib.PurePath, deciders()):
            if path.parts[0] == "properties" and path.suffix == ".cpp":
                folders.setdefault(path.parent, []).append(f'#include "{ROOT / path}"\n')
        self.assertGreater(len(folders), 2)
        for includes in folders.values():
            command = ["clang++", "-fsyntax-only", "-std=c++20", "-w", f"-I{ROOT}", "-x", "c++", "-"]
            done = subprocess.run(command, input="".join(includes), capture_output=True, text=True)
            self.assertEqual(done.stderr[:2000], "")


if __name__ == "__main__":
    unittest.main()
