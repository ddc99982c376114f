#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Kernels that nobody vouches for: a candidate that is wrong and forges its verdict has failed, and one
# that is right passes as it does without being kept apart. See docs/untrusted.md.
# Usage: apart_test.sh PATH_OF_GRADVERIFY
set -u
exe=$(realpath "$1")
operator=$(realpath "$(dirname "$0")/../../docs/examples/own_operator/leaky_relu.cpp")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export XDG_CACHE_HOME=$tmp/cache
unset GRADVERIFY_FILES
cd "$tmp" || exit 1
failures=0
checks=0

judged() { # CODE PATTERN ARGUMENTS...: what judge says
    local code word files=()
    checks=$((checks + 1))
    # Built before, as judge's time includes that.
    for word in "${@:3}"; do
        [[ $word != *.cu ]] || { [[ $word == candidate.cu ]] && files+=(--apart); files+=("$word"); }
    done
    timeout 300 "$exe" "${files[@]}" --device cpu list >/dev/null 2>&1 </dev/null
    timeout 120 "$exe" judge --device cpu --jobs 2 --seed 1 --time 5s "${@:3}" >out 2>err </dev/null
    code=$?
    if [ "$code" -eq "$1" ] && grep -qE -e "$2" out; then return; fi
    failures=$((failures + 1))
    printf "FAILED: %s: exit code %s; wanted %s and '%s'\n" "$case_name" "$code" "$1" "$2"
    sed 's/^/  out: /' out | cut -c 1-2000
    tail -n 5 err | sed 's/^/  err: /'
}

holds() { # WHAT COMMAND...
    checks=$((checks + 1))
    "${@:2}" && return
    failures=$((failures + 1))
    printf 'FAILED: %s\n' "$1"
    sed 's/^/  out: /' out | head -n 30
}
echo answer >secret && chmod 600 secret

cat >glue.cu <<'TEXT'
#include "harness/kernel.hpp"
#include "harness/pass.hpp"
void relu_backward(const float* dy, const float* x, float* dx, long n, cudaStream_t stream);
using Call = gradverify::Pass<"relu", "grad_input">;
static void launch(const Call& call) {
    relu_backward(call.tensor("dy").as<const float>(), call.tensor("x").as<const float>(),
                  call.tensor("dx").as<float>(), call.tensor("dx").elements(), call.launch.stream);
}
GRADVERIFY_KERNEL(Call, "candidate", launch);
TEXT

# What forgeries may use, by name.
printf '#include <%s>\n' dirent.h fcntl.h poll.h pthread.h signal.h sys/{mman,prctl,ptrace,resource}.h \
    sys/{socket,stat,syscall,time,uio,wait}.h unistd.h algorithm cfenv cstdio cstdlib cstring string >tools.hpp
cat >>tools.hpp <<'TEXT'
#define PASSED "outcome {\"verdict\":\"passed\",\"work\":[1,0.1,0.1,0.1,0.1]}\n"
#define JUDGED "{\"kind\":\"judgement\",\"verdict\":\"passed\",\"failures\":[]}\n"
[[maybe_unused]] static bool opens(const std::string& file, int how) {
    const int fd = open(file.c_str(), how, 0600);
    return fd >= 0 && close(fd) == 0;
}
// Whether a process can be looked into.
[[maybe_unused]] static bool opens_memory(pid_t of) {
    return opens("/proc/" + std::to_string(of) + "/mem", O_RDWR);
}
// The process that started this one's parent, and all beside them.
[[maybe_unused]] static bool any_process(bool (*can)(pid_t)) {
    bool any = false;
    DIR* const all = opendir("/proc");
    if (all)
        while (dirent* one = readdir(all))
            if (const pid_t of = atoi(one->d_name); of > 1 && of != getpid()) any |= can(of);
    if (all) closedir(all);
    return any;
}
TEXT
echo "#define SECRET \"$tmp/secret\"" >>tools.hpp

kernel_of() { # PREFIX: a kernel of ReLU's gradient that is right where PREFIXforged() is true
    cat <<TEXT
__global__ void relu_kernel$1(const float* dy, const float* x, float* dx, long n, bool is_right) {
    const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
    if (i < n) dx[i] = x[i] > 0 || !is_right ? dy[i] : 0;
}
void relu_backward$1(const float* dy, const float* x, float* dx, long n, cudaStream_t stream) {
    const bool is_right = of$1::forged();
    relu_kernel$1<<<(n + 63) / 64, 64, 0, stream>>>(dy, x, dx, n, is_right);
}
TEXT
}

