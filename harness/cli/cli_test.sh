#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The command line of the real executable, end to end: what each verb prints, which exit code it
# ends with, and what it says of wrong words. Usage: cli_test.sh PATH_OF_GRADVERIFY
set -u
exe=$(realpath "$1")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
failures=0
checks=0
code=0

complain() {
    failures=$((failures + 1))
    printf 'FAILED: %s\n  exit code %s\n' "$1" "$code"
    sed 's/^/  out: /' out | head -20
    sed 's/^/  err: /' err | head -20
}

# expect CODE FILE PATTERN ARGUMENTS...: the exit code, and a line of `out` or `err` that matches.
expect() {
    local want=$1 file=$2 pattern=$3
    shift 3
    "$exe" "$@" >out 2>err </dev/null
    code=$?
    checks=$((checks + 1))
    if [ "$code" -ne "$want" ]; then complain "'$*' must end with exit code $want"; fi
    grep -qE -e "$pattern" "$file" || complain "'$*' must say '$pattern' in $file"
}

# A usage error prints nothing that a script could take for a result.
refused() {
    expect 2 err "$@"
    [ ! -s out ] || complain "'${*:2}' must print nothing to stdout"
}

holds() {
    checks=$((checks + 1))
    "${@:2}" || complain "$1"
}

json_kinds() { # FILE KIND...: the kinds of its lines
    python3 -c 'import json, sys
kinds = [json.loads(line)["kind"] for line in open(sys.argv[1])]
sys.exit([kind for kind in kinds if kind not in ("progress", "seen")] != sys.argv[2:])' "$@"
}
seven_verdicts=(run verdict verdict verdict verdict verdict verdict verdict summary)

xml_is_valid() {
    python3 -c 'import sys, xml.dom.minidom
cases = xml.dom.minidom.parse(sys.argv[1]).getElementsByTagName("testcase")
sys.exit(len(cases) != int(sys.argv[2]))' "$1" "$2"
}

# The verdicts of a run, without the times; rows end in any order.
verdicts() { grep '"kind":"verdict"' "$1" | sed -E 's/"seconds":[^,}]*//' | sort; }

kernel=conv.grad_bias/naive
case="v1:$kernel:matches_reference:cpu:in=3x2:seed=5"
quick=(--cases 20 --seed 1 --device cpu)

echo "== help and version"
expect 0 out '^gradverify [0-9]+\.[0-9]+\.[0-9]+$' --version
expect 0 out 'Exit codes: 0 all passed' --help
for verb in list check repro bench; do expect 0 out "Usage: gradverify $verb" $verb --help; done
expect 0 out 'matches_reference +equals the reference' check --help

echo "== the default run"
expect 0 out 'rows, 60 s at most$' check "$kernel" --property matches_reference --device cpu
for amount in '--cases 3' '--time 1s' '--problem in=5x5' '--exhaustive=1' '--shard 1/500'; do
    # shellcheck disable=SC2086  # two words
    expect 0 out '[0-9] rows$' check "$kernel" --property matches_reference --device cpu $amount
done

echo "== judge"
# of_judgement EXPRESSION: whether it holds of the object `it` that was printed.
of_judgement() {
    python3 -c 'import json, sys
it = json.loads(open("out").read())
sys.exit(not eval("(" + sys.argv[1] + ")"))' "$1"
}
expect 0 out '^\{"kind":"judgement",' judge "$kernel" --device cpu --time 10s --seed 4
holds "a right kernel is judged so" of_judgement 'it["verdict"] == "passed" and not it["failures"]
    and it["seed"] == 4 and all(row["cases"] > 0 for row in it["rows"])'
holds "the smallest error that would have been seen is told" of_judgement \
    '[row["detection_limit"]["median_ulps"] > 0 for row in it["rows"] if "detection_limit" in row]'
expect 1 out '"verdict":"unknown"' judge --device cpu --time 0.2s
refused '0s is not a time such as' judge "$kernel" --time 0s
refused "selects nothing that applies" judge "$kernel" --property no_such
refused "'no.such'" judge no.such

