#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a step of a kernel file's build for the cpu device: cpu_step.sh FILE TARGET COMMAND... When
# it fails, says how to leave the file out, since some CUDA code runs on a GPU only.
file=$1
target=$2
shift 2
"$@" && exit
code=$?
cat >&2 <<TEXT
gradverify: $file could not be built for the device cpu, as above. If its kernels need a GPU, build
them for the device cuda only: gradverify_add_kernels($target ... CUDA_ONLY ${file##*/})
TEXT
exit $code