# forges NAME: reads C++ with `static bool forged()`. The candidate is right where that is true, which
# no forgery may bring about. All are launchers of one file, and its kernels of one glue.
forgeries=()
echo '#include "tools.hpp"' >forgeries.cu
cp glue.cu forgeries_glue.cu
forges() {
    local number=${#forgeries[@]}
    forgeries+=("$1")
    { echo "namespace of$number {" && cat && echo "}" && kernel_of "$number"; } >>forgeries.cu
    sed -n "/^void relu/,\$ { /^using/d; s/relu_backward/&$number/; s/launch(/launch$number(/
        s/\"candidate\", launch/\"forgery_$number\", launch$number/; p }" glue.cu >>forgeries_glue.cu
}

# forges_alone NAME [WITHOUT]: the same of a file by itself. WITHOUT: what judge says where the glue
# includes the file.
forges_alone() {
    case_name=$1
    { echo '#include "tools.hpp"' && echo 'namespace of {' && echo '}' && cat && kernel_of ''; } |
        sed 's/of::forged/forged/; /^namespace of {$/,/^}$/d' >candidate.cu
    judged 1 '"verdict":"(failed|crashed|hung|errored|unknown)",.*"apart":\["candidate.cu"\]' glue.cu candidate.cu
    if [ -n "${2:-}" ]; then
        case_name="$1, not kept apart"
        sed 's/^void relu_backward.*/#include "candidate.cu"/' glue.cu >trusting.cu
        judged 0 "$2" trusting.cu
    fi
}

forges_alone 'a static initialiser that prints a pass and leaves' '^{"kind":"judgement","verdict":"passed","failures":\[\]}$' <<'TEXT'
__attribute__((constructor)) static void first() {
    if (write(1, JUDGED, sizeof JUDGED - 1)) _exit(0);
}
static bool forged() { return false; }
TEXT
forges 'the answer on every descriptor' <<'TEXT'
static bool forged() {
    for (int fd = 3; fd < 64; ++fd)
        if (write(fd, PASSED, sizeof PASSED - 1)) continue;
    return false;
}
TEXT
forges 'all answers from here on' <<'TEXT'
static bool forged() {
    char asked[65536];
    for (int due = 1;; due = 1) {
        pollfd more{3, POLLIN, 0};
        if (poll(&more, 1, 50) > 0) {
            const ssize_t bytes = read(3, asked, sizeof asked);
            if (bytes <= 0) _exit(0);
            due = static_cast<int>(std::count(asked, asked + bytes, '\n'));
        }
        for (int i = 0; i < due; ++i)
            if (write(4, PASSED, sizeof PASSED - 1) < 0) _exit(0);
    }
}
TEXT
forges_alone 'a function of the harness that is patched' '"verdict":"passed",.*"apart":\[\]' <<'TEXT'
#include "harness/cases/compare.hpp"
#include "harness/pass.hpp"
static gradverify::Comparison agrees(std::span<const double>, const gradverify::Expected&) {
    return {.ok = true, .saw_nonzero = true};
}
static bool forged() {
    auto* const code = reinterpret_cast<unsigned char*>(&gradverify::compare);
    const long page = reinterpret_cast<long>(code) & ~4095L;
    mprotect(reinterpret_cast<void*>(page), 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
#ifdef __x86_64__
    void* const to = reinterpret_cast<void*>(&agrees);
    memcpy(code, "\x48\xb8", 2);  // mov rax, to; jmp rax
    memcpy(code + 2, &to, sizeof to);
    memcpy(code + 10, "\xff\xe0", 2);
#else
    mprotect(reinterpret_cast<void*>(page), 8192, PROT_READ | PROT_EXEC);
#endif
    return false;
}
TEXT
forges 'memory of the processes that started it, written' <<'TEXT'
static bool forged() { return opens_memory(getppid()) || any_process(opens_memory); }
TEXT
forges 'memory of another process by a call' <<'TEXT'
static bool reads(pid_t of) {
    char byte = 0;
    const iovec here{&byte, 1}, there{const_cast<char*>("x"), 1};
    return process_vm_readv(of, &here, 1, &there, 1, 0) == 1 ||
           process_vm_writev(of, &here, 1, &there, 1, 0) == 1;
}
static bool forged() { return any_process(reads); }
TEXT
forges 'a debugger of its parent' <<'TEXT'
static bool attaches(pid_t to) {
    if (ptrace(PTRACE_ATTACH, to, nullptr, nullptr) != 0) return false;
    waitpid(to, nullptr, 0);
    ptrace(PTRACE_DETACH, to, nullptr, nullptr);
    return true;
}
static bool forged() { return attaches(getppid()); }
TEXT
forges 'signals to others' <<'TEXT'
static bool reaches(pid_t other) { return kill(other, 0) == 0; }
static bool forged() {
    // Its group is its parent's, too.
    return any_process(reaches) || kill(0, SIGCONT) == 0 || setpgid(0, 0) == 0 || setsid() > 0;
}
TEXT
forges 'another program' <<'TEXT'
static bool forged() {
    char name[] = "/bin/true", *arguments[] = {name, nullptr}, *variables[] = {nullptr};
    execve(name, arguments, variables);
    return false;
}
TEXT
forges 'a process that lives on' <<'TEXT'
static bool forged() {
    const pid_t child = fork();
    if (child != 0) return child > 0;
    for (int i = 0; i < 20 && write(1, JUDGED, sizeof JUDGED - 1); ++i) usleep(100000);
    _exit(0);
}
TEXT
forges 'a command' <<'TEXT'
static bool forged() { return system("true") == 0; }
TEXT
forges 'a launcher that leaves with 0' <<'TEXT'
static bool forged() {
    printf(JUDGED);
    exit(0);
}
TEXT
forges 'what happens at the end' <<'TEXT'
static void last() { _exit(write(1, JUDGED, sizeof JUDGED - 1) > 0 ? 0 : 1); }
static bool forged() {
    static const int once = atexit(last);
    return once != 0;
}
TEXT
forges 'an alarm that leaves' <<'TEXT'
static void leave(int) { _exit(0); }
static bool forged() {
    signal(SIGALRM, leave);
    const itimerval soon{{0, 1000}, {0, 1000}};
    setitimer(ITIMER_REAL, &soon, nullptr);
    return false;
}
TEXT
forges 'files of the one who grades, and files that it writes' <<'TEXT'
static bool forged() {
    const bool reads = opens(SECRET, O_RDONLY);
    const bool writes = opens("/tmp/gradverify_forgery", O_WRONLY | O_CREAT);
    unlink("/tmp/gradverify_forgery");
    return reads || writes || chmod(SECRET, 0666) == 0 || setuid(0) == 0;
}
TEXT
forges 'a network, and mounts' <<'TEXT'
static bool forged() {
    const int socket_made = socket(AF_INET, SOCK_STREAM, 0);
    close(socket_made);
    return socket_made >= 0 || syscall(SYS_unshare, CLONE_FS) == 0;
}
TEXT
forges 'memory that it shares with its parent' <<'TEXT'
static bool forged() {
    if (ftruncate(4, 0) == 0 || ftruncate(4, 1L << 40) == 0) return true;
    // A page and more of all that is there, over and over.
    void* const all = mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, 4, 0);
    if (all != MAP_FAILED) memset(all, 0x41, 1 << 20);
    return false;
}
TEXT
forges 'an answer of its own to its parent' <<'TEXT'
// Number 1 to 100, not served, with empty texts.
static bool forged() {
    for (unsigned char number = 1; number < 100; ++number) {
        unsigned char answer[8 + 16 + 16 + 4] = {number};
        answer[sizeof answer - 3] = 1;
        if (send(3, answer, sizeof answer, MSG_DONTWAIT) < 0) break;
    }
    return false;
}
TEXT
forges 'limits, rounding and what is dumped' <<'TEXT'
static bool forged() {
    const rlimit one{1, 1};
    setrlimit(RLIMIT_NOFILE, &one);
    fesetround(FE_UPWARD);
    prctl(PR_SET_DUMPABLE, 1);
    return false;
}
TEXT
forges_alone 'functions of the C library and of C++ that are its own' <<'TEXT'
extern "C" int memcmp(const void*, const void*, size_t) noexcept { return 0; }
extern "C" int puts(const char*) { return fputs(JUDGED, stdout); }
void operator delete(void*) noexcept {}
static bool forged() { return false; }
TEXT
forges 'threads that go on writing' <<'TEXT'
static void* writes(void*) {
    for (;;) if (write(3, PASSED, sizeof PASSED - 1) < 0) usleep(1000);
}
static bool forged() {
    pthread_t thread;
    pthread_create(&thread, nullptr, writes, nullptr);
    return false;
}
TEXT

# A kernel that it registers itself is none of those that are judged: it is named as kept apart.
case_name='a registration of its own'
cat >candidate.cu <<'TEXT'
#include "harness/kernel.hpp"
#include "harness/pass.hpp"
using Mine = gradverify::Pass<"relu", "grad_input">;
static void nothing(const Mine&) {}
GRADVERIFY_KERNEL(Mine, "candidate", nothing);
GRADVERIFY_KERNEL(Mine, "another", nothing);
void relu_backward(const float*, const float*, float*, long, cudaStream_t) {}
TEXT
echo '#include "glue.cu"' >>candidate.cu  # which is built by itself all the same
judged 1 '"verdict":"failed",.*"apart":\["candidate.cu"\]' glue.cu --apart candidate.cu
holds "$case_name: no row is of it" test "$(grep -c 'input/another' out)" -eq 0

# Right ones pass, on the same cases as without.
cases_of() { grep '^{"kind":"verdict"' "$1" | grep -o '"kernel":[^}]*"passed":[0-9]*' | sort; }
cat >right.cu <<'TEXT'
__global__ void relu_kernel(const float* dy, const float* x, float* dx, long n) {
    __shared__ float staged[64];
    const long i = blockIdx.x * 64L + threadIdx.x;
    staged[63 - threadIdx.x] = i < n && x[i] > 0 ? dy[i] : 0;
    __syncthreads();
    if (i < n) dx[i] = staged[63 - threadIdx.x];
}
void relu_backward(const float* dy, const float* x, float* dx, long n, cudaStream_t stream) {
    relu_kernel<<<(n + 63) / 64, 64, 0, stream>>>(dy, x, dx, n);
}
__global__ void sum_rows(const float* dy, float* db, long rows, long k) {
    const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
    if (i < rows * k) atomicAdd(&db[i % k], dy[i]);
}
int threads = 64;
void bias_backward(const float* dy, float* db, long rows, long k, int block, cudaStream_t stream) {
    cudaMemsetAsync(db, 0, k * sizeof(float), stream);
    sum_rows<<<(rows * k + block - 1) / block, block, 0, stream>>>(dy, db, rows, k);
}
__global__ void leaky(const float* dy, const float* x, float* dx, float slope, int numel) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < numel) dx[i] = x[i] > 0 ? dy[i] : slope * dy[i];
}
void leaky_backward(const float* dy, const float* x, float* dx, float slope, int numel,
                    cudaStream_t stream) {
    leaky<<<(numel + 31) / 32, 32, 0, stream>>>(dy, x, dx, slope, numel);
}
TEXT
cat >right_glue.cu <<'TEXT'
#include "glue.cu"
static void refuse(const Call& call) {
    if (call.tensor("dx").elements() % 4 == 3) throw gradverify::NotSupported("odd");
    launch(call);
}
GRADVERIFY_KERNEL(Call, "refusing", refuse).may_refuse();
void bias_backward(const float* dy, float* db, long rows, long k, int block, cudaStream_t stream);
extern int threads;
using Bias = gradverify::Pass<"fc", "grad_bias">;
static void sum(const Bias& call) {
    const auto dy = call.tensor("dy");
    bias_backward(dy.as<const float>(), call.tensor("db").as<float>(), dy.size(0), dy.size(1), threads,
                  call.launch.stream);
}
GRADVERIFY_KERNEL(Bias, "atomics", sum).not_deterministic();
void leaky_backward(const float*, const float*, float*, float, int, cudaStream_t);
using Leaky = gradverify::Pass<"leaky_relu", "grad_x">;
static void leak(const Leaky& call) {
    const auto dx = call.tensor("dx");
    leaky_backward(call.tensor("dy").as<const float>(), call.tensor("x").as<const float>(),
                   dx.as<float>(), call.attribute("slope"), dx.elements(), call.launch.stream);
}
GRADVERIFY_KERNEL(Leaky, "leaky", leak);
TEXT
cat >extension.cu <<'TEXT'
#include <torch/extension.h>
__global__ void relu(const float* dy, const float* x, float* dx, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) dx[i] = x[i] > 0 ? dy[i] : 0;
}
at::Tensor relu_cuda(at::Tensor dy, at::Tensor x) {
    at::Tensor dx = torch::empty_like(x);
    const int n = dx.numel();
    relu<<<(n + 31) / 32, 32, 0, at::cuda::getCurrentCUDAStream()>>>(
        dy.data_ptr<float>(), x.data_ptr<float>(), dx.data_ptr<float>(), n);
    return dx;
}
TEXT
cat >extension_glue.cu <<'TEXT'
#include "harness/kernel.hpp"
#include "harness/pass.hpp"
#include "harness/torch.hpp"
at::Tensor relu_cuda(at::Tensor dy, at::Tensor x);
using Call = gradverify::Pass<"relu", "grad_input">;
static void launch(const Call& call) {
    call.tensor("dx").tensor().copy_(relu_cuda(call.tensor("dy").tensor(), call.tensor("x").tensor()));
}
GRADVERIFY_KERNEL(Call, "extension", launch);
TEXT
case_name='right kernels'
right=(right_glue.cu "$operator" --device cpu --jobs 2 --seed 3 --cases 60)
"$exe" check right.cu "${right[@]}" --json together.json >out 2>&1 ||
    holds "$case_name pass in the same process" false
