// SPDX-License-Identifier: Apache-2.0
// What is the host's is refused in device code, with its line, and nothing else is. clang's CUDA
// mode, where it is installed, says the same of each text.
#include "harness/simt/rewrite/rewrite.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "harness/simt/tests/device_run.hpp"

using gradverify::simt::rewrite::rewrite;
using gradverify::simt::rewrite::RewriteError;
using simt_test::check_contains;

namespace {

std::string error_of(const std::string& text) {
    try {
        rewrite("# 6 \"user.cu\"\n" + text);
    } catch (const RewriteError& error) {
        return error.what();
    }
    return "";
}

/// Without the toolkit's headers. `__constant__` is what our headers make of it.
constexpr const char* preamble = R"(
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
)";

/// Whether clang takes the text as CUDA, for the device.
bool is_cuda_to_clang([[maybe_unused]] const std::string& text, [[maybe_unused]] bool otherwise) {
#ifdef GRADVERIFY_SIMT_TEST_CLANG
    const auto file = std::filesystem::temp_directory_path() /
                      ("gradverify_host_code_" + std::to_string(std::rand()) + ".cu");
    std::ofstream(file) << preamble << text << '\n';
    const std::string command =
        std::string(GRADVERIFY_SIMT_TEST_CLANG) +
        " -x cuda -std=c++17 --cuda-device-only --cuda-gpu-arch=sm_70 -nocudainc -nocudalib "
        "-fsyntax-only -w " +
        file.string() + " 2> /dev/null";
    const bool is_taken = std::system(command.c_str()) == 0;
    std::filesystem::remove(file);
    return is_taken;
#else
    return otherwise;
#endif
}

const std::string kernel = "__global__ void k(float* x) { ";

struct Wrong {
    std::string text, name;
};
const Wrong host_variables[] = {
    {"static int n = 3;\n" + kernel + "x[0] = n; }", "n"},
    {"int counter;\n" + kernel + "counter += 1; }", "counter"},
    {"static float table[4];\n" + kernel + "x[0] = table[1]; }", "table"},
    {"static const float* values;\n" + kernel + "x[0] = values[1]; }", "values"},
    {"float scale = 2;\n" + kernel + "x[0] = x[1] * scale; }", "scale"},
    {"float s = 2;\n__global__ void k(float* x, float b) { x[0] = (b * s); }", "s"},
    {"int flag;\n__global__ void k(float* x, int b) { if (b && flag) x[0] = 1; }", "flag"},
    {"namespace a { float s; namespace b {\n__device__ float f(float x) { return x * s; } } }",
     "s"},
    {"namespace a { float s; }\n" + kernel + "x[0] = a::s; }", "s"},
    {"struct S { static int n; }; int S::n = 3;\n" + kernel + "x[0] = S::n; }", "n"},
    {"struct S { static int n;\n__device__ int f() { return n; } }; int S::n = 3;", "n"},
};
const Wrong host_functions[] = {
    {"float f(float x) { return x; }\n" + kernel + "x[0] = f(x[0]); }", "f"},
    {"float f(float x);\n" + kernel + "x[0] = f(x[0]); }", "f"},
    {"static inline float f(float x) { return x; }\n__device__ float g(float x) { return f(x); }",
     "f"},
    {"template <class T> T f(T x) { return x; }\n" + kernel + "x[0] = f(x[0]); }", "f"},
    {"template <int n> float f(float x) { return n * x; }\n" + kernel + "x[0] = f<2>(x[0]); }",
     "f"},
    {"float f(float x) { return x; }\n" + kernel +
         "auto g = [&] { return f(x[0]); }; x[0] = g(); }",
     "f"},
    {"float f(float x) { return x; }\ntemplate <class T> __global__ void k(T* x) { x[0] = f(2.0f); "
     "}",
     "f"},
    {"namespace a { float f(float x) { return x; } }\n" + kernel + "x[0] = a::f(x[0]); }", "f"},
    {"extern \"C\" int rand();\n" + kernel + "x[0] = rand(); }", "rand"},
};

