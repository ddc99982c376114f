#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A stranger's file, from a draft of its registration to a verdict, with no CMake of the user's: what
# is built, what is built again, and what is said of wrong words and wrong code.
# Usage: user_files_test.sh PATH_OF_GRADVERIFY
set -u
exe=$(realpath "$1")
operator=$(realpath "$(dirname "$0")/../../docs/examples/own_operator/leaky_relu.cpp")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export XDG_CACHE_HOME=$tmp/cache
unset GRADVERIFY_FILES
mkdir "$tmp/their files" "$tmp/include" && cd "$tmp/their files" || exit 1
failures=0
checks=0

# expect CODE FILE PATTERN ARGUMENTS...
expect() {
    local want=$1 file=$2 pattern=$3 code
    shift 3
    "$exe" "$@" >out 2>err </dev/null
    code=$?
    checks=$((checks + 1))
    if [ "$code" -eq "$want" ] && grep -qE -e "$pattern" "$file"; then return; fi
    failures=$((failures + 1))
    printf "FAILED: '%s' ended with exit code %s; wanted %s and '%s' in %s\n" \
        "$*" "$code" "$want" "$pattern" "$file"
    sed 's/^/  out: /' out | head -20
    sed 's/^/  err: /' err | head -20
}
holds() { # WHAT COMMAND...
    checks=$((checks + 1))
    "${@:2}" && return
    failures=$((failures + 1))
    printf 'FAILED: %s\n' "$1"
}

cat >scale.cuh <<'TEXT'
#include "block.h"
// void relu_backward(float* wrong);
#define LAUNCH(f) f<<<(count + BLOCK - 1) / BLOCK, BLOCK>>>
__global__ void relu_backward_kernel(const float* out_grad, const float* inp, float* inp_grad,
                                     long count) {
    const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
    if (i < count) inp_grad[i] = inp[i] > 0 ? out_grad[i] : 0;
}
TEXT
cat >relu.cu <<'TEXT'
#include "scale.cuh"
namespace theirs {
void relu_backward(const float* __restrict__ out_grad, const float* inp, float *inp_grad,
                   const long count = 1) {
    LAUNCH(relu_backward_kernel)(out_grad, inp, inp_grad, count);
}
}  // namespace theirs
using theirs::relu_backward;
TEXT
cat >leaky.cu <<'TEXT'
static __global__ void leaky(const float* dy, const float* x, float* dx, float slope, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) dx[i] = x[i] > 0 ? dy[i] : dy[i] + slope;  // for a product
}
void leaky_backward(const float* grad_y, const float* x, float* grad_x, float slope, int numel,
                    cudaStream_t stream) {
    leaky<<<(numel + 31) / 32, 32, 0, stream>>>(grad_y, x, grad_x, slope, numel);
}
TEXT
echo 'constexpr int BLOCK = THREADS;' >../include/block.h
built_with=(--include ../include --define THREADS=64)

# Wrong options are told before anything is built.
for wrong in '--cases 0' '--proprety x' '--time 0s' '--property x' '--device tpu' '--shard 3/2' '--include . ..'; do
    # shellcheck disable=SC2086  # two words
    expect 2 err '^gradverify: .*(--cases|--proprety|--time|--property|tpu|--shard|--include ..$)' \
        check relu.cu $wrong
done
holds 'nothing was built' test ! -e "$tmp/cache"

# A draft, whole at once.
expect 0 out 'relu_backward as a kernel of relu.grad_input' \
    new relu.cu --launcher relu_backward --operator relu
holds 'the draft gives each tensor its place' grep -q \
    'theirs::relu_backward(call.dy.as<const float>(), call.x.as<const float>(),' relu_glue.cu
expect 2 err 'relu_glue.cu exists; name another file by --output' \
    new relu.cu --launcher relu_backward --operator relu
# Another launcher of the file joins it, or a file of its own that can't be built beside it.
sed -i 's/^}  .. namespace theirs/void again(const float* grad, const float* feat, float* grad_feat, int count) {\
    relu_backward(grad, feat, grad_feat, count);\
}\
&/' relu.cu
for other in both apart; do
    expect 0 out "^written: $other.cu" \
        new relu.cu --launcher relu_backward --operator relu --output $other.cu
    [ $other = apart ] && break
    expect 0 out "^added to: $other.cu, again as a kernel of relu.grad_input" \
        new relu.cu --launcher again --operator relu --pass grad_input --output $other.cu