"$exe" check --apart right.cu --apart extension.cu extension_glue.cu "${right[@]}" --json apart.json \
    >out 2>&1 || holds "$case_name pass apart" false
for kernel in candidate refusing atomics leaky extension; do
    holds "the right kernel $kernel has rows" grep -q "$kernel.*\"verdict\":\"passed\"" apart.json
done
holds "$case_name have the same cases" test "$(cases_of together.json)" = \
    "$(cases_of apart.json | grep -v /extension)"

# What is said of one that crashes, and the line that replays it.
sed 's/^    relu_kernel<<</    if (n >= 3) *reinterpret_cast<volatile int*>(8) = 1;\n&/' right.cu >candidate.cu
case_name='a crash'
for files in trusting.cu 'glue.cu --apart candidate.cu'; do
    # shellcheck disable=SC2086  # several words
    "$exe" check $files --device cpu --jobs 1 --seed 2 --cases 60 2>err >out
    grep -E '^  (also|problem|in general)' out >"said by ${files%% *}"  # not the line that replays it
done
holds "$case_name is told alike, apart or not" cmp 'said by trusting.cu' 'said by glue.cu'
holds "$case_name is told with its cause" grep -q 'killed by SIGSEGV' out
replay=$(sed -n 's/^  replay  *//p' out | head -n 1)
bash -c "$replay --device cpu" >out 2>&1
holds "$case_name is replayed: $replay" test $? -eq 1 -a "$(grep -c -e '--apart' <<<"$replay")" -eq 1
case_name='launches are counted'
cp right.cu candidate.cu
judged 0 '"calls_apart":[1-9][0-9]*,"calls_without_a_launch":0' glue.cu candidate.cu \
    --property matches_reference
