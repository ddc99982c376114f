#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes C++ in which each symbol that some objects need and others define is a function that says that
# it can't be called; a variable has an address where nothing is.
# Usage: apart_stubs.sh NM FILE.cpp NEEDING.o... -- DEFINING.o...
nm=$1
file=$2
shift 2
number=0
: >"$file.needed"
while [ "$1" != -- ]; do
    "$nm" -P -u "$1" | cut -d ' ' -f 1 >>"$file.needed" || exit
    shift
done
shift
for object; do "$nm" -P -g --defined-only "$object" || exit; done | sort -u >"$file.defined"
echo 'extern "C" void gradverify_kept_apart(const char*);' >"$file"
sort -u "$file.needed" | while read -r name; do
    kind=$(awk -v name="$name" '$1 == name { print $2; exit }' "$file.defined")
    number=$((number + 1))
    case $kind in
        '') ;;
        [TtWi]) printf 'void stub_%s() __asm__("%s");\nvoid stub_%s() { gradverify_kept_apart("%s"); }\n' \
            $number "$name" $number "$name" ;;
        *) printf '__asm__(".globl %s\\n.set %s, 16\\n");\n' "$name" "$name" ;;
    esac
done >>"$file"
