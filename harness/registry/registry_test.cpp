// SPDX-License-Identifier: Apache-2.0
#include "harness/registry/registry.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "harness/testing/made_operator.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

KernelDeclaration at(KernelDeclaration kernel, std::string file, int line) {
    kernel.file = std::move(file);
    kernel.line = line;
    return kernel;
}

/// `toy` with one axis or two; ordinary kernels take two.
Operator toy_with_features() {
    Operator op = toy_operator();
    op.usual_ranks = RankRange{2, 2};
    op.features = {{"large_batches", {where("n", between(0, 3))}}};
    return op;
}

/// What the registry says of a kernel and a problem.
std::string why_unsupported_of(const KernelDeclaration& kernel, const char* problem,
                               Operator op = toy_with_features()) {
    Registry registry = registry_of({kernel}, std::move(op));
    registry.check();  // as after each registration
    const Kernel& checked = registry.kernels().front();
    CHECK(checked.any().constraints.size() < 2);
    return checked.why_unsupported(Problem::parse(checked.op->space, problem)).value_or("");
}

std::string complaint_with_features(const KernelDeclaration& kernel) {
    return complaint_of({kernel}, toy_with_features());
}

KernelDeclaration plain() { return toy_kernel("plain"); }

struct Mistaken {
    KernelDeclaration kernel;
    const char* says;
};

void check_said(std::initializer_list<Mistaken> table) {
    for (const Mistaken& one : table) {
        // A file that is compiled for two devices has its mistakes said once.
        KernelDeclaration again = one.kernel;
        again.device = "cuda";
        CHECK(complaint_of({one.kernel, again}) ==
              "kernel " + one.kernel.full_name() + " (kernels/plain.cu:7): " + one.says);
    }
}

TEST_CASE("a build says what it leaves out, and names no command but the one that has built it") {
    Registry registry;
    CHECK(registry.all_left_out("./run verify").empty());
    registry.leave_out("rms_norm rope fast/conv");
    CHECK(registry.leaves_out("rope"));
    CHECK_FALSE(registry.leaves_out("conv"));
    CHECK(registry.why_left_out("relu.*").empty());
    CHECK(registry.why_left_out("r*.forward/naive") ==
          "; this build leaves out rms_norm, rope; in a clone `./run verify 'r*.forward/naive'` "
          "builds it");
    CHECK(registry.why_left_out("conv.forward/wgmma_f16") ==
          "; this build leaves out the kernels of kernels/fast/conv; in a clone `./run verify "
          "'conv.forward/wgmma_f16'` builds it");
    CHECK(registry.all_left_out("./run verify")
              .starts_with("Not verified, as this build leaves it out: rms_norm, rope, fast/conv. "
                           "`./run verify --all` verifies all kernels"));
    CHECK(registry.all_left_out(nullptr).empty());
}

}  // namespace

TEST_CASE("kernels are listed by full name, with their devices and their pass") {
    Registry registry;
    const Operator& op = registry.add(toy_operator());
    registry.add(toy_kernel("plain"));
    registry.add(toy_kernel("fancy", "cpu"));
    registry.add(toy_kernel("fancy", "cuda"));
    registry.check();
    REQUIRE(registry.kernels().size() == 2);
    const Kernel& fancy = registry.kernels()[0];
    CHECK(fancy.name == "toy.forward/fancy");
    CHECK(fancy.op == &op);
    CHECK(fancy.pass == op.find_pass("forward"));
    CHECK(fancy.on("cpu"));
    CHECK(fancy.on("cuda"));
    CHECK(fancy.on("cpu") != fancy.on("cuda"));
    CHECK(registry.find_kernel("toy.forward/plain") == &registry.kernels()[1]);
    CHECK(registry.kernels()[1].on("cuda") == nullptr);
    CHECK(registry.find_kernel("toy.forward/other") == nullptr);
    CHECK(registry.find_operator("other") == nullptr);
}

TEST_CASE("a kernel that needs what this machine lacks is there, but on no device") {
    const Registry registry =
        registry_of({toy_kernel("here").needs([] { return std::string(); }),
                     toy_kernel("lost").needs([] { return std::string("no libvendor.so.1"); })});
    const Kernel& here = *registry.find_kernel("toy.forward/here");
    CHECK(here.on("cpu"));
    CHECK(here.why_not_on("cuda") == "is not built for the device cuda");
    const Kernel& lost = *registry.find_kernel("toy.forward/lost");
    CHECK_FALSE(lost.on("cpu"));
    CHECK(lost.why_absent == "no libvendor.so.1");
    CHECK(lost.why_not_on("cpu") == "can't run on this machine: no libvendor.so.1");
    CHECK(lost.why_not_on("cuda") == "is not built for the device cuda");
}