echo "== list"
expect 0 out '^conv.forward/naive$' list
expect 0 out '^  supports  2 spatial axes, stride = 1, padding = 0, dilation = 1' list "$kernel"
expect 0 out 'on tensor cores, rounds p to bf16, rounds ds to bf16$' list attention.backward/tiled_mma
expect 0 out 'on tensor cores, factors of tf32, ' list conv.forward/wgmma_tf32
holds "list FILTER prints one kernel" test "$(grep -c '^conv' out)" -eq 1
expect 0 out '^conv.grad_weight/naive$' list '*/naive'
expect 0 out '^  dw +gradient +f32 4 x 3 x 2 x 2 +48 +192$' \
    list conv.grad_weight/naive --problem n=2,c=3,k=4,in=5x5,filter=2x2
expect 0 out '^  on in=5x5,stride=2x2: needs stride = 1$' list conv.grad_weight/naive --problem in=5x5,stride=2
refused 'another operator.s: name the kernels of one' list --problem in=5x5
refused 'unknown parameter `m`' list conv.grad_weight/naive --problem m=1
refused "no kernel matches 'conv.forwrd/naive'; did you mean conv.forward/naive" \
    list "$kernel" conv.forwrd/naive
refused "no kernel matches 'cnov.forward'; did you mean conv.forward/\*" list cnov.forward
holds "in one line" test "$(wc -l <err)" -eq 1
refused "no kernel matches 'nothing_like_it'; .*gradverify list. prints all [0-9]+$" list nothing_like_it
refused "no kernel matches ''" list ''
refused '^gradverify: \./ is a folder: name its files, or list their launchers by .* new \./' check ./
touch words.txt
refused 'words.txt is no file to build' check words.txt
refused "there is no command 'words.txt'; .*; did you mean check words.txt" words.txt
expect 0 out '^fc.grad_bias/block_reduction$' list _reduction
holds "a part of names selects all that have it" grep -q '^conv.grad_weight/tree_reduction$' out
expect 0 out '^conv.grad_bias/naive$' list "$kernel"
expect 0 out '^  backward    dy, x, gamma, mean, rstd -> dx, dgamma, dbeta$' list --operators layer_norm
holds "with its tensors" grep -qE '^    mean +saved +f32 4096$' out
expect 0 out '^  computes    sums of x w and b$' list --operators conv
expect 0 out '^    lse\[i\] = log of the sum of exp\(s\[i,j\]\) over' list --operators attention
expect 0 out '^    geglu: act\(z\) = z \(1' list --operators geglu
expect 0 out '^relu +forward, grad_input$' list --operators
refused "no operator matches 'layer_nrm'; did you mean layer_norm.*list --operators. prints all" \
    list --operators layer_nrm
refused "tri.py can't be checked: .*Python files are not supported yet" check tri.py

echo "== check"
expect 0 out '^7 rows: 7 passed, 0 failed' check "$kernel" "${quick[@]}" --json r.json --junit r.xml
holds "the seed is printed first" grep -q '^gradverify .*: seed 1, device cpu, ' <(head -1 out)
holds "--json writes a run, seven verdicts and a summary" json_kinds r.json "${seven_verdicts[@]}"
holds "each verdict has its cases" test "$(grep -c '"verdict":"passed","cases":20,' r.json)" -eq 7
holds "--junit writes seven test cases" xml_is_valid r.xml 7
expect 0 out 'seed 1, ' check "$kernel" "${quick[@]}" --jobs 3 --json again.json
holds "the same seed gives the same verdicts" \
    test "$(verdicts r.json)" = "$(verdicts again.json)"
expect 0 out 'seed [0-9]+, ' check "$kernel" --cases 2 --property repeatable
holds "without --seed one is drawn" test "$(head -1 out)" != "$("$exe" check "$kernel" \
    --cases 2 --property repeatable | head -1)"
expect 0 out '^1 rows: 1 passed' check "$kernel" "${quick[@]}" --property 'matches_ref*'
for shard in 1 2; do
    expect 0 out 'passed' check "$kernel" --cases 21 --seed 1 --shard $shard/2 --json s$shard.json
done
holds "shard 1/2 of 21 cases has 11" test "$(grep -c '"cases":11,' s1.json)" -eq 7
holds "shard 2/2 of 21 cases has 10" test "$(grep -c '"cases":10,' s2.json)" -eq 7
expect 1 out '^skipped: the run ended before the first case of 7 rows$' check "$kernel" \
    --time 0.000001s --at-least 3 --device cpu
