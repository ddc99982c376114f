// SPDX-License-Identifier: Apache-2.0
// Golden tests of the rewriter: what each construct becomes, and that all else stays.
#include "harness/simt/rewrite/rewrite.hpp"

#include <doctest/doctest.h>

#include <sstream>

#include "harness/simt/tests/device_run.hpp"

using gradverify::simt::rewrite::merge_device_text;
using gradverify::simt::rewrite::RewriteError;
using simt_test::check_contains;

namespace {

const std::string unit = "::gradverify::simt::unit::";

/// Without the first statements of the host's functions, which have a test of their own.
std::string rewrite(std::string_view text) {
    std::string result = gradverify::simt::rewrite::rewrite(text);
    for (std::size_t at; (at = result.find(" " + unit + "of_host(")) != std::string::npos;)
        result.erase(at, result.find(");", at) + 2 - at);
    return result;
}

std::string captured(int number, const std::string& argument) {
    return ", gradverify_argument_0_" + std::to_string(number) + " = " + unit + "argument((" +
           argument + "))";
}
std::string given(int number) {
    return unit + "give(gradverify_argument_0_" + std::to_string(number) + ")";
}

std::string launch(const std::string& kernel, const std::string& config,
                   const std::string& captures, const std::string& call) {
    return unit + "launch(\"" + kernel + "\", " + unit + "LaunchConfig(" + config + "), [&" +
           captures + "] { " + call + "; })";
}

}  // namespace

TEST_CASE("a launch becomes a call of the launcher with a lambda that calls the kernel") {
    CHECK(rewrite("{ k<<<1, 32>>>(p); }") ==
          "{ " + launch("k", "1, 32", captured(0, "p"), "k(" + given(0) + ")") + "; }");
    for (const char* spaced :
         {"k << <1, 32 >> >(p);", "k << < 1, 32 >>> (p);", "k<<<1, 32>> >(p);"}) {
        const std::string result = rewrite(spaced);
        CAPTURE(result);
        CHECK(result.starts_with(unit + "launch(\"k\", " + unit + "LaunchConfig("));
        CHECK(result.ends_with("k(" + given(0) + "); });"));
    }
    CHECK(rewrite("f<A<B>, 3><<<g, b, 0, s>>>();") ==
          launch("f<A<B>,3>", "g, b, 0, s", "", "f<A<B>, 3>()") + ";");
}

TEST_CASE("literals, NULL, braces and packs stay in the call, where they convert") {
    CHECK(rewrite("k<<<1, 1>>>(0, __null, nullptr);") ==
          launch("k", "1, 1", "", "k(0, __null, nullptr)") + ";");
    CHECK(rewrite("k<<<1, 1>>>({1, 2}, f<T>(a)...);") ==
          launch("k", "1, 1",
                 ", ...gradverify_argument_0_0 = " + unit +
                     "argument((f<T>(a))), gradverify_in_call = " + unit + "InCall()",
                 "k({1, 2}, " + unit + "give(gradverify_argument_0_0)...)") +
              ";");
}

TEST_CASE("commas within calls and template arguments do not split arguments") {
    const std::string call = "k(" + given(0) + ", " + given(1) + ")";
    CHECK(rewrite("k<<<1, 1>>>(f<int, 3>(a, b), c < d);") ==
          launch("k", "1, 1", captured(0, "f<int, 3>(a, b)") + captured(1, "c < d"), call) + ";");
}

TEST_CASE("the kernel may be qualified, a member, a pointer, an element or a call") {
    for (const std::string kernel : {"n::k", "::k", "n::S<T>::template k<3>", "(*p)", "table[i]",
                                     "s.p", "s->p", "pick(i)", "(c ? a : b)", "pick<T>(1)"}) {
        const std::string result = rewrite("if (x) " + kernel + "<<<1, 1>>>();");
        // Where an expression picks it, the threads call the host's functions.
        const bool is_picked = kernel.ends_with(")") || kernel.ends_with("]");
        check_contains(result, {(is_picked ? "InCall()] { " : "[&] { ") + kernel + "(); })"});
        CHECK(result.starts_with("if (x) ::gradverify"));
    }
    CHECK(rewrite("return ::k<<<1, 1>>>();").starts_with("return ::gradverify"));
    CHECK(rewrite("else k<<<1, 1>>>();").starts_with("else ::gradverify"));
}