const std::string right[] = {
    "const int n = 3; static const float s = 2.5f; " + kernel + "x[0] = s * n; }",
    "constexpr float s = 2; " + kernel + "x[0] = s; }",
    "struct S { static const int n = 3; static constexpr float s = 2; }; " + kernel +
        "x[0] = S::n * S::s; }",
    "enum E { red, green }; " + kernel + "x[0] = green; }",
    "__device__ int n = 3; " + kernel + "x[0] = n; }",
    "__device__ int next() { static int n = 0; return ++n; }",
    // Another thing of that name.
    "int n; __global__ void k(int* x, int n) { x[0] = n; }",
    "int n; __global__ void k(int* x) { int a = 1, n = 2; x[0] = n + a; }",
    "int n; __global__ void k(int* x) { for (int j = 0, n = 2; j < n; ++j) x[j] = n; }",
    "int n; template <int n> __global__ void k(int* x) { x[0] = n; }",
    "int n; __global__ void k(int* x) { auto f = [&](int n) { return n; }; x[0] = f(1); }",
    "struct T { float v; }; T* s; __device__ float f(T* s) { return s->v; }",
    "struct T { float v; }; T* s; __device__ float f(const volatile T& s) { return s.v; }",
    "int n; struct P { int n; }; __global__ void k(int* x, P p) { x[0] = p.n; }",
    "int n; struct P { int n; __device__ int f() { return n; } };",
    "int n; struct P { int n; __device__ int f(); }; __device__ int P::f() { return n; }",
    "int n; template <class T, int n> struct A { __device__ int f() { return n; } };",
    "float f(float x) { return x; } __device__ float f(int x) { return x; } " + kernel +
        "x[0] = f(3); }",
    "namespace r { float f(float x) { return x; } } __device__ float f(float x) { return x; } " +
        kernel + "x[0] = f(x[0]); }",
    "float f(float x) { return x; } " + kernel + "auto f = [](float v) { return v; }; f(1); }",
    "float f(float x) { return x; } struct F { __device__ float operator()(float x) const { return "
    "x; } }; __global__ void k(float* x, F f) { x[0] = f(x[0]); }",
    "__device__ int rand(unsigned* s) { return *s; } " + kernel +
        "unsigned s = 1; x[0] = rand(&s); }",
    // Nothing is used.
    "static float t[7]; " + kernel + "x[0] = sizeof(t) / sizeof(t[0]); }",
    // Of both sides.
    "__host__ __device__ float f(float x) { return x; } " + kernel + "x[0] = f(x[0]); }",
    "int n; float f(float x) { return x; } void h() { f(n); }",
};

}  // namespace

TEST_CASE("a variable of the host in device code is an error with its line") {
    for (const auto& [text, name] : host_variables) {
        CAPTURE(text);
        check_contains(error_of(text), {"user.cu:7: error: the host's variable `" + name +
                                        "` is used in device code: "});
        CHECK(!is_cuda_to_clang(text, false));
    }
}

TEST_CASE("a function of the host that device code calls is an error with its line") {
    for (const auto& [text, name] : host_functions) {
        CAPTURE(text);
        check_contains(error_of(text), {"user.cu:7: error: ", "`" + name + "`", "in device code"});
        CHECK(!is_cuda_to_clang(text, false));
    }
}

TEST_CASE("what device code may use is not refused") {
    for (const std::string& text : right) {
        CAPTURE(text);
        CHECK(error_of(text) == "");
        CHECK(is_cuda_to_clang(text, true));
    }
    // clang has no --expt-relaxed-constexpr, and takes no unevaluated call. What only an instance
    // reaches is left to it.
    CHECK(error_of("float f(float x); " + kernel + "decltype(f(1)) y = 1; x[0] = y; }") == "");
    CHECK(error_of("constexpr int f(int x) { return x; } " + kernel + "x[0] = f(3); }") == "");
    CHECK(error_of("int f(); template <class T> __device__ int g() { if constexpr (T::host) return "
                   "f(); return 0; }") == "");
    CHECK(error_of("int n; void h(float* x) { each(x, [=] __host__ __device__ { return n; }); }") ==
          "");
    check_contains(error_of("int n;\nvoid h(float* x) { each(x, [=] __device__ { return n; }); }"),
                   {"user.cu:7: error: the host's variable `n`"});
    check_contains(error_of("void f();\n__device__ void g() { std::cout << 1; }"), {"`cout`"});
}