TEST_CASE("a kernel rounds numbers that the pass's reference names, to a narrower type") {
    Operator op = toy_operator();
    op.passes.front().roundings = {"p", "row"};
    const auto mistake = [&](const KernelDeclaration& kernel) -> std::string {
        try {
            registry_of({kernel}, op);
        } catch (const std::exception& wrong) {
            return wrong.what();
        }
        return "";
    };
    CHECK(mistake(plain().rounds("p", DType::bf16).rounds("row", DType::f16)) == "");
    CHECK(mistake(plain().storage(DType::f64).rounds("p", DType::f32)) == "");
    CHECK(contains(
        mistake(plain().rounds("rows", DType::bf16)),
        "rounds(\"rows\") needs a number that the reference of forward names; did you mean "
        "row?; there are p, row"));
    CHECK(
        contains(mistake(plain().rounds("p", DType::f32)),
                 "rounds(\"p\") needs a narrower type than f32, which the kernel computes in, not "
                 "f32"));
    CHECK(contains(mistake(plain().rounds("p", DType::i32)),
                   "rounds(\"p\") needs f8e4m3, f8e5m2, f16, bf16, f32 or f64, not i32"));
}

TEST_CASE("a mistake in a registration is said with its place and what is right") {
    const auto named = [](const char* op, const char* pass) {
        KernelDeclaration kernel = toy_kernel("plain");
        kernel.operator_name = op;
        kernel.pass_name = pass;
        return kernel;
    };
    const char* const saturates = "saturates() needs a result of 8 bits; say which by storage()";
    const char* const tensor_cores =
        "on_tensor_cores() sums in f64 only where all tensors are of f64: there are no tensor "
        "cores for wider sums of narrower factors";
    check_said({
        {named("tyo", "forward"), "there is no operator 'tyo'; there are: toy"},
        {named("toy", "grad_y"), "operator toy has no pass 'grad_y'; it has: forward, grad_x"},
        {plain().storage(DType::i32),
         "storage() needs f8e4m3, f8e5m2, f16, bf16, f32 or f64, not i32"},
        {plain().accumulates_in(DType::i64),
         "accumulates_in() needs f16, bf16, f32 or f64, not i64"},
        {plain().accumulates_in(DType::f8e4m3),
         "accumulates_in() needs f16, bf16, f32 or f64, not f8e4m3"},
        {plain().rounds("p", DType::bf16),
         "rounds(\"p\") needs a number that a reference names, and that of forward names none; let "
         "it say call.rounds(\"p\", value)"},
        {plain().storage("x", DType::i64),
         "storage(\"x\") needs f8e4m3, f8e5m2, f16, bf16, f32 or f64, not i64"},
        {plain().storage("z", DType::f16),
         "storage(\"z\") needs a floating tensor of the pass; there are x, w, y"},
        {plain().storage("x", DType::f16).in_place("y", "x"),
         "y lies where x does, but their types are f32 and f16; name both in storage()"},
        {plain().rounds_stochastically("y"),
         "rounds_stochastically(\"y\") needs an output that has fewer digits than what the kernel "
         "computes in, f32; there are y"},
        {plain().saturates(), saturates},
        {plain().storage("x", DType::f8e4m3).saturates(), saturates},
        {plain().accumulates_in(DType::f64).on_tensor_cores(), tensor_cores},
        {plain().storage(DType::f64).storage("x", DType::f32).on_tensor_cores(), tensor_cores},
        {plain().splits_factors({.products = 0, .digits = 24}),
         "splits_factors({.products = 0, .digits = 24}) needs a product at least, and 8 to 24 "
         "digits"},
        {plain().splits_factors({.products = 3, .digits = 25}),
         "splits_factors({.products = 3, .digits = 25}) needs a product at least, and 8 to 24 "
         "digits"},
        {plain().storage(DType::f16).splits_factors({.products = 3, .digits = 21}),
         "splits_factors() needs tensors of f32, which are the factors"},
    });
}

