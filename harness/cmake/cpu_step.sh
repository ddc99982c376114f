#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a step of a kernel file's build for the cpu device: cpu_step.sh FILE TARGET COMMAND... When
# it fails over something of CUDA's or PyTorch's, says what helps: some code runs on a GPU only. What
# helps `gradverify check`, which sets GRADVERIFY_FILES_OF_CHECK, are words of its own.
file=$1
target=$2
shift 2
said=$("$@" 2>&1)
code=$?
[ -z "$said" ] || printf '%s\n' "$said" >&2
[ $code -eq 0 ] && exit
echo "gradverify: $file could not be built for the device cpu: see the error above." >&2
# A name of theirs that was not found; the text before "error:" may have the user's folders.
missing=' on cuda only|not declared|not been declared|undeclared|not name a type|no type named|'
missing="$missing"'no member named|not a member|No such file|file not found'
names='on cuda only|cu(da|blas|dnn|fft|rand|solver|sparse|tensor)?[A-Z]|cu[a-z]+(\.h|/)|CU[A-Za-z]+|'
names="$names"'(ATen|c10|torch|THC|pybind11)/|__[a-z]|(cub|thrust|wmma|nvcuda|cooperative_groups)([^A-Za-z0-9_]|$)|nccl[A-Z]|nvtx|nvml'
if printf '%s\n' "$said" | sed -n 's/.*error:/ /p' | grep -E "$missing" |
    grep -qE "[^A-Za-z0-9_:]($names)"; then
    if [ -n "$GRADVERIFY_FILES_OF_CHECK" ]; then
        cat >&2 <<TEXT
If it is a part of CUDA or PyTorch that the cpu device lacks, name the folder of a header of your own
for it: --include DIR, or check the files on the device cuda only: --device cuda
TEXT
        exit $code
    fi
    cat >&2 <<TEXT
If it is a part of CUDA or PyTorch that the cpu device lacks, declare it in a header of your own
(CPU_HEADERS), or build the file for the device cuda only:
gradverify_add_kernels($target ... CUDA_ONLY ${file##*/})
TEXT
fi
exit $code