TEST_CASE("a file whose marks are not to be seen here is left as it is") {
    const std::string text = "int f() { return 1; } __device__ int g() { return f(); }";
    const std::string unmarked = "int f() { return 1; }   int g() { return f(); }";
    CHECK(error_of(text) != "");
    CHECK(error_of("#pragma gradverify no_marks\n" + text) == "");
    CHECK(rewrite("# 1 \"/shims/a.h\"\n" + text, {"/shims"}) == "# 1 \"/shims/a.h\"\n" + unmarked);
    CHECK(error_of("texture<float, 1> t; " + kernel + "x[0] = tex1Dfetch(t, 1); }") == "");
}

TEST_CASE("a device's variables, and what device code allocates, may be given to launches") {
    const std::string device = "::gradverify::simt::unit::";
    const auto lent = [&](const std::string& number, const std::string& name) {
        return " [[maybe_unused]] static const bool gradverify_lent_" + number + " = " + device +
               "lent_variable(" + name + ");";
    };
    CHECK(rewrite("namespace a { static __device__ const float x[2] = {f(1, 2), 1}; }") ==
          "namespace a { static   const float x[2] = {f(1, 2), 1};" + lent("0", "x") + " }");
    CHECK(rewrite("#pragma gradverify no_marks\n__device__ float x, *y = 0;") ==
          "#pragma gradverify no_marks\n  float x, *y = 0;" + lent("0", "x") + lent("1", "y"));
    for (const char* text : {"extern __device__ float x[];", "__device__ float f(float);",
                             "struct S { static __device__ float x; }; __device__ float S::x = 1;",
                             "__device__ int (*f)(int) = g; __device__ int (*t[2])(int) = {g, g};",
                             "template <class T> __device__ T x = 1; template <class T> struct S { "
                             "static __device__ T x; };"})
        CHECK(rewrite(text).find("lent") == std::string::npos);
    CHECK(rewrite("__device__ void f() { int* p = new int[3]; free(::malloc(std::malloc(1))); }") ==
          "  void f() { int* p = new (" + device + "DeviceHeap()) int[3]; " + device +
              "device_free(" + device + "device_malloc(" + device + "device_malloc(1))); }");
    for (const auto& [before, body] : std::initializer_list<std::pair<std::string, std::string>>{
             {"", "{ new (p) int; a.malloc(1); b->free(1); c::free(1); }"},
             {"struct S { void free(int); }; ", "{ free(1); }"},
             {"struct S { void* operator new(size_t); }; ", "{ new S; }"}})
        CHECK(rewrite(before + "__device__ void f() " + body) == before + "  void f() " + body);
}

TEST_CASE(
    "a function of the host, and a lambda in it, begins with a statement that ends a kernel") {
    const auto guard = [](const std::string& label) {
        return "{ ::gradverify::simt::unit::of_host(\"the host's function `" + label +
               "` is called in device code: mark it __device__\");";
    };
    CHECK(rewrite("int f() { return 1; }") == "int f() " + guard("f") + " return 1; }");
    CHECK(rewrite("struct F { int operator()(int x) const { return x; } };") ==
          "struct F { int operator()(int x) const " + guard("operator()") + " return x; } };");
    CHECK(rewrite("void h() { g([](int x) { return x; }); }") ==
          "void h() " + guard("h") + " g([](int x) " + guard("a lambda of h") + " return x; }); }");
    for (const char* text :
         {"constexpr int f() { return 1; }", "int f();", "struct S { S() { g(); } ~S() { g(); } };",
          "struct S { explicit S(int x) { g(x); } operator int() const { return g(1); } };",
          "int x[3] = {1, 2, 3};",
          "template <class R, R (*f)(int)> class S<R (*)(int), f> { int x; };"})
        CHECK(rewrite(text) == text);
    CHECK(rewrite("__device__ int f() { return 1; }") == "  int f() { return 1; }");
    // Each thread may call it for a launch's arguments.
    for (const std::string text :
         {"int f() { return 1; } int g() { return f(); } struct S { S() { g(); } };",
          "int f() { return 1; } struct S { int x; operator int() const { return f(); } };",
          "int f() { return 1; } __global__ void k(int n = f());"})
        CHECK(rewrite(text).find("of_host") == std::string::npos);
}
