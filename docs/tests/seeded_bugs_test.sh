#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/results/seeded-bugs.md is what `bug-table` makes of its rows, none of which is of a bug that has left,
# and has a row for each seeded bug.
#
# usage: seeded_bugs_test.sh DOCS SUITE_TESTS
set -euo pipefail
table=$1/results/seeded-bugs.md tests=$2
made=$(mktemp)
trap 'rm "$made"' EXIT
"$tests" bug-table markdown <"$table" >"$made"
diff -u "$table" "$made"
"$tests" bug-table missing <"$table"
