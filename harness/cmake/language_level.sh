#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# language_level.sh LEVEL OUT COMPILER FLAG... FILE: writes nvcc's flag for a kernel file's language
# level into OUT: LEVEL, or C++20 where gradverify's headers are included.
level=$1
out=$2
shift 2
[ "$level" -gt 17 ] && [ "$level" -lt 98 ] || level=17
ours='harness/(kernel|pass|chain|declare_operator|numbers/|operators/|registry/)'
if [ "$level" -lt 20 ] && "$@" -M -MG -std=c++17 -D__CUDACC__ | grep -qE "$ours"; then
    level=20
fi
echo "-std=c++$level" > "$out"
