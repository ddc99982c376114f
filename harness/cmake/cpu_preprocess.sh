#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Preprocesses a kernel file for the cpu device:
#   cpu_preprocess.sh LEVEL ARCHITECTURE STEM PREFIX_17 PREFIX_20 COMPILER -E FLAG... FILE
# writes STEM.ii, STEM.device.ii (the text with __CUDA_ARCH__, empty where no file that it reads asks
# for it) and STEM.level, the flags of its language level: the user's, or C++20 where gradverify's
# headers are included. A PREFIX is what is precompiled for a level, or -.
level=$1
architecture=$2
stem=$3
prefix_17=$4
prefix_20=$5
shift 5

preprocess() {
    case $level in
        17) flags="-std=c++17 -fconcepts" prefix=$prefix_17 ;;
        *) flags="-std=c++$level" prefix=$prefix_20 ;;
    esac
    if [ "$prefix" != - ]; then set -- "$@" -fpch-preprocess -include "$prefix"
    else set -- "$@" -include gradverify_simt/forced.hpp; fi
    echo "$flags" > "$stem.level"
    # shellcheck disable=SC2086  # several flags
    "$@" $flags "-D__CUDA_ARCH_LIST__=${architecture%a}0"
}

[ "$level" -gt 17 ] && [ "$level" -lt 98 ] || level=17
preprocess "$@" -MD -MF "$stem.d" -MT "$stem.o" -o "$stem.ii" || exit
ours='^# [0-9]+ ".*harness/(kernel|pass|chain|declare_operator|numbers/|operators/|registry/).*"'
if [ "$level" -lt 20 ] && grep -qE "$ours" "$stem.ii"; then
    level=20
    preprocess "$@" -MD -MF "$stem.d" -MT "$stem.o" -o "$stem.ii" || exit
fi

: > "$stem.device.ii"
files() { tr -s ' \134' '\n' < "$stem.d" | grep -vE '\.gch$|:$|^$'; }
# Where a file takes its marks from __NVCC__, it has none here.
if files | grep -v '^/usr/' | xargs cat 2> /dev/null | grep -qF __NVCC__; then
    echo '#pragma gradverify no_marks' >> "$stem.ii"
fi
# A name with a space is taken for one that asks.
if ! grep -q '\\ ' "$stem.d"; then
    files | xargs grep -qsF __CUDA_ARCH_ || exit 0
fi
number=${architecture%a}
set -- "$@" "-D__CUDA_ARCH__=${number}0"
[ "$number" = "$architecture" ] || set -- "$@" "-D__CUDA_ARCH_FEAT_SM${number}_ALL" \
    "-D__CUDA_ARCH_SPECIFIC__=${number}0" "-D__CUDA_ARCH_FAMILY_SPECIFIC__=${number}0"
preprocess "$@" -o "$stem.device.ii"