holds "a run without a case verified nothing" \
    grep -q "^not verified: $kernel had no case before the run ended$" out
expect 0 out '^7 rows: 7 passed' check "$kernel" --time 60s "${quick[@]}"
expect 0 out '^thin: [1-7] rows? passed fewer cases than --at-least, the fewest [0-9]+ of 10000000' \
    check "$kernel" --time 2s --cases 10000000 --at-least 10000000 --device cpu --json t.json
holds "a thin row has passed" grep -q '"verdict":"passed".*"cut_short":true,"thin":true' t.json
expect 0 out '^[0-9]+ cases' check "$kernel" "${quick[@]}" -q
holds "-q prints the counts alone" test "$(wc -l <out)" -eq 2
expect 0 out '^what the passed rows' check "$kernel" fc.grad_bias/naive --cases 1 --device cpu -v
holds "a row of one case looks thin" grep -qE '^conv.grad_bias/naive +(-|\(1\)) ' out
expect 0 out '^and [0-9]+ kernels on cpu without a wrong row, which -v lists' \
    check conv --cases 1 --device cpu --property free_of_races --seed 1
holds "many kernels take few lines" test "$(wc -l <out)" -le 60
holds "what they could have missed is not told" test "$(grep -c 'could have missed' out)" -eq 0
refused 'is not a whole number from 1 to' check "$kernel" --max-failures 0
refused 'excludes' check "$kernel" -q -v
(exec 9>busy.json && flock 9 && exec sleep 5) &
sleep 0.3
expect 3 err "^gradverify: can't write busy.json: another run is writing it" \
    check "$kernel" "${quick[@]}" --json busy.json
refused '--at-least requires --time' check "$kernel" --at-least 3
refused '--at-least counts drawn cases' check "$kernel" --exhaustive --time 1s --at-least 3

