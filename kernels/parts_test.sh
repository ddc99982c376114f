#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The operators that reference/CMakeLists.txt names are those of the kernels in a build of all parts,
# so that a part is found by any of its operators. Usage: parts_test.sh GRADVERIFY CMAKELISTS
set -euo pipefail
diff --label 'named in reference/CMakeLists.txt' --label 'operators of kernels' -u \
    <(sed -n 's/^gradverify_operators(\(.*\))$/\1/p' "$2" |
        sed 's/.*OPERATORS //; s/^gallery\///; s/\.cpp.*//' | tr ' ' '\n' | sort) \
    <("$1" list | sed -n 's/^\([a-z0-9_]*\)\.[a-z0-9_.]*\/.*/\1/p' | sort -u)