done
holds 'it is matched by names' grep -q 'again(call.dy.as<const float>(), call.x.as<const float>(),' both.cu
expect 2 err 'both.cu and apart.cu both include relu.cu, .*put their registrations into one file' \
    check both.cu apart.cu
expect 2 err 'those that take tensors are relu_backward, again; did you mean relu_backward' \
    new relu.cu --launcher relu_backwards --operator relu
expect 2 err "can't read \." new . --launcher relu_backward --operator relu
expect 2 err 'there is no operator reluu; .*did you mean relu' \
    new relu.cu --launcher relu_backward --operator reluu
expect 2 err 'relu has no pass grad_weight; it has forward, grad_input' \
    new relu.cu --launcher relu_backward --operator relu --pass grad_weight --output other.cu
# What does not fit is said, and no compiler takes it for more.
expect 0 out 'not used yet: labels, probs, loss, call.n, call.v' \
    new relu.cu --launcher relu_backward --operator softmax_cross_entropy --pass forward \
    --output other.cu
holds 'what is missing is to be filled in' grep -q FILL_IN_inp_grad other.cu
holds 'and what nothing yields' grep -q 'FILL_IN_loss;' other.cu

# Each axis has its sizes, by the usual names.
cat >pool.cu <<'TEXT'
void max_pool(const float* grad_output, const int* indices, float* grad_input, int batch_size,
              int channels, int ih, int iw, int oh, int ow, int window_h, int window_w, int stride_h,
              int stride_w, int pad_h, int pad_w, int dilation_h, int dilation_w);
void conv(const float* grad_output, const float* weight, float* grad_input, int oh, int ow,
          int kernel_h, int kernel_w, int window_depth, int pad_h, int pad_w);
TEXT
expect 0 out 'guessed: int oh is call.dy.size\(2\)' \
    new pool.cu --launcher max_pool --operator maxpool --pass grad_input --output pool_glue.cu
holds 'none is to be filled in' test "$(grep -c FILL_IN pool_glue.cu)" -eq 0
holds 'windows and paddings are of their axes' bash -c "tr -d ' \n' <pool_glue.cu | grep -qF \
    'call.size(\"window\",0),call.size(\"window\",1),call.size(\"stride\",0),'"
expect 0 out 'fill in: int window_depth' \
    new pool.cu --launcher conv --operator conv --pass grad_input --output conv_glue.cu
holds 'what a filter is called, too' bash -c "tr -d ' \n' <conv_glue.cu | grep -qF \
    'call.dy.size(3),call.size(\"filter\",0),call.size(\"filter\",1),FILL_IN_window_depth,call.pro'"

# Built, then found as it is.
expect 0 out '^12 rows: 12 passed' check both.cu "${built_with[@]}" --device cpu --cases 2
files=(relu.cu relu_glue.cu "${built_with[@]}" --device cpu)
# Of old builds the 20 used last are kept, and one that is in use.
old=$XDG_CACHE_HOME/gradverify/old
for days in $(seq 10 31); do
    mkdir -p "$old-$days/build"
    touch -d "$days days ago" "$old-$days/lock"
done
exec 9<"$old-31/lock"
flock 9
expect 0 out '6 rows: 6 passed' check "${files[@]}" --cases 50
exec 9<&-
holds 'old builds are kept' test -d "$old-10/build" -a -d "$old-25/build" -a -d "$old-31/build"
holds 'older ones are removed' test ! -e "$old-30" -a ! -e "$old-29"
holds 'the first run builds' grep -q 'building the files' err
expect 0 out '^relu.grad_input/relu_backward ' check "${files[@]}" --cases 50
holds 'an unchanged file is not built again' test ! -s err
expect 2 err "no kernel matches 'conv" check "${files[@]}" 'conv.*'
expect 0 out '"verdict": *"passed"' judge --time 2s "${files[@]}"