TEST_CASE("a mistake in what a registration says of its numbers and problems is said") {
    const char* const growth = "norm_wise(growth) needs a finite growth of at least 1";
    check_said({
        {plain().norm_wise(0.5), growth},
        {plain().norm_wise(-81.0), growth},
        {plain().norm_wise(HUGE_VAL), growth},
        {plain().norm_wise(std::nan("")), growth},
        {plain().up_to_elements(0), "up_to_elements(N) needs an N of at least 1"},
        {plain().with_invalid_indices(),
         "with_invalid_indices() needs an input of the pass that the operator declares with "
         "or_invalid()"},
        {plain().finite_numbers_alone(),
         "finite_numbers_alone() needs an operator that declares defined_for_nan() of an input; of "
         "others no NaN is drawn"},
    });
    for (const KernelDeclaration& right :
         {plain().storage("x", DType::f16).storage(DType::f64),
          plain().storage("y", DType::f8e4m3).saturates(),
          plain().storage("y", DType::bf16).rounds_stochastically("y"), plain().norm_wise(1.0),
          plain().storage(DType::f64).on_tensor_cores(),
          plain().splits_factors({.products = 3, .digits = 21}),
          plain().storage(DType::bf16).on_tensor_cores()})
        CHECK(complaint_of({right}).empty());
    Registry empty;
    empty.add(plain());
    CHECK(contains(refusal([&] { empty.check(); }), "there is no operator 'toy'; there are: none"));
}

TEST_CASE("a name registered twice, or in two files, is an error that names both places") {
    const auto first = at(toy_kernel("plain"), "a.cu", 3);
    CHECK(complaint_of({first, at(toy_kernel("plain"), "b.cu", 90)}) ==
          "kernel toy.forward/plain is registered twice for cpu: a.cu:3 and b.cu:90; give one of "
          "them another variant name");
    CHECK(complaint_of({first, at(toy_kernel("plain", "cuda"), "b.cu", 90)}) ==
          "kernel toy.forward/plain is registered twice: a.cu:3 and b.cu:90; give one of them "
          "another variant name");
    // One file compiled for both devices, seen through two paths.
    CHECK(complaint_of({first, at(toy_kernel("plain", "cuda"), "/source/a.cu", 3)}).empty());
}

TEST_CASE("what ordinary kernels do without is asked of those that declare it") {
    const auto with_empty = [] { return toy_kernel("plain").with_empty_problems(); };
    CHECK(why_unsupported_of(with_empty(), "in=3x3") == "");
    CHECK(why_unsupported_of(with_empty(), "in=3") == "needs 2 spatial axes");
    CHECK(why_unsupported_of(with_empty(), "n=4,in=3x3") == "needs 0 <= n <= 3");
    CHECK(why_unsupported_of(with_empty().supports("large_batches"), "n=4,in=3x3") == "");
    CHECK(why_unsupported_of(with_empty().supports("large_batches"), "n=4,in=3") ==
          "needs 2 spatial axes");
    CHECK(why_unsupported_of(with_empty().spatial_axes(1, 2), "in=3") == "");
    CHECK(why_unsupported_of(with_empty().spatial_axes(1, 1), "in=3x3") == "needs 1 spatial axis");
    CHECK(contains(complaint_with_features(with_empty().supports("large_batch")),
                   "there is no feature 'large_batch' of toy; there are: large_batches"));
    CHECK(contains(complaint_with_features(with_empty().spatial_axes(1, 3)),
                   "spatial_axes(1, 3) must lie within those of toy: 1 to 2 spatial axes"));
    CHECK(contains(complaint_with_features(with_empty().spatial_axes(2, 1)), "must lie within"));
    // A name need exist only where the kernel is asked.
    CHECK(complaint_with_features(with_empty().where("in_h", equals(3))) == "");
    CHECK(
        contains(complaint_with_features(with_empty().spatial_axes(1, 2).where("in_h", equals(3))),
                 "no parameter is called in_h"));
}

TEST_CASE("an operator's benchmark is a problem of its own") {
    const auto said_of = [](const char* problem) {
        Operator op = toy_operator();
        op.benchmark = problem;
        return complaint_of({}, op);
    };
    CHECK(said_of("n=4,in=3").empty());
    CHECK(said_of("").empty());
    CHECK(said_of("m=4,in=3")
              .starts_with("operator toy: its benchmark problem m=4,in=3: unknown parameter `m`"));
    CHECK(contains(said_of("n=1073741824,in=1073741824x1073741824"), "tensors of at most"));
}

