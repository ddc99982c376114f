#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What `repro --export` and `--export-python` write is built as it stands and fails as the case did:
# on the cpu device, whose headers and runtime take CUDA's place, and, where there is a GPU, by nvcc.
# Usage: reproducer_test.sh EXECUTABLE REWRITE SIMT_LIBRARY CXX HEADER_FOLDER... [nvcc=NVCC]
set -eu
exe=$1 rewrite=$2 simt=$3 cxx=$4 nvcc=
shift 4
headers=()
for word in "$@"; do
    case $word in nvcc=*) nvcc=${word#nvcc=} ;; *) headers+=("-I$word") ;; esac
done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# Debian's PyTorch is the system's Python's.
python=python3
"$python" -c 'import torch' 2>/dev/null || python=/usr/bin/python3
failures=0
complain() {
    failures=$((failures + 1))
    printf 'FAILED: %s\n' "$1"
    [ ! -f "$tmp/out" ] || sed 's/^/  /' "$tmp/out" | head -30
}

# The words behind a flag in the README's command, as `-Igradverify`.
words_of() { # FOLDER
    sed -n 's/.*`nvcc -std=c++20 \(.*\) -o repro \(.*\) && .\/repro`.*/\1 \2/p' "$1/README.md"
}

# Compiles the folder's files as the README says, in the steps of gradverify_add_kernels.
compile_for_cpu() ( # FOLDER OUTPUT FLAG...
    cd "$1" || exit 1
    flags=() objects=()
    for word in $(words_of . | tr -d "'"); do
        [[ $word != -* ]] || { flags+=("$word") && continue; }
        "$cxx" -E -x c++ -std=c++20 -fPIC "${@:3}" "${headers[@]}" "${flags[@]}" \
            -include gradverify_simt/forced.hpp -o "$word.ii" "$word" || exit 1
        "$rewrite" "$word.ii" "$word.rewritten.ii" || exit 1
        "$cxx" -x c++-cpp-output -std=c++20 -O1 -fPIC -fno-strict-aliasing -w -c \
            -o "$word.o" "$word.rewritten.ii" || exit 1
        objects+=("$word.o")
    done
    [[ " ${*:3} " != *" -DSTANDALONE_LIBRARY "* ]] || objects=(-shared "${objects[@]}")
    "$cxx" -o "$2" "${objects[@]}" -Wl,--whole-archive "$simt" -Wl,--no-whole-archive \
        -ldl -lpthread
)

run_on_gpu() { # FOLDER WANTED_CODE
    local code=0
    # shellcheck disable=SC2046  # several words
    (cd "$1" && eval "\"$nvcc\" -std=c++20 -arch=native $(words_of .) -o on_gpu" && ./on_gpu) \
        >"$tmp/out" 2>&1 || code=$?
    [ "$code" -eq "$2" ] || complain "$1 must end with $2 on a GPU, not $code"
}

# The case ends with this code in gradverify and alone, which prints the pattern.
try() { # NAME CODE PATTERN CASE
    local folder=$tmp/$1 want=$2 pattern=$3 one=$4 code=0
    "$exe" repro "$one" --export "$folder" --export-python "$folder.py" >"$tmp/out" 2>&1 || code=$?
    [ "$code" -eq "$want" ] || complain "repro '$one' must end with $want, not $code"
    code=0
    compile_for_cpu "$folder" "$folder/repro" >"$tmp/out" 2>&1 || code=$?
    [ "$code" -eq 0 ] || { complain "$1 can't be built" && return; }
    "$folder/repro" >"$tmp/out" 2>&1 || code=$?
    [ "$code" -eq "$want" ] || complain "$1 must end with $want by itself, not $code"
    grep -qE -e "$pattern" "$tmp/out" || complain "$1 must say '$pattern'"
    if [ -n "$nvcc" ] && nvidia-smi -L >/dev/null 2>&1; then run_on_gpu "$folder" "$want"; fi
    try_python "$folder" "$want"
}

# Without PyTorch the file is read alone.
try_python() { # FOLDER WANTED_CODE
    local code=0
    python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$1.py" ||
        complain "$1.py is no Python"
    "$python" -c 'import torch' 2>/dev/null || return 0
    find "$1" \( -name '*.ii' -o -name '*.o' \) -delete
    compile_for_cpu "$1" "$1.so" -DSTANDALONE_LIBRARY >"$tmp/out" 2>&1 || code=$?
    [ "$code" -eq 0 ] || { complain "$1 can't be built as a library" && return; }
    "$python" "$1.py" --library "$1.so" --device cpu >"$tmp/out" 2>&1 || code=$?
    [ "$code" -eq "$2" ] || complain "$1.py must end with $2, not $code"
}

try wrong_value 1 'dw\[0,0,0,0\] is 0, want 1' \
    'v1:conv.grad_weight/bug_a02_dilated_position:matches_reference:cpu:in=1x2,dilation=1x2:data=dy[1]=1,x[1]=1'
try beside_output 1 'bytes in or around y were changed' \
    'v1:conv.forward/bug_pitch_ignored:matches_reference:cpu:in=2:data=zeros:layout=y.nhwc.pad1'
try unwanted 1 'bytes in or around dx were changed' \
    'v1:conv.backward/bug_mask_0_writes_dx:matches_reference:cpu:in=1:data=zeros:mask=0'
try after_a_call 1 'db\[0\] is ' \
    'v1:conv.grad_bias/bug_cached_geometry:matches_reference:cpu:in=1x1:data=zeros:before=in=1x2'
try passed 0 'passed: all three runs are right' \
    'v1:conv.grad_bias/naive:within_rounding_bound:cpu:n=2,k=3,in=3x2:seed=1:offset=1.2:stream=own'

[ "$failures" -eq 0 ] || exit 1
echo "5 reproducers stand alone"