TEST_CASE("a cast to void* is taken off the kernel of a launch by call, and no other") {
    CHECK(rewrite("cudaLaunchKernel((void*)k<T>, g, b, a);") == "cudaLaunchKernel(k<T>, g, b, a);");
    CHECK(rewrite("cudaLaunchKernel(reinterpret_cast<const void*>(&k), g);") ==
          "cudaLaunchKernel((&k), g);");
    CHECK(rewrite("cudaLaunchCooperativeKernel((void const *)(k), g);") ==
          "cudaLaunchCooperativeKernel((k), g);");
    for (const char* text : {"f((void*)k);", "cudaLaunchKernel(k, (void*)g);",
                             "cudaLaunchKernel((int*)k, g);", "auto* p = &cudaLaunchKernel;"}) {
        CHECK(rewrite(text) == text);
    }
}

namespace {

/// What the merged texts are without line markers, marks and runs of spaces.
std::string merged(const std::string& host, const std::string& device) {
    std::stringstream lines(rewrite(merge_device_text(host, device)));
    std::string line, word, joined;
    while (std::getline(lines, line)) {
        if (line.starts_with("# ")) continue;
        for (std::stringstream words(line); words >> word;)
            joined += joined.empty() ? word : " " + word;
    }
    return joined;
}
std::string both(const std::string& device, const std::string& host) {
    return "{ if (" + unit + "on_device_thread()) { " + device + "} else { " + host + "} }";
}

}  // namespace

TEST_CASE("a device's function has the body of the device's text, a host's that of the host's") {
    CHECK(merged("__device__ int f() { h; }", "__device__ int f() { d; }") == "int f() { d; }");
    CHECK(merged("__global__ void f() { h; }", "__global__ void f() { d; }") == "void f() { d; }");
    CHECK(merged("int f() { h; }", "int f() { d; }") == "int f() { h; }");
    CHECK(merged("int f() { h; }", "__device__ int f() { d; }") == "int f() " + both("d;", "h;"));
    CHECK(merged("__host__ __device__ int f() { h; }", "__host__ __device__ int f() { d; }") ==
          "int f() " + both("d;", "h;"));
}

TEST_CASE("declarations are matched by name in namespaces and classes, across what only one has") {
    const std::string head = "namespace n { int a; template <class T> struct S : B<T> { ";
    const std::string hd = "__host__ __device__ ";
    CHECK(merged(head + hd + "S() : x{1} { h; } int host; }; }",
                 head + hd + "S() : x{1} { d; } void only(); }; }") ==
          head + "S() : x{1} " + both("d;", "h;") + " int host; void only(); }; }");
    CHECK(merged("int x = 1; using T = A; enum E { a }; int z;",
                 "int x = 2; using T = B; enum E { b }; int y;") ==
          "int x = 2; using T = B; enum E { b }; int z; int y;");
    // An overload is another function, and a parameter's name is none of its.
    CHECK(merged("__device__ int f(int) { h; } int f(float x) { g; }",
                 "__device__ int f(int x) { d; } int f(float x) { g; }") ==
          "int f(int x) { d; } int f(float x) { g; }");
    CHECK(merged("int f(int) { h; }", "__device__ int f(int x) { d; }") ==
          "int f(int x) " + both("d;", "h;"));
    // What only the other side compiles is not compiled at all.
    CHECK(merged("__device__ int f(A) { h; }", "__device__ int g(B) { d; }") == "int g(B) { d; }");
    CHECK(merged("bool operator==(S a) { h; }", "bool operator==(S a) { d; } int y;") ==
          "bool operator==(S a) { h; } int y;");
}

TEST_CASE("scopes that are nested without end do not take the stack") {
    const auto nested = [](int depth, const std::string& inner) {
        std::string text;
        for (int i = 0; i < depth; ++i) text += "namespace n { ";
        return text + inner + std::string(static_cast<std::size_t>(depth), '}');
    };
    CHECK_NOTHROW(merge_device_text(nested(200, "int x;"), nested(200, "int y;")));
    CHECK_THROWS_WITH_AS(merge_device_text(nested(1000, "int x;"), nested(1000, "int y;")),
                         "<input>:1: error: more than 256 scopes are nested", RewriteError);
}

