// SPDX-License-Identifier: Apache-2.0
// What `new` drafts for launchers of many styles, over the registered operators.
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "harness/base/errors.hpp"
#include "harness/base/text.hpp"
#include "harness/drafting/glue.hpp"
#include "harness/operators/tensor_text.hpp"
#include "harness/registry/registry.hpp"

namespace gradverify {

namespace {

const Operator& op_named(const std::string& name) {
    return *Registry::instance().find_operator(name);
}

/// The text in one line, a blank for each run of blanks.
std::string in_one_line(const std::string& text) {
    std::string line;
    for (const char c : text)
        if (c != '\n' && (c != ' ' || (!line.empty() && line.back() != ' '))) line += c;
    return line;
}

/// The draft for the only launcher of a text.
std::string draft(const std::string& op, const std::string& text, const std::string& pass = "") {
    const Signature launcher = launchers_of(text).at(0);
    return in_one_line(
        glue_of(op_named(op), launcher, match_launcher(op_named(op), launcher, pass), "their.cu"));
}

void check_drafts(const std::string& op, const std::string& text,
                  const std::vector<std::string>& parts, const std::string& pass = "") {
    CAPTURE(text);
    const std::string glue = draft(op, text, pass);
    CAPTURE(glue);
    for (const std::string& part : parts) {
        CAPTURE(part);
        CHECK(glue.find(part) != std::string::npos);
    }
}

std::string error_of(const std::string& op, const std::string& text, const std::string& pass = "") {
    try {
        draft(op, text, pass);
    } catch (const UsageError& wrong) {
        return wrong.what();
    }
    return "no error";
}

std::vector<const Operator*> all_operators() {
    std::vector<const Operator*> operators;
    for (const std::string& name : Registry::instance().operator_names())
        operators.push_back(&op_named(name));
    return operators;
}

std::string evident(const std::string& text) {
    const Operator* const op =
        evident_operator(candidates_for(launchers_of(text).at(0), all_operators()));
    return op ? op->name : "none";
}

std::vector<std::string> names_in(const std::string& text) {
    std::vector<std::string> names;
    for (const Signature& launcher : launchers_of(text))
        names.push_back(std::to_string(launcher.line) + ":" + launcher.scope + launcher.name);
    return names;
}

}  // namespace

TEST_CASE(
    "a tensor that a keyword names has a member of another name, and the pass is told by words") {
    check_drafts("attention",
                 "void attention_backward(const float* dout, const float* q, const float* k,"
                 " const float* v, const float* out, const float* lse, float* dq, float* dk,"
                 " float* dv, int b, int s, int h, int d, float scale);",
                 {"Pass<\"attention\", \"backward\">", "TensorView grad_o = tensor(\"do\"), ",
                  "attention_backward(call.grad_o.as<const float>(), ",
                  "call.v.as<const float>(), call.o.as<const float>(), ",
                  "call.b, call.sq, call.h, call.d, 1.0f / std::sqrt(static_cast<float>(call.d)))",
                  "#include <cmath>", ".where(\"sk\", gradverify::same_as(\"sq\"))",
                  ".where(\"causal\", gradverify::equals(0))"});
    CHECK(member_of("new") == "new_");
    CHECK(member_of("dx") == "dx");
}

TEST_CASE(
    "each draft of a registered operator has members of distinct names, and words on its tensors") {
    for (const Operator* const op : all_operators())
        for (const PassSpec& pass : op->passes) {
            CAPTURE(op->name);
            CAPTURE(pass.name);
            std::set<std::string> members;
            std::vector<std::string> names = pass.tensors();
            for (const ParameterSpec& spec : op->space.parameters())
                if (spec.kind == ParameterKind::scalar) names.push_back(spec.name);
            for (const std::string& name : names) CHECK(members.insert(member_of(name)).second);
            const std::string glue =
                draft(op->name, "void f(float* tensor_of_no_name, float* other);", pass.name);
            for (const std::string& tensor : pass.tensors())
                CHECK(glue.find("// " + tensor + " ") != std::string::npos);
        }
}

TEST_CASE("a draft says the sizes of tensors by the names of parameters") {
    const auto sizes = [](const char* op, const char* tensor) {
        return print_sizes(op_named(op), tensor);
    };
    CHECK(sizes("attention", "do") == "(b, sq, h, d)");
    CHECK(sizes("attention", "lse") == "(b, h, sq)");
    CHECK(sizes("selective_scan", "B") == "(b, 1, n, l)");
    CHECK(sizes("varlen_attention", "q") == "(total_q, hk * group, d)");
    CHECK(sizes("varlen_attention", "cu_seqlens_k") == "(seqs + 1)");
    CHECK(sizes("conv", "w") == "(k, c / groups, filter_d, filter_h, filter_w)");
    CHECK(sizes("conv", "y") == "(n, k, out_d, out_h, out_w)");
    CHECK(sizes("softmax_cross_entropy", "loss") == "one number");
    CHECK(sizes("quantize_mxfp8", "scale") == "(rows, ...)");
    CHECK(sets_a_size(op_named("conv"), "in"));
    CHECK(sets_a_size(op_named("varlen_attention"), "group"));
    CHECK_FALSE(sets_a_size(op_named("conv"), "groups"));
    CHECK_FALSE(sets_a_size(op_named("conv"), "stride"));
    check_drafts("conv", "void conv_dgrad(const float* dy, const float* w, float* dx);",
                 {"// dy f32 (n, k, out_d, out_h, out_w) input; or .layout(\"dy\", \"nhwc\")",
                  "// dx f32 (n, c, in_d, in_h, in_w) gradient"},
                 "grad_input");
}

TEST_CASE("names of tensors have prefixes and suffixes of many styles") {
    const std::string relu =
        "(call.dy.as<const float>(), call.x.as<const float>(), "
        "call.dx.as<float>(), call.n)";
    for (const char* names :
         {"const float* h_dy, const float* h_x, float* h_dx, int n",
          "const float* d_dout, const float* d_in, float* d_din, int n",
          "const float* d_out, const float* x, float* d_x, int n",
          "const float* p_dy, const float* p_x, float* p_dx, long N",
          "const float* grad_out_ptr, const float* x_ptr, float* grad_x_ptr, int n",
          "const float* dy_, const float* x_, float* dx_, const int n_",
          "const float* gradOutput, const float* input, float* gradInput, size_t n"})
        check_drafts("relu", "void relu_bwd(" + std::string(names) + ");",
                     {"\"grad_input\">", "relu_bwd" + relu});
    // Nothing but the prefix that all share tells `x` from `dx`.
    check_drafts(
        "relu", "void relu_bwd(float* d_dy, float* d_x, float* d_dx, int n);",
        {"relu_bwd(call.dy.as<float>(), call.x.as<float>(), call.dx.as<float>(), call.n)"});
    // Gradients alone, which the prefix would hide.
    check_drafts(
        "fc",
        "void linear_backward(const float* d_out, const float* d_w, float* d_in, int n,"
        " int in_features, int out_features);",
        {"call.dy.as<const float>(), call.w.as<const float>(), call.dx.as<float>(), call.n, "
         "call.c, call.k)"});
    check_drafts("fc",
                 "void wgrad(const float* dout, const float* inp, float* dw, int n, int c, int k);",
                 {"\"grad_weight\">",
                  "call.dy.as<const float>(), call.x.as<const float>(), "
                  "call.dw.as<float>(), call.n, call.c, call.k)"});
}

TEST_CASE("the one output, input or size that is left over is what is left of the pass") {
    check_drafts("relu", "void relu_forward(const float* from, float* to, int how_many);",
                 {"relu_forward(call.x.as<const float>(), call.y.as<float>(), call.n)"});
    check_drafts("rms_norm",
                 "void rms_forward(const float* x, const float* g1, float* y, float* r,"
                 " int rows, int many, float tiny);",
                 {"call.rows, call.width, call.eps)"});
    // A whole number is no tensor of floats, and two are not told.
    check_drafts("relu", "void relu_forward(const int* from, float* to, int n);",
                 {"relu_forward(FILL_IN_from, call.y.as<float>(), call.n)"});
    check_drafts("bias_gelu",
                 "void gelu_forward(const float* x, const float* bias, float* y, int i, int j);",
                 {"FILL_IN_i, FILL_IN_j)"});
    check_drafts("relu", "void relu_forward(const float* x, float* y, cudaStream_t stream[2]);",
                 {"call.y.as<float>(), FILL_IN_stream)"});
    // A flag is not the number of anything.
    check_drafts("attention",
                 "void attention_forward(const float* q, const float* k, const float* v,"
                 " float* o, float* lse, int b, int sq, int sk, int h, int d, int many);",
                 {"call.d, FILL_IN_many)"});
}

TEST_CASE("a size that is two of the launcher's, and what a launcher has built in") {
    check_drafts(
        "layer_norm",
        "void layernorm_forward(float* out, float* mean, float* rstd, float* inp,"
        " float* weight, float* bias, int B, int T, int C);",
        {"call.rows, 1, call.width)",
         ".only_if(\"eps = 1e-05\", [](const auto& problem) { return problem.real(\"eps\") == "
         "1e-05; })"});
    // A pass that takes what the forward pass has saved needs no epsilon.
    const std::string backward =
        draft("layer_norm",
              "void layernorm_backward(float* dinp, float* dweight, float* dbias,"
              " float* dout, float* inp, float* weight, float* mean, float* rstd,"
              " int B, int T, int C);");
    CHECK(backward.find("only_if") == std::string::npos);
    check_drafts("maxpool",
                 "void pool_forward(const float* x, float* y, int* index, int n, int c,"
                 " int in_h, int in_w, int kernel, int stride);",
                 {".where(\"window_h\", gradverify::same_as(\"window_w\"))",
                  ".where(\"stride_h\", gradverify::same_as(\"stride_w\"))"});
}

TEST_CASE("a launcher is called by its namespaces, and a template with what it can't tell") {
    check_drafts(
        "relu",
        "namespace a { namespace { namespace b::c { void relu_backward(const float* dy,"
        " const float* x, float* dx, int n) {} } } }",
        {"a::b::c::relu_backward(call.dy", "GRADVERIFY_KERNEL(GradInput, \"relu_backward\""});
    check_drafts("relu",
                 "extern \"C\" { void relu_backward(const float* dy, const float* x, float* dx,"
                 " int n) {} }",
                 {"{ relu_backward(call.dy"});
    check_drafts(
        "relu",
        "template <typename T, int BLOCK = 256> void relu_forward(const T* x, T* y, int n);",
        {"{ relu_forward(call.x.as<const float>(), call.y.as<float>(), call.n);"});
    check_drafts("relu",
                 "template <class T, int BLOCK> void relu_forward(const T* x, T* y, int n);",
                 {"relu_forward<float, FILL_IN_BLOCK>(call.x.as<const float>()"});
    check_drafts("relu", "template <class scalar_t> at::Tensor relu_forward(const at::Tensor& x);",
                 {"call.y.tensor().copy_(relu_forward<float>(call.x.tensor()));"});
    // Of two functions of one name the one that is asked for.
    const std::string two =
        "namespace a { void f(float* x); } namespace b { void f(float* y, int n) {} }";
    CHECK(signature_of(two, "f")->scope == "b::");
    CHECK(signature_of(two, "a::f")->scope == "a::");
    CHECK_FALSE(signature_of(two, "g"));
}

TEST_CASE("a pass that can't be told is named, with its tensors") {
    CHECK(error_of("relu", "void f(float* one, float* two, float* three);") ==
          "which pass of relu f is can't be told: name it by --pass; there are forward (x -> y), "
          "grad_input (dy, x -> dx)");
    CHECK(error_of("relu", "void f(float* x);", "grad_imput") ==
          "relu has no pass grad_imput; it has forward, grad_input; did you mean grad_input?");
    check_drafts("layer_norm", "std::vector<at::Tensor> f_bw(at::Tensor a, at::Tensor b);",
                 {"\"backward\">", "call.dbeta.tensor().copy_(results[2]);"});
    check_drafts("relu", "void relu_fwd(const float* grad, float* dx, int n);", {"\"forward\">"});
}

TEST_CASE("an operator is evident by the launcher's name, or as the only one that fits") {
    CHECK(evident("void layernorm_backward(float* a, float* b);") == "layer_norm");
    CHECK(evident("void softmax_xent_fwd(float* a, float* b);") == "softmax_cross_entropy");
    CHECK(evident("void flash_attn_fwd(float* a, float* b);") == "attention");
    CHECK(evident("void matmul_backward(float* a, float* b);") == "fc");
    CHECK(evident("void gn_forward(float* a, float* b);") == "group_norm");
    CHECK(evident("void aligned_forward(float* a, int b);") == "none");
    CHECK(evident("void step(const float* x, float* y, int n);") == "none");
    CHECK(evident("void step(const float* x, const float* gamma, const float* beta, float* y,"
                  " float* mean, float* rstd, int rows, int width, float eps);") == "layer_norm");
}

TEST_CASE("the launchers of a file are its functions of the host that launch") {
    CHECK(names_in("__device__ float f(float* x) { return *x; }\n"
                   "__global__ void k(float* x) { f(x); }\n"
                   "static void inner(float* x) { k<<<1, 1>>>(x); }\n"
                   "namespace a {\n"
                   "void outer(float* x) { inner(x); }\n"
                   "}\n"
                   "void on_host(float* x) { x[0] = 1; }\n"
                   "void declared(float* x);\n"
                   "void declared(float* x) { cudaLaunchKernel(k, 1, 1, x, 0, 0); }\n"
                   "int main(int n, char** v) { k<<<1, 1>>>(0); }\n") ==
          std::vector<std::string>{"3:inner", "5:a::outer", "9:declared"});
    CHECK(names_in("extern \"C\" void a(float* x) { Tensor y(x); }\nvoid c(float* x) {}") ==
          std::vector<std::string>{"1:a", "2:c"});
    CHECK(
        names_in(
            "#define LAUNCH(f) f<<<1, 1>>>\nvoid f(float* x) { LAUNCH(k)(x); }\nvoid g(int n);") ==
        std::vector<std::string>{"2:f"});
}

TEST_CASE("what is left to be filled in is found, but not in a comment") {
    const auto left = placeholder_in("// FILL_IN_a\n\nf(x, FILL_IN_scale);");
    REQUIRE(left);
    CHECK(left->word == "FILL_IN_scale");
    CHECK(left->line == 3);
    CHECK_FALSE(placeholder_in("const char* text = \"FILL_IN\";  /* FILL_IN */"));
}

}  // namespace gradverify