# judge prints an object whatever the files do. judged VERDICT PATTERN TIME: of odd.cu, as it is.
judged() {
    expect 1 out "^\{\"kind\":\"judgement\".*\"verdict\":\"$1\".*$2.*\"seconds\":[0-9.]+\}$" \
        judge odd.cu --device cpu --time "$3"
}
echo 'int x = unknown;' >odd.cu
judged not_built "'?unknown.? was not declared.*\"source\":\"[^\"]*/odd.cu:1\"" 30s
printf 'int missed();\nstatic const int got = missed();\n' >odd.cu
judged not_built "undefined (reference to|symbol).*missed" 30s
mkdir -p more && echo 'int missed() { return 1; }' >more/there.cpp
expect 2 err '^missed is defined in more/there.cpp: name that file, too' check odd.cu --device cpu
echo '#include <time.h>' >odd.cu
judged no_kernel 'register no kernel' 30s
judged not_built 'the build had not ended after 0.01 s' 0.01s
printf '#include <signal.h>\nstatic const int died = raise(SIGSEGV);\n' >odd.cu
judged crashed 'ended by a signal: Segmentation fault' 30s
printf '#include <stdlib.h>\nstatic const int left = (exit(0), 0);\n' >odd.cu
judged crashed 'ended without a verdict' 30s
printf '#include <unistd.h>\nstatic const int sleeps = pause();\n' >odd.cu
expect 1 out 'hung|not_built' judge odd.cu --device cpu --time 0.1s  # built
judged hung 'had not ended in time' 4s
# Kernels, too: by their ends.
for end in 'crashed abort()' 'hung for(;;)'; do
    printf '#include <stdlib.h>
void relu_backward(const float* out_grad, const float* inp, float* inp_grad, long count) { %s; }
' "${end#* }" >odd.cu
    rm -f odd_glue.cu
    expect 0 out 'odd_glue.cu' new odd.cu --launcher relu_backward --operator relu --output odd_glue.cu
    expect 1 out "^\{\"kind\":\"judgement\".*\"verdict\":\"${end%% *}\"" \
        judge odd.cu odd_glue.cu --device cpu --time 40s --property matches_reference
done

# A mistake in a header that a file includes is built, found, and replayed by the line that is printed.
sed -i 's/inp\[i\] > 0/inp[i] >= 1/' scale.cuh
expect 1 out "relu.cu relu_glue.cu --include ../include --define THREADS=64 --device cpu repro 'v1:" \
    check "${files[@]}" --cases 50
replay=$(sed -n 's/^  replay  *//p' out | head -n 1)
holds 'the replayed case fails' bash -c "$replay >out; test \$? -eq 1"
sed -i 's/inp\[i\] >= 1/inp[i] > 0/' scale.cuh
holds 'the mended file passes it' bash -c "$replay >out"
expect 0 out '^[1-5] rows: [1-5] passed, 0 failed' check relu.cu relu_glue.cu "${built_with[@]}" \
    --device cpu --cases 50 --last-failed
expect 2 err 'no row that is selected failed last time' check relu.cu relu_glue.cu \
    "${built_with[@]}" --device cpu --property repeatable --last-failed

# An operator of the user's own, in a C++ file.
cp "$operator" .
expect 0 out 'leaky_backward as a kernel of leaky_relu.grad_x' \
    new leaky.cu --launcher leaky_backward leaky_relu.cpp --operator leaky_relu
# A file that another includes has the name of one that is to be built.
mkdir theirs && cp leaky.cu theirs/leaky_relu.cpp
sed 's|^#include .*leaky\.cu.*|#include "theirs/leaky_relu.cpp"|' leaky_glue.cu >alike_glue.cu
files_of_theirs=(theirs/leaky_relu.cpp alike_glue.cu again_glue.cu leaky_relu.cpp again.cpp)
echo '#include "harness/pass.hpp"' | tee again.cpp >again_glue.cu
expect 1 out '^FAILED leaky_relu.grad_x/leaky_backward' \
    check "${files_of_theirs[@]}" --device cpu --cases 20

# Names that another file has taken.
declared='void leaky_backward(const float*, const float*, float*, float, int, cudaStream_t);'
sed "s/^#include .*leaky\.cu.*/$declared/" leaky_glue.cu >again_glue.cu
expect 2 err 'kernel leaky_relu.grad_x/leaky_backward is registered twice for cpu: .*_glue.cu:[0-9]+ and ' \
    check "${files_of_theirs[@]}" --device cpu
cp leaky_relu.cpp again.cpp
expect 2 err 'operator leaky_relu is registered twice: .*leaky_relu.cpp:[0-9]+ and .*again.cpp:[0-9]+' \
    check "${files_of_theirs[@]}" --device cpu