TEST_CASE("a lambda in a host function is device code where it is marked") {
    CHECK(merged("void f() { h; g([=] __device__(int i) { h; }, [] { h; }); }",
                 "void f() { d; g([=] __device__(int i) { d; }, [] { d; }); }") ==
          "void f() { h; g([=] (int i) { d; }, [] { h; }); }");
}

TEST_CASE("merged texts keep their lines and the host's pragmas") {
    const std::string begin = "# 1 \"u.cu\"\n#pragma once\n";
    CHECK(rewrite(merge_device_text(begin + "__device__ void f() {\n\n\nh;\n}\nint x;\n",
                                    begin + "__device__ void f() {\n\nd;\n\n}\nint x;\n")) ==
          begin + "\n# 2 \"u.cu\"\n  void f() {\n\nd;\n\n}\n\n# 7 \"u.cu\"\nint x;\n");
}

TEST_CASE("shifts, nested templates and operators are no launches") {
    for (const char* text : {"a << b; c >> d;", "A<B<C<int>>> x;", "x = operator<<<T>(a, b);",
                             "R\"(k<<<1, 1>>>();)\"", "\"<<<\" '<' \">>>\"", "1'000'000"}) {
        CHECK(rewrite(text) == text);
    }
}

TEST_CASE("a shared variable becomes a typedef and a reference to its place") {
    CHECK(rewrite("void f() { __shared__ float a[8]; }") ==
          "void f() { typedef float gradverify_type_0_a [ 8 ]; struct gradverify_tag_0_a {}; "
          "[[maybe_unused]] gradverify_type_0_a& a = " +
              unit + "shared<gradverify_type_0_a, gradverify_tag_0_a>(); }");
    const std::string several = rewrite(
        "void f() { static __shared__ __attribute__((aligned(16))) A<int, 3> x, (*q)[3]; }");
    check_contains(several,
                   {"typedef A < int , 3 > gradverify_type_0_x , ( * gradverify_type_0_q ) [ 3 ];",
                    "struct __attribute__((aligned(16))) gradverify_tag_0_x {};",
                    "gradverify_type_0_q& q = "});
    CHECK(several.find("static") == std::string::npos);
    check_contains(rewrite("void f() { __shared__ float a[n + (n >> 5) + (m <= 3 && n == 4)]; }"),
                   {"a [ n + ( n >> 5 ) + ( m <= 3 && n == 4 ) ];"});
}

TEST_CASE("a directive begins its line, also where a macro had it indented") {
    CHECK(rewrite("{\n  #pragma unroll\n  for (;;) x; }") == "{\n#pragma unroll\n  for (;;) x; }");
    CHECK(rewrite("  # 1 \"a\"\n") == "# 1 \"a\"\n");
}

TEST_CASE("a declarator that is nested without end does not take the stack") {
    const int depth = 200'000;
    std::string text = "void f() { __shared__ int ";
    for (int i = 0; i < depth; ++i) text += "(*";
    text += "q" + std::string(depth, ')') + "; }";
    check_contains(rewrite(text), {"* gradverify_type_0_q )"});
}

TEST_CASE("a dynamic shared array becomes a reference to the launch's memory") {
    CHECK(rewrite("void f() { extern __shared__ float s[]; }") ==
          "void f() { typedef float gradverify_type_0_s [ ]; [[maybe_unused]] "
          "gradverify_type_0_s& s = " +
              unit + "dynamic_shared<gradverify_type_0_s>(); }");
    check_contains(rewrite("namespace n { extern __shared__ char s[]; }"),
                   {"DynamicShared<gradverify_type_0_s> s{};"});
}