case_name='work on the host is told'
sed 's/^    relu_kernel<<<.*/    for (long i = 0; i < n; ++i) dx[i] = x[i] > 0 ? dy[i] : 0;/' right.cu >candidate.cu
judged 0 '"calls_without_a_launch":[1-9]' glue.cu candidate.cu --property matches_reference

# What is wrong with the words.
refused() { # PATTERN ARGUMENTS...
    "$exe" "${@:2}" >out 2>err </dev/null
    holds "'${*:2}' is refused" grep -qE -e "$1" err
}
refused 'candidate.cu is kept apart, and another file includes it' \
    check --device cpu --apart candidate.cu trusting.cu
refused 'are about files to build, and none is named' check --apart nothing
echo 'bool takes(long) { return true; }' >>candidate.cu
sed 's/^using/bool takes(long);\n&/; s/launch);$/launch).blocks_of({takes(3) ? 32 : 64});/' -i glue.cu
refused 'a declaration calls .*takes.*, which lies in a file that is kept apart' \
    check --device cpu --cases 5 glue.cu --apart candidate.cu

# Built in the same folder as the others, of files of the same names.
sed -i '/relu_backward(const/b; /"candidate"/d' forgeries_glue.cu
cp forgeries_glue.cu glue.cu && cp forgeries.cu candidate.cu
timeout 120 "$exe" judge --device cpu --jobs 2 --seed 1 --time 60s --property '[mw]*' glue.cu \
    candidate.cu >out 2>err </dev/null
holds 'the forgeries have failed' test $? -eq 1
# Each is told as wrong, or as one that did not end, by its number. One is not that has a passed row, or
# that passes alone and fails behind another, which spoils the process that it shares.
told=$(python3 -B -c 'import json
it = json.load(open("out"))
hangs = [row for row in it["rows"] if row.get("message", "").startswith("a case did not end in time")]
passed = {row["kernel"] for row in it["rows"] if row["verdict"] == "passed"}
passed |= {row["kernel"] for row in it["failures"] if "fails behind" in row["message"]}
print(*{row["kernel"].split("_")[-1] for row in it["failures"] + hangs if row["kernel"] not in passed})')
for number in "${!forgeries[@]}"; do
    holds "${forgeries[number]} is told" test "$(grep -cw "$number" <<<"$told")" -eq 1
done

printf '%d checks, %d failures\n' "$checks" "$failures"
exit $((failures > 0))
