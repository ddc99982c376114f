#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The examples that take our sources, by FetchContent and by add_subdirectory: of our operators a
# build of everything compiles the seed documents', or those that the project names. One file of ours
# is compiled; the rest would take minutes: added_test.sh SOURCE WORK COMPILER LAUNCHER
set -euo pipefail
source=$1 work=$2 compiler=$3 launcher=$4
rm -rf "$work"

example() { # NAME OPERATOR...
    cmake -S "$source/docs/examples/$1" -B "$work/$1" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" \
        -DGRADVERIFY_CUDA=OFF -DGRADVERIFY_UNITY_BUILD=OFF -DGRADVERIFY_WARNINGS_AS_ERRORS=ON \
        -DFETCHCONTENT_SOURCE_DIR_GRADVERIFY="$source" -DGRADVERIFY_FOLDER="$source" \
        -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher"
    diff --label asked --label "compiled in $1" -u <(printf '%s\n' "${@:2}") \
        <(ninja -C "$work/$1" -n |
            sed -n 's/.*gradverify_\(kernels\|reference\)_\([a-z0-9_]*\)\.dir.*/\2/p' | sort -u)
}
example whole_file headers layer_norm
example own_operator avgpool conv fc headers lenet5 maxpool relu softmax_cross_entropy
ninja -C "$work/own_operator" \
    _deps/gradverify-build/harness/CMakeFiles/gradverify_harness.dir/chain.cpp.o
