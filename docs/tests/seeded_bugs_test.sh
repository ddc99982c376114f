#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/seeded-bugs.md is what `bug-table` makes of docs/seeded-bugs.jsonl, and that has a row for
# each seeded bug.
#
# usage: seeded_bugs_test.sh DOCS SUITE_TESTS
set -euo pipefail
rows=$1/seeded-bugs.jsonl tests=$2
made=$(mktemp)
trap 'rm "$made"' EXIT
"$tests" bug-table markdown <"$rows" >"$made"
diff -u "$1/seeded-bugs.md" "$made"
"$tests" bug-table missing <"$rows"