TEST_CASE("inline PTX becomes C++, while labels, empty and system asm stay") {
    check_contains(
        rewrite("{ asm volatile(\"{ .reg .pred p; setp.lt.s32 p, %1, -5; \"\n \"@!p add.u32 %0, "
                "%%tid.x, "
                "%2; }\" : \"=r\"(x[i ++]) : \"r\"(a + b), \"n\"(3)); }"),
        {"do { namespace gvp = ::gradverify::simt::ptx; auto& gradverify_place_0_0 = x[i ++];",
         "std::uint32_t gradverify_operand_0_1 = gvp::get<std::uint32_t>((a + b));",
         "[[maybe_unused]] bool gradverify_0_0",
         "gradverify_0_0 = gvp::setp_<gvp::s32, gvp::m_lt>(gradverify_operand_0_1, ",
         "if (!gradverify_0_0) { gradverify_operand_0_0 = gvp::add_<gvp::u32, 0>("
         "gvp::register_tid_x(), gvp::Integer{static_cast<std::uint64_t>(3)}); }",
         "gvp::put(gradverify_place_0_0, gradverify_operand_0_0); } while (false)"});
    check_contains(rewrite("{ asm(\"wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%0, %1}, "
                           "{%2, %2, %2, %2}, %3, 1, 1, -1, 1;\" : \"+r\"(x[0]), \"+r\"(x[1]) : "
                           "\"r\"(a), \"l\"(b)); }"),
                   {"auto& gradverify_place_0_0 = x[0];", "gvp::place_of_register(",
                    "gvp::place_if_lvalue<decltype(a)>(gradverify_place_0_2)",
                    "gvp::wgmma({8, 16, gvp::MatrixElement::f16, gvp::MatrixElement::f16, "
                    "gvp::MatrixElement::f16, false, true, "});
    for (const char* text : {"{ asm volatile(\"\" ::: \"memory\"); }", "void f() __asm__(\"g\");",
                             "{ asm volatile(\"\" : \"=m\"(x) : \"r\"(y)); }",
                             "{ asm volatile(\"rdtsc\" : \"=a\"(low), \"=d\"(high)); }",
                             "{ asm volatile(\"1: lock; xaddl %0, %1\" : \"+r\"(x)); }",
                             "# 1 \"/usr/include/x.h\" 1 3\n{ asm volatile(\"pause;\"); }"}) {
        CHECK(rewrite(text) == text);
    }
    check_contains(rewrite("# 1 \"/usr/include/x.h\" 1 3\n{ asm(\"/* a */ L: mov.u32 %0, 5;\" "
                           ": \"=r\"(x)); }"),
                   {"gvp::"});
    // A barrier for the compiler, with a register that the host has not.
    const std::string barrier = rewrite("{ asm volatile(\"\" : \"+f\"(x) :: \"memory\"); }");
    CHECK(barrier.find("asm") == std::string::npos);
}

TEST_CASE("operands of inline PTX are listed in each way that C++ allows") {
    const std::string plain = rewrite("{ asm(\"mov.u32 %0, %%smid;\" : \"=r\"(x)); }");
    for (const char* rest : {": : \"memory\"", ":: \"memory\"", "::", ": :", ":"})
        CHECK(rewrite(std::string("{ asm(\"mov.u32 %0, %%smid;\" : \"=r\"(x) ") + rest + "); }") ==
              plain);
    const std::string wait = rewrite("{ asm(\"bar.sync 1;\"); }");
    for (const char* lists : {"::: \"memory\"", ":: : \"memory\"", ": : :", "::", ": ::"})
        CHECK(rewrite(std::string("{ asm(\"bar.sync 1;\" ") + lists + "); }") == wait);
}

TEST_CASE("inline PTX that the cpu device lacks becomes a trap that names the instruction") {
    for (const auto& [text, instruction] : std::vector<std::pair<std::string, std::string>>{
             {"wgmma.mma_async.sp.sync.aligned.m64n8k32.f16.f16.f16 {%0}, 1, 2, 3, 0, 1;",
              "wgmma.mma_async.sp.sync.aligned.m64n8k32.f16.f16.f16"},
             {"wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8 {%0}, 1, 2, 1;",
              "wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8"},
             {"mov.u32 %0, %%pm0;", "mov.u32 %0, %pm0"},
             {"add.u32 %0, nowhere, 1;", "add.u32 %0, nowhere, 1"},
             {"add.s8 %0, %0, %0;", "add.s8"},
             {"add.u32 %0, %0;", "add.u32"},
             {"add.u32 %1, %0, 1;", "add.u32 %1, %0, 1"}}) {
        CHECK(rewrite("{ asm(\"" + text + "\" : \"+r\"(x)); }") ==
              "{ " + unit + "inline_ptx(\"" + instruction + "\"); }");
    }
    CHECK_THROWS_AS(rewrite("{ asm(\"tcgen05.fence::before_thread_sync;\"); }"), RewriteError);
}