TEST_CASE("a variant's name that can't stand in a printed case is refused") {
    for (const char* name : {"", "a:b", "a*", "a b", "a/b", "a[0]"})
        CHECK_MESSAGE(contains(complaint_of({toy_kernel(name)}), "a variant's name holds letters"),
                      name);
    CHECK(complaint_of({toy_kernel("Tree-Reduction_f16.nhwc")}).empty());
}

TEST_CASE("everything that is wrong is said at once, a line each") {
    const std::string text =
        complaint_of({toy_kernel("one").saturates(), toy_kernel("two").where("k", equals(1)),
                      toy_kernel("three"), toy_kernel("three")});
    CHECK(contains(text, "saturates() needs a result of 8 bits"));
    CHECK(contains(text,
                   "\nkernel toy.forward/two (kernels/two.cu:7): constraint `k = 1`: no parameter "
                   "is called k"));
    CHECK(contains(text, "\nkernel toy.forward/three is registered twice"));
}

TEST_CASE("an operator registered twice is an error that names both places") {
    Registry registry;
    registry.add(toy_operator(), "a.cpp", 3);
    registry.add(toy_operator(), "a.cpp", 3);  // for another device
    CHECK_NOTHROW(registry.check());
    registry.add(toy_operator(), "b.cpp", 90);
    CHECK(refusal([&] { registry.check(); }) ==
          "operator toy is registered twice: a.cpp:3 and b.cpp:90; give one of them another name");
}

TEST_CASE("kernels can't be asked for before the check, nor after a registration that follows it") {
    Registry registry;
    registry.add(toy_operator());
    CHECK_THROWS_WITH_AS(registry.kernels(), "Registry::check() has not run", std::logic_error);
    CHECK_THROWS_AS(registry.find_kernel("toy.forward/plain"), std::logic_error);
    registry.check();
    CHECK(registry.kernels().empty());
    registry.add(toy_kernel("plain"));
    CHECK_THROWS_AS(registry.kernels(), std::logic_error);
    registry.add(toy_kernel("plain"));
    CHECK_THROWS_AS(registry.check(), std::invalid_argument);
    CHECK_THROWS_AS(registry.kernels(), std::logic_error);
}

TEST_CASE("a kernel says why it must not be given a problem") {
    const auto why = [](const KernelDeclaration& kernel, const char* problem) {
        return why_unsupported_of(kernel, problem, toy_operator());
    };
    const auto is_not_3 = [](const Problem& p) { return p.scalar("n") != 3; };
    const KernelDeclaration plain =
        toy_kernel("plain").where("in", between(1, 4)).only_if("n is not 3", is_not_3);
    CHECK(why(plain, "in=4") == "");
    CHECK(why(plain, "in=5") == "needs 1 <= in <= 4");
    CHECK(why(plain, "n=3,in=4") == "needs n is not 3");
    CHECK(why(plain, "n=0,in=4") ==
          "needs a problem whose tensors have elements (with_empty_problems() is not declared)");
    CHECK(why(toy_kernel("empty").with_empty_problems(), "n=0,in=4") == "");
    const KernelDeclaration small = toy_kernel("small").up_to_elements(100);
    CHECK(why(small, "n=10,in=10") == "");
    CHECK(why(small, "n=10,in=11") ==
          "needs tensors of at most 100 elements (up_to_elements() is declared); x has more");
    CHECK(registry_of({small}).kernels().front().conditions().front() ==
          "tensors of at most 100 elements");
}

TEST_CASE("a problem with more elements than any machine holds is invalid, without overflow") {
    const Operator op = toy_operator();
    const auto why = [&](const char* problem) {
        return op.validate(Problem::parse(op.space, problem)).value_or("");
    };
    CHECK(why("n=1073741824,in=64") == "");
    const std::string refused = "toy needs tensors of at most 68719476736 elements; x has more";
    CHECK(why("n=1073741824,in=65") == refused);
    // 2^90 elements, and 2^64, which is 0 in 64 bits.
    CHECK(why("n=1073741824,in=1073741824") == refused);
    CHECK(why("n=16,in=1073741824x1073741824") == refused);
    CHECK(why("n=0,in=1073741824x1073741824") == "");
}
