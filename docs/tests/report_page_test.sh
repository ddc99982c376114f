#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes HTML reports of each kind with the built executables, and tries them in a browser. Skipped
# without one. Usage: report_page_test.sh BUILD WRONG PYTHON
set -euo pipefail
build=$(realpath "$1") wrong=$(realpath "$2") python=$3
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
if ! command -v chromium >/dev/null || ! command -v chromedriver >/dev/null ||
    ! "$python" -c 'import selenium' 2>/dev/null; then
    echo "skipped: no chromium, chromedriver or selenium here"
    exit 0
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"

make_page() { # CODE ARGUMENT...: the exit code must be this
    local code=0
    "${@:2}" >out || code=$?
    ((code == $1)) || { cat out && echo "exit code $code: ${*:2}" && exit 1; }
}
make_page 0 "$build/gradverify" check 'conv.grad_bias/*' --device cpu --cases 50 --seed 1 \
    --html passing.html
make_page 1 "$wrong/gradverify" check --device cpu --cases 200 --seed 1 --html failing.html
for shard in 1 2; do
    make_page 0 "$build/gradverify" check 'relu.forward/*' --device cpu --cases 20 --seed 1 --shard $shard/2 \
        --json shard-$shard.json
done
make_page 1 "$build/gradverify" report shard-1.json --html merged.html
make_page 0 "$build/gradverify" bench conv.grad_bias/naive --device cpu --problem n=2,in=8x8 \
    --repetitions 2 --json bench.json
make_page 0 "$build/gradverify" report bench.json --html bench.html
"$python" "$here/report_page_test.py" passing.html failing.html merged.html bench.html