TEST_CASE(
    "a kernel's clusters are its first statement, or its launches' where it is only declared") {
    const std::string unit = "::gradverify::simt::unit::";
    CHECK(rewrite("void __cluster_dims__(2, 1) k(int a) { f(a); } void g() { k<<<1, 2>>>(3); }") ==
          "void  k(int a) { " + unit + "needs_clusters(dim3(2,1));  f(a); } void g() { " + unit +
              "launch(\"k\", " + unit + "LaunchConfig(1, 2), [&] { k(3); }); }");
    check_contains(rewrite("void __cluster_dims__(2) k(int a); void g() { k<<<1, 2>>>(3); }"),
                   {"in_clusters(" + unit + "LaunchConfig(1, 2), dim3(2))"});
}

TEST_CASE("an instruction that no device has is an error of the build, wherever it stands") {
    for (const auto& [text, opcode] : std::vector<std::pair<std::string, std::string>>{
             {"mvo.u32 %0, 1;", "mvo.u32"},
             {"add.u23 %0, %0, 1;", "add.u23"},
             {"cvt.rn.f16.f23 %0, %0;", "cvt.rn.f16.f23"},
             {"{ .reg .pred p; setp.ne.u32 p, %0, 0; @p brar.sync 0; }", "brar.sync"}}) {
        std::string error;
        try {
            rewrite("{ asm volatile(\"" + text + "\" : \"+r\"(x)); }");
        } catch (const RewriteError& thrown) {
            error = thrown.what();
        }
        check_contains(error, {"PTX has no instruction " + opcode});
    }
}

TEST_CASE("what follows a rewrite over several lines keeps its line") {
    check_contains(rewrite("# 10 \"u.cu\"\nk<<<1,\n 32>>>(a,\n b);\nint x;\n"),
                   {"# 10 \"u.cu\"\nk(", "# 12 \"u.cu\"\nb", "# 12 \"u.cu\"\n;\nint x;"});
}

TEST_CASE("what cannot be rewritten is an error on the user's line") {
    const auto error_of = [](const char* text) -> std::string {
        try {
            rewrite(std::string("# 7 \"user.cu\"\n") + text);
        } catch (const RewriteError& error) {
            return error.what();
        }
        return "no error";
    };
    CHECK(error_of("__shared__ int x;") ==
          "user.cu:7: error: a __shared__ variable outside of a function runs on cuda only");
    CHECK(error_of("void f() {\n__shared__ int x = 3; }") ==
          "user.cu:8: error: a __shared__ variable cannot have an initializer");
    CHECK(error_of("{ void f() { static __shared__ __attribute__) int x;") ==
          "user.cu:7: error: expected an opening bracket");
    CHECK(error_of("void f() { __shared__ int a[({ asm(\"trap;\"); 3; })]; }") ==
          "user.cu:7: error: one rewrite would lie within another");
    CHECK(error_of("k<<<1>>>();") ==
          "user.cu:7: error: a launch needs at least a grid and a block: <<<grid, block>>>");
    CHECK(error_of("k<<<1, 2>>> x;") == "user.cu:7: error: expected `(` after `>>>`");
    // A line that no file has is not one.
    CHECK(error_of("# 2147483647 \"b.cu\"\n\n\nk<<<1, 2;") ==
          "user.cu:10: error: no `>>>` for this `<<<`");
    CHECK(error_of("k<<<1, 2;") == "user.cu:7: error: no `>>>` for this `<<<`");
}

TEST_CASE("a template that a class names as itself is named with its namespace") {
    const std::string member = "template <class T> struct Block { using Scan = Scan<T, 32>; };";
    const auto with = [&](const std::string& name) {
        return "template <class T> struct Block { using Scan = " + name + "<T, 32>; };";
    };
    const std::string scan = "template <class T, int n> struct Scan { T x; };";
    CHECK(rewrite(scan + member) == scan + with("::Scan"));
    CHECK(rewrite("namespace a::b { " + scan + member + " }") ==
          "namespace a::b { " + scan + with("::a::b::Scan") + " }");
    CHECK(rewrite("namespace { " + scan + " } namespace c { " + member + " }") ==
          "namespace { " + scan + " } namespace c { " + with("::Scan") + " }");
    // A class that is a member itself, and a name that is not there.
    const std::string inner = "struct Outer { " + scan + member + " };";
    CHECK(rewrite(inner) == inner);
    CHECK(rewrite(member) == member);
}