echo "== shells"
expect 0 out '^complete -o default -F _gradverify' completion bash
holds "bash completes verbs, options, kernels, operators, properties and devices" bash -c '. ./out
completes() { # WANTED WORD...
    COMP_WORDS=("$0" "${@:2}") COMP_CWORD=$(($# - 1))
    _gradverify "$0" "${@: -1}" "${COMP_WORDS[-2]}"
    [[ "${COMPREPLY[*]}" == "$1" ]] || { echo "${*:2} gives ${COMPREPLY[*]}" >&2 && exit 1; }
}
completes "report repro" rep
completes "--shard --show-prints" check --sh
completes "fc.grad_bias/block_reduction fc.grad_bias/naive" check fc.grad_bias/
completes "relu.*" bench "relu.*"
completes swiglu.backward new --operator swiglu.b
completes within_rounding_bound check --property within
completes cpu judge --device cp
completes cuda judge --device = cu' "$exe"
refused 'there are completions for bash, not for zsh' completion zsh
expect 0 out '^\.TH GRADVERIFY 1' man
for section in SYNOPSIS DESCRIPTION 'EXIT STATUS' EXAMPLES; do
    holds "the man page has $section" grep -q "^\.SH $section$" out
done

echo "== report"
whole=("$kernel" --cases 21 --seed 1)
expect 0 out 'passed' check "${whole[@]}" --json whole.json
# A kernel for the device cuda alone, which a build without cuDNN lacks.
if "$exe" list conv.grad_bias/cudnn >/dev/null 2>&1; then
    expect 1 out '^0 rows' check conv.grad_bias/cudnn --device cpu --json none.json
    expect 1 out '^0 rows' report none.json
fi
expect 0 out 'passed' check conv.grad_bias/block_reduction --cases 2 --seed 1 --json other.json
expect 0 out '^147 cases, median ' report s1.json s2.json --json merged.json --html merged.html
holds "shards come to the verdicts of the whole run" \
    test "$(verdicts merged.json)" = "$(verdicts whole.json)"
holds "the page is whole" grep -q '"kind":"summary"' merged.html
expect 1 out '^missing: of the 2 shards of seed 1 there is no file of 2$' report s1.json
head -4 s2.json >cut.json
printf '{"kind":"verd' >>cut.json
expect 1 out '^missing: shard 2/2 of seed 1 \(cut.json\) has no verdict of [1-9] of its 7 rows' \
    report s1.json cut.json
expect 0 out '^not run any more: ' report s1.json s2.json --before whole.json --before other.json
cp s1.json again-1.json
refused 'both hold shard 1/2 of seed 1' report s1.json again-1.json
refused 's1.json is given twice' report s1.json s2.json --html s1.json
refused 'x is given twice' check --json x --html x
refused "can't read nowhere.json" report nowhere.json
expect 1 out '^missing: ' report s1.json --json part.json
refused 'part.json was written by .report.; give the files' report part.json
refused 'line 1 of r.xml is not JSON' report r.xml
refused 'FILE is required' report
expect 0 out passed check "${whole[@]}" --sarif r.sarif
holds "--sarif writes a run without results" \
    python3 -c 'import json; assert json.load(open("r.sarif"))["runs"][0]["results"] == []'
refused 'needs --seed, one for all shards' check --shard auto
PMI_RANK=1 PMI_SIZE=2 expect 0 out passed check "${whole[@]}" --shard auto --json auto.json
holds "--shard auto is the shard that the environment tells" \
    test "$(verdicts auto.json)" = "$(verdicts s2.json)"

echo "== check: known cases"
mkdir known
printf '# by hand\n%s\n' "$case" >known/mine.case
printf 'v1:conv.forward/gone:repeatable:cpu:in=1:seed=5\n' >known/gone.case
expect 0 out "^stale: known/gone.case: case: there is no kernel" check "${whole[@]}" --corpus known
holds "a known case that passes tells nothing of the drawn ones" grep -q '^147 cases' out
mv known .gradverify
expect 0 out '^stale: .gradverify/gone.case' check "${whole[@]}"
rm -r .gradverify

echo "== check: exhaustive"
naive='conv.grad_weight/naive'
expect 0 out "$naive on cpu  all 27 problems up to distance 2, at least 21 of them" \
    check $naive --exhaustive=2 --device cpu --json e.json
holds "--json says how far each row got" \
    test "$(grep -c '"exhaustive":{"problems":27,.*"distance":2,' e.json)" -eq 7
expect 0 out 'cpu  all 14 problems of this shard up to distance 2, ' \
    check $naive --exhaustive=2 --shard 1/2 --device cpu
expect 0 out 'cpu  the one problem up to distance 0 and 5 beyond, ' \
    check $naive --exhaustive --cases 20 --device cpu
refused 'exhaustive=-1 is not a whole number from 0' check --exhaustive=-1
refused 'leave out --problem' check --exhaustive --problem in=3x3

echo "== check: what could have been missed"
expect 0 out '; only( with|$)' check $naive "${quick[@]}" --json m.json
holds "errors are told in ulps" grep -qE '^      errors below [0-9.]+ ulps' out
holds "--json says what each row covered" \
    test "$(grep -c '"coverage":{"problems":.*"supports_only":\["2 spatial axes","stride = 1"' m.json)" -eq 7
holds "--json says which errors the bound shows" test "$(grep -c '"ulps":{"cases"' m.json)" -eq 1

echo "== check: compute-sanitizer"
refused 'watches the device cuda, not cpu' check "$kernel" "${quick[@]}" --compute-sanitizer
refused 'leakcheck not in .*memcheck,racecheck' check "$kernel" --compute-sanitizer=leakcheck
refused 'watches the device cuda, not cpu' repro "$case" --compute-sanitizer=racecheck

echo "== check: own problems"
expect 0 out '^21 cases' check "$kernel" --problem in=3x2 --cases 3
printf '# mine\n\n  in=3x2  # the first\n\tn=2,in=4x4\r\n' >problems
expect 0 out '^210 cases' check "$kernel" --problems problems --problem in=1x1
expect 1 out "^skipped: 7 rows of $kernel on cpu: supports none of the given problems" \
    check 'conv.grad_bias/*' --problem in=5x5,stride=2 --device cpu
holds "and is not verified" grep -q "^not verified: $kernel" out
refused "no selected kernel supports it: $kernel needs stride = 1" \
    check "$kernel" --problem in=3x3,stride=2
refused 'unknown parameter `m`; accepted: n=NUMBER' check --problem m=1,in=1x1
refused 'unknown parameter `m`; accepted: rows=NUMBER, width=NUMBER' check --problem rows=1,width=1,m=1
refused 'tensors of at most [0-9]+ elements; x has more' \
    check --problem n=1073741824,c=1073741824,in=1073741824x1073741824
refused "can't read nowhere" check --problems nowhere
printf '# nothing\n' >empty
refused 'empty holds no problem' check --problems empty

echo "== check: recorded tensors"
python3 - <<'EOF'
import json, struct

def save(path, **tensors):
    header, data = {}, b""
    for name, (shape, numbers) in tensors.items():
        elements = struct.pack(f"<{len(numbers)}f", *numbers)
        header[name] = {"dtype": "F32", "shape": shape,
                        "data_offsets": [len(data), len(data) + len(elements)]}
        data += elements
    text = json.dumps(header).encode()
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)

save("acts.safetensors", x=([3, 4], [i / 7 for i in range(12)]), q=([1], [0]))
save("dy.safetensors", dy=([2, 3, 4, 4], [1] * 96))
EOF
layer_norm="layer_norm.forward/naive --device cpu --cases 3"
expect 0 out '^data of layer_norm: rows=3,width=4$' check $layer_norm --data acts.safetensors
holds "and what it leaves out" grep -q '^  q is left out: layer_norm takes no such tensor' out
expect 0 out '^passed: .*rows=3,width=4' repro --device cpu \
    'v1:layer_norm.forward/naive:within_rounding_bound:cpu:rows=3,width=4:data=acts.safetensors:seed=1'
refused 'x of acts.safetensors has the sizes \(3, 4\), and on rows=3,width=5 it has \(3, 5\)' \
    check $layer_norm --data acts.safetensors --problem rows=3,width=5
refused 'case: .*on width=4 it has|data: x of acts.safetensors has the sizes' \
    repro 'v1:layer_norm.forward/naive:within_rounding_bound:cpu:rows=1,width=4:data=acts.safetensors:seed=1'
refused "--data: the tensors' sizes leave open .*filter_h" \
    check "$kernel" --data dy.safetensors --device cpu
refused 'nowhere.npy: it can.t be read' check $layer_norm --data nowhere.npy
refused 'leave out --problems' check $layer_norm --data acts.safetensors --problems problems
refused 'x of acts.safetensors has the sizes \(3, 4\), and on ' \
    check "$kernel" --data acts.safetensors

echo "== check: wrong words"
refused "there is no command 'chekc'; there are list, check, judge, repro, new, report, bench, completion, man; did you mean check" chekc
refused 'there are the commands list, check, judge, repro, new, report, bench, completion, man'
refused '; --time stands behind check$' --time 5s check
refused 'not expected: --case; did you mean --cases\?$' check --case
refused 'gradverify check --help. says what it accepts$' check --nothing-like-it
refused 'not expected: --proprety=x; did you mean --property\?$' check --proprety=x
refused 'did you mean .*--html\?$' report r.json --htlm=x
refused "no kernel matches 'conv.sideways" check 'conv.sideways*'
refused 'there are .*matches_reference, within_rounding_bound' check --property equals
refused 'there are .*matches_reference' check conv.forward/naive --property adjoint_identity
refused '--device tpu is unknown; there are cpu, cuda, auto, all' check --device tpu
printf '{"kind":"verdict","kernel":"%s","property":"repeatable","device":"cpu","verdict":"failed"}\n' \
    "$kernel" >known.json
expect 1 out "^no longer failed: $kernel, repeatable on cpu; take its line out" \
    check "$kernel" "${quick[@]}" --baseline known.json
expect 0 out 'passed' check "$kernel" "${quick[@]}" --baseline known.json --property stays_in_bounds
refused 'baseline: line 1 of r.xml is not a line that' check "$kernel" --baseline r.xml
for shard in 0/2 3/2 1 1/0 a/b 1/2/3 1/9223372036854775807; do
    refused 'is not auto, nor i/n with 1 <= i <= n' check --shard $shard
done
for time in 0 -1 5x s inf nan; do
    refused 'is not a time such as 60s, 5m or 2h' check --time $time
done
for number in 0 -1 x 1.5 99999999999999999999; do
    refused 'is not a whole number from 1 to' check --cases $number
    refused 'is not a whole number from 1 to' check --jobs $number
done
refused 'is not a whole number from 0 to 18446744073709551615' check --seed -1

echo "== bench: kernels"
small=n=2,c=3,k=4,in=9x9,filter=3x3
bench=(bench --device cpu --problem "$small" --repetitions 9)
expect 0 out '^conv.forward on n=2,c=3,k=4,in=9x9,filter=3x3$' "${bench[@]}" conv.forward/naive \
    --json b.json
holds "it says what a time of this device is worth" grep -q '^the cpu device emulates a GPU' out
holds "it prints tensors" grep -qE '^  x +f32 +2x3x9x9 +strides 243,81,9,1 +1.94 kB$' out
holds "it prints multiply-adds" grep -qE '^  10,584 multiply-adds$' out
holds "it prints the median and the spread" \
    grep -qE '^      [0-9.]+ (us|ms) a call, the median of 9 samples; quartiles .* and ' out
holds "it prints rates and shares" grep -qE 'GFLOP/s, .* % of f32 fma; .* GB/s, .* % of copy$' out
holds "it verifies first" grep -q 'verified: all 392 elements equal the reference, on integers' out
holds "--json writes a run, a kernel and a summary" json_kinds b.json run bench summary
holds "--json has the samples" grep -qE '"samples":\[([0-9.e-]+,){8}[0-9.e-]+\]' b.json
expect 0 out 'verified: all 392 elements are within their rounding bounds, on decimals' \
    "${bench[@]}" conv.forward/naive --data decimals
expect 0 out 'not verified: --no-verify' "${bench[@]}" conv.forward/naive --no-verify
expect 0 out '^4 timed, 0 failed, 0 not timed$' "${bench[@]}" 'conv.*/naive'
expect 0 out '^  conv.forward/naive  .* GFLOP/s .* GB/s$' "${bench[@]}" conv.forward/naive \
    conv.forward/direct
expect 0 out 'not timed: needs stride = 1' bench --device cpu --problem $small,stride=2 \
    --repetitions 1 'conv.grad_weight/*'
holds "a kernel that supports the problem is timed" grep -q '^[1-9][0-9]* timed, 0 failed, ' out
expect 0 out '^  32.0 bytes in all$' bench --device cpu --problem n=2 relu.forward/naive \
    --problem n=4
holds "each problem is timed" grep -q '^2 timed, ' out
holds "multiply-adds that nobody counted are not told" test "$(grep -c 'of f32 fma' out)" -eq 0
refused 'nothing to time on cpu: .*needs stride = 1' \
    bench --device cpu --problem $small,stride=2 conv.grad_weight/naive
refused 'nothing to time on cpu: .* on the cpu device, which emulates a GPU, 3e\+07 is the most' \
    bench conv.forward/naive --device cpu --problem n=64,c=64,k=64,in=64x64
refused 'bench needs a --problem on the cpu device' bench conv.forward/naive --device cpu
expect 0 out '^  loss +f32 +one number +strides none +4.00 bytes$' \
    bench softmax_cross_entropy.forward/naive --device cpu --problem n=2,v=3 --repetitions 1
refused 'unknown parameter `m`; accepted: n=NUMBER' bench --problem m=1,in=1x1 --device cpu
refused "no kernel matches 'conv.forwrd/naive'" bench conv.forwrd/naive
refused 'zeros,integers,decimals' bench --data ones
refused 'is not a whole number from 1 to' bench --repetitions 0
refused '--device all: bench times one device' bench --device all
refused '--graph needs the device cuda' bench --graph --device cpu
refused '--problem excludes --harness' bench --harness --problem in=1x1
refused '--property requires --harness' bench --property repeatable
expect 3 err "^gradverify: can't write /no/such/b.json" "${bench[@]}" --json /no/such/b.json

echo "== bench: the harness"
harness=(bench --harness --device cpu --property matches_reference)
expect 0 out '^relu, every pass, kernels without' "${harness[@]}" 'relu.*' 'fc.*/naive' \
    --jobs 1 --problems 1000000 --time 1s
expect 0 out '^ +processor time of a case: [0-9]+ us, and [0-9]+ in the other build: [0-9.]+ times$' \
    "${harness[@]}" relu.forward/naive --problems 9 --against "$exe"
holds "every problem is run" grep -q '(9 problems, 9 cases in ' out
timeout 3 "$exe" "${harness[@]}" relu.forward/naive --problems 1000000 >out || true
holds "a line comes before it is measured" grep -q '^relu, every pass, kernels without' out

echo "== bench: two runs"
# timed FILE KERNEL SECONDS...: a file of --json with one kernel
timed() {
    printf '{"kind":"run","version":"0","device_name":"GPU"}\n' >"$1"
    printf '{"kind":"bench","kernel":"%s","problem":"n=1","device":"cuda","data":"zeros",' \
        "$2" >>"$1"
    printf '"graph":false,"state":"timed","verified":true,"samples":[%s]}\n' \
        "$(IFS=,; echo "${*:3}")" >>"$1"
}
nine() { for i in 1 2 3 4 5 6 7 8 9; do echo "$1.00$i"; done; }
timed one.json a.b/c $(nine 1)
timed two.json a.b/c $(nine 2)
timed few.json a.b/c 1 2 3
timed other.json a.b/d $(nine 1)
expect 1 out 'then 2.0[01] s: 1.995 times as long \(.* to .*\), slower$' \
    bench --compare one.json two.json
expect 0 out 'then 1.0[01] s: 0.501 times as long \(.* to .*\), faster$' \
    bench --compare two.json one.json
expect 0 out '1.000 times as long .*, no difference$' bench --compare two.json two.json
expect 0 out 'undecided: 3 samples are too few, take at least 8$' bench --compare one.json few.json
holds "and counted" grep -q '^0 faster, 0 slower, 0 no difference, 1 undecided ' out
cat other.json two.json >both.json
expect 1 out '^      only in both.json$' bench --compare one.json both.json
expect 0 out '1.000 times as long' bench --compare b.json b.json 'conv.*'
refused 'no kernel was timed in both one.json and other.json' bench --compare one.json other.json
refused 'no kernel was timed in both' bench --compare b.json b.json 'relu.*'
refused '--compare: 2 required' bench --compare one.json

echo "== the machine"
expect 3 err "^gradverify: can't write /no/such/r.json" check "$kernel" --json /no/such/r.json
expect 3 err "^gradverify: can't write /no/such/r.xml" check "$kernel" --junit /no/such/r.xml
holds "which is noticed before the run" test ! -s out
expect 0 out 'device (cpu|cuda), ' check "$kernel" --cases 2 --device auto
if grep -q 'device cuda' out; then
    echo "a GPU answers: what is said without one is not tested"
    expect 0 out 'device cpu and cuda, ' check "$kernel" --cases 2 --device all
else
    expect 3 err '^gradverify: device cuda: ' check "$kernel" --device cuda
    expect 0 out 'device cpu, ' check "$kernel" --cases 2 --device all
    # Kernels that are compiled for a GPU and not linked are none of the device's.
    if ! "$exe" repro "${case/:cpu:/:cuda:}" 2>&1 | grep -q 'is not built for the device cuda'; then
        expect 3 err '^gradverify: device cuda: ' repro "${case/:cpu:/:cuda:}"
        expect 3 err '^gradverify: device cuda: ' repro "$case" --device cuda
        expect 3 err '^gradverify: device cuda: ' repro "$case" --device cuda --in-process
    fi
fi

echo "== repro"
passed="^passed: $kernel on cpu, matches_reference, in=3x2$"
expect 0 out "$passed" repro "$case"
expect 0 out "$passed" repro "$case" --in-process
expect 0 out "$passed" repro "${case/:cpu:/:cuda:}" --device cpu
# A bug that gave something for zero is mended so.
expect 0 out '^vacuous: .*every expected value is zero' repro "${case/seed=5/data=zeros}"
large=v1:conv.forward/naive:holds_when_large
expect 0 out "^passed: .* on cpu, holds_when_large" repro "$large:cpu:n=128,in=3x3:seed=1:copies=n*64"
refused 'block=33, but it declares no block sizes' repro "$case:block=33"
checks=$((checks + 1))
"$exe" list >/dev/full 2>err
[ $? -eq 3 ] || complain "a full standard output must end with exit code 3"
refused "it begins with 'garbage', but this gradverify reads v1:KERNEL" repro garbage
refused 'there is no kernel .*; did you mean conv.grad_bias/naive' repro "${case/naive/naiv}"
refused "no property 'equal' applies to .*; there are matches_reference" \
    repro "${case/matches_reference/equal}"
refused "there is no device 'tpu'; there are cpu, cuda" repro "${case/cpu/tpu}"
refused '--device tpu is unknown; there are cpu, cuda' repro "$case" --device tpu
refused 'needs stride = 1' repro "${case/in=3x2/in=3x3,stride=2}"
refused 'conv needs c multiple of groups' repro "${case/in=3x2/c=3,groups=2,in=3x3}"
refused 'dy\[6\] is outside of its 6 elements' repro "${case/seed=5/data=dy[6]=1}"
refused 'operator conv has no tensor q' repro "${case/seed=5/data=q[0]=1}"
refused 'CASE is required; .gradverify repro --help' repro

echo "== no worker outlives its driver"
children_of() {
    grep -lE "^PPid:[[:space:]]$1\$" /proc/[0-9]*/status 2>/dev/null | tr -dc '0-9\n'
}
is_alive() { grep -qE '^State:[[:space:]][^Z]' "/proc/$1/status" 2>/dev/null; }
# none_left SIGNAL ARGUMENTS...: starts a long run, ends its driver, and looks for its workers.
none_left() {
    local signal=$1 driver workers='' pid tries left
    shift
    "$exe" "$@" >out 2>err </dev/null &
    driver=$!
    for ((tries = 0; tries < 100; ++tries)); do
        workers=$(children_of $driver)
        [ -z "$workers" ] || break
        sleep 0.05
    done
    sleep 0.3
    is_alive $driver || { code=none; echo "the driver had ended by itself"; }
    kill -"$signal" $driver
    wait $driver 2>/dev/null
    [ -n "$workers" ] || return 1
    for ((tries = 0; tries < 100; ++tries)); do
        left=''
        for pid in $workers; do ! is_alive "$pid" || left+=" $pid"; done
        [ -n "$left" ] || return 0
        sleep 0.05
    done
    return 1
}
for signal in KILL TERM; do
    holds "check leaves no worker when it gets SIG$signal" \
        none_left $signal check "$kernel" --cases 1000000 --device cpu --jobs 2
done
holds "repro leaves no worker when it gets SIGKILL" none_left KILL repro \
    v1:conv.forward/naive:matches_reference:cpu:n=8,c=64,k=64,in=96x96,filter=5x5:seed=1

echo "== an interrupted check"
# interrupted SIGNAL CODE: a run that is ended so closes its results and says what it has passed.
interrupted() {
    local signal=$1 want=$2 driver
    # From a shell with job control: without it, background processes ignore SIGINT.
    set -m
    GRADVERIFY_SIGN_OF_LIFE=1s "$exe" check "$kernel" --cases 100000000 --seed 1 --device cpu \
        --jobs 2 --json i.json --junit i.xml >out 2>err </dev/null &
    driver=$!
    set +m
    sleep 3
    kill -"$signal" $driver
    wait $driver 2>/dev/null
    code=$?
    [ "$code" -eq "$want" ] && json_kinds i.json "${seven_verdicts[@]}" && xml_is_valid i.xml 7 &&
        [ "$(grep -c '"verdict":"passed".*"cut_short":true' i.json)" -ge 1 ] &&
        [ "$(grep -c '"verdict":"failed"' i.json)" -eq 0 ] &&
        grep -q '"kind":"progress".*"passed":[1-9]' i.json &&
        grep -qE "^[12] s: [0-9,]+ cases, 0 of 7 rows have all of theirs, none failed; longest" err &&
        [ "$(grep -c "$kernel" out)" -eq 0 ] &&
        tail -1 out | grep -qE '^interrupted after [3-9] s: [0-9,]+ cases of [1-7] rows? passed, none failed(, [1-6] rows? had no case yet)?; go on with --seed 1$'
}
holds "Ctrl-C ends a check in good order" interrupted INT 130
holds "SIGTERM ends a check in good order" interrupted TERM 143

echo "$checks checks, $failures failures"
[ "$failures" -eq 0 ]