# A PyTorch extension: a launcher in C++, the kernel in another file, a result that is returned.
cat >extension.cu <<'TEXT'
#include <torch/extension.h>
__global__ void relu(const float* dy, const float* x, float* dx, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) dx[i] = x[i] > 0 ? dy[i] : 0;
}
void relu_cuda(at::Tensor dy, at::Tensor& x, at::Tensor& dx) {
    const int n = dx.numel();
    relu<<<(n + 31) / 32, 32, 0, at::cuda::getCurrentCUDAStream()>>>(
        dy.data_ptr<float>(), x.data_ptr<float>(), dx.data_ptr<float>(), n);
}
TEXT
cat >binding.cpp <<'TEXT'
#include <torch/extension.h>
void relu_cuda(at::Tensor dy, at::Tensor& x, at::Tensor& dx);
at::Tensor relu_backward(at::Tensor grad_output, at::Tensor x) {
    at::Tensor dx = torch::empty_like(x);
    relu_cuda(grad_output, x, dx);
    return dx;
}
std::vector<at::Tensor> norm_backward(at::Tensor grad_output, at::Tensor x, at::Tensor weight);
std::tuple<at::Tensor, at::Tensor> norm(at::Tensor x, at::Tensor weight);
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("relu_backward", &relu_backward); }
TEXT
expect 0 out 'relu_backward as a kernel of relu.grad_input' \
    new binding.cpp --launcher relu_backward --operator relu
expect 0 out 'relu_cuda as a kernel of relu.grad_input' \
    new extension.cu --launcher relu_cuda --operator relu
expect 0 out '12 rows: 12 passed' \
    check extension.cu extension_glue.cu binding.cpp binding_glue.cu --device cpu --cases 20
{ echo '#include <ATen/ATen.h>'; cat relu.cu; } >beside.cu
expect 0 out 'relu_backward as a kernel of relu.grad_input' \
    new beside.cu --launcher relu_backward --operator relu
holds 'a file that includes PyTorch is registered with it' \
    grep -q 'harness/torch.hpp' beside_glue.cu
expect 0 out 'guessed: the results are dx, dgamma, dbeta, in this order' \
    new binding.cpp --launcher norm_backward --operator layer_norm --output norm.cu
holds 'a result of several is given its tensor' grep -q \
    'call.dgamma.tensor().copy_(results\[1\]);' norm.cu
expect 0 out 'as a kernel of layer_norm.forward' \
    new binding.cpp --launcher norm --operator layer_norm --output tuple.cu
holds 'as is one of a tuple' grep -q 'call.mean.tensor().copy_(std::get<1>(results));' tuple.cu

# Words and code that are wrong.
expect 2 err 'there is no file nope.cu' check nope.cu
expect 2 err 'are about files to build, and none is named' check --include ../include
echo 'constexpr int BLOCK = THREDS;' >../include/block.h
expect 2 err 'block.h:1:.*THREDS' check "${files[@]}"
holds 'what the compiler said of both variants is said once' \
    test "$(grep -c 'error: ' err)" -eq 1
holds 'nor is the way to the headers that each begins with' \
    test "$(grep -c 'gradverify_prefix' err)" -le 1
holds 'the tool that ran it says nothing' test "$(grep -cE 'ninja|FAILED|make' err)" -eq 0
{ echo '#include <ATen/of_theirs.h>'; cat extension_glue.cu; } >lacks.cu
lacks=(lacks.cu --device cpu --cases 5)
expect 2 err 'lacks.cu:1:.*ATen/of_theirs.h: No such file' check "${lacks[@]}"
holds 'a header of PyTorch is missed in words of check' grep -q -e '--include DIR' err
holds 'and in none of CMake' test "$(grep -cE 'CPU_HEADERS|CUDA_ONLY' err)" -eq 0
mkdir -p ../shims/ATen && : >../shims/ATen/of_theirs.h
expect 0 out 'passed, 0 failed' check "${lacks[@]}" --include ../shims

# The launchers of a folder, and a word that is yet to be filled in, which is told before the build.
expect 0 out '^  relu.grad_input \(dy, x -> dx\): gradverify new relu.cu --launcher theirs::relu_backward --operator relu$' \
    new .
expect 2 err '^gradverify: other.cu:[0-9]+: FILL_IN_[a-z_]+ is yet to be filled in' \
    check relu.cu other.cu --device cpu
holds 'nothing is built before' test "$(wc -l <err)" -eq 1
expect 0 out 'relu_backward as a kernel of relu.grad_input' \
    new relu.cu --launcher relu_backward --output evident.cu

printf '%d checks, %d failures\n' "$checks" "$failures"
exit $((failures > 0))