TEST_CASE("where a function of type auto returns the address of its variable, it is a copy's") {
    const auto function = [](const std::string& head, const std::string& declared,
                             const std::string& returned) {
        return head + " { " + declared + " return " + returned + "; }";
    };
    const auto changes = [&](const std::string& head, const std::string& declared,
                             const std::string& before, const std::string& after) {
        CHECK(rewrite(function(head, declared, before + "&x" + after)) ==
              function(head, declared, before + unit + "left_local(&x)" + after));
    };
    const auto stays = [&](const std::string& head, const std::string& declared,
                           const std::string& returned) {
        const std::string text = function(head, declared, returned);
        CHECK(rewrite(text) == text);
    };
    const std::string head = "template <class T> auto f(T& y)";
    changes(head, "auto x = g(y);", "view(make<T>(", "), 3)");
    changes(head, "Array<T, 3> x;", "view(3, ", ")");
    changes("auto A::f() const", "T x(3);", "view(", ", 1)");
    changes("auto f()", "int x{};", "", "");
    stays("auto f(int x)", "", "view(&x)");
    stays(head, "auto& x = y;", "view(&x)");
    stays(head, "auto* x = &y;", "view(&x)");
    stays(head, "static T x;", "view(&x)");
    stays(head, "T x;", "view(y &x)");
    stays(head, "T x;", "*reinterpret_cast<int*>(&x)");
    stays(head, "{ T x; }", "view(&x)");
    stays("int* f()", "int x;", "view(&x)");
    stays("auto f() -> int*", "int x;", "view(&x)");
}

TEST_CASE("a loop over volatile memory gives way in its condition, and no other loop does") {
    const std::string way = unit + "yield_point(), ";
    const auto checks = [&](const std::string& before, const std::string& condition,
                            const std::string& after, const std::string& declared = "") {
        CAPTURE(before + condition + after);
        CHECK(rewrite(declared + before + condition + after) ==
              declared + before + way + (condition == ";" ? "true;" : condition) + after);
    };
    checks("while (", "*(volatile int*)p != 1", ");");
    checks("do { seen = *(volatile int*)p; } while (", "seen != 1", ");");
    checks("for (int i = 0;", " i < n; ++i) use(flag[i]", ");", "volatile int* flag; ");
    checks("for (;", ";", ") { if (turn == me) break; }", "__shared_ volatile T turn; ");
    checks("while (", "s->ready == 0", ") {}", "struct S { int volatile ready; }; ");
    checks("while (", "*f == 0", ");", "auto* f = (volatile int*)flags; ");
    checks("while (", "*b == 0", ");", "volatile int *a, *b; ");
    checks("while (", "*b == 0", ");", "volatile int *a = c, *b; ");
    checks("while (", "*b == 0", ");", "void f(volatile int* a, float* c, volatile T* b); ");
    checks("while (", "*c == 0", ");", "typedef volatile int V; V* c; ");
    checks("while (", "*c == 0", ");", "using V = int volatile; V* c; ");
    checks("do seen = *(volatile int*)p; while (", "seen == 0", ");");
    checks("while (", "not *flag", ") {}", "__volatile__ int* flag; ");
    checks("while (", "look(p) != 1", ") {}",
           "int look(const int* p) { return *(const volatile int*)p; } ");
    for (const char* other :
         {"while (x[i] != 1) ++i;", "void f(volatile int* p) {} while (q) {}",
          "while (n) asm volatile(\"\");", "volatile int* a = b, c; while (*b) {}",
          "void f(volatile int* a, float* c, int d); while (*c < d) {}",
          "volatile int v; for (int x : v) {}", "volatile int v; while (int left = v) {}",
          "(volatile int)n; while (int(q)) {}", "volatile int v; while (std::size_t n = v) {}",
          "volatile int v; while (T* n = f(v)) {}",
          "volatile int v; for (int i = 0; bool more = v; ++i) {}",
          "volatile int v; for (int i = 0; int x : v) {}"})
        CHECK(rewrite(other).find("yield_point") == std::string::npos);
}
