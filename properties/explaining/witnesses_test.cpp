// SPDX-License-Identifier: Apache-2.0
// A mistake is planted in a reference, in a kernel, or in two, and the sentence says who is wrong.
#include "properties/explaining/explain.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>

#include "properties/suite/kernel_suite.hpp"

namespace gradverify {

namespace {

using Plant = std::function<void(const Problem&, Inputs<double>, Outputs<double>)>;

struct Scene {
    std::vector<std::string> kernels;  ///< that are registered
    std::string pass{};                ///< whose reference is wrong; empty: none
    Plant plant{};
    KernelDeclaration::Thunk thunk = nullptr;  ///< instead of the first kernel's own
};

std::unique_ptr<Registry> registry_of(const Scene& scene) {
    auto registry = std::make_unique<Registry>();
    Operator op = *Registry::instance().find_operator("conv");
    for (PassSpec& pass : op.passes)
        if (pass.name == scene.pass)
            pass.reference = [right = pass.reference, plant = scene.plant](
                                 const Problem& problem, Inputs<double> in, Outputs<double> out) {
                right(problem, in, out);
                plant(problem, in, out);
            };
    registry->add(std::move(op));
    for (const std::string& name : scene.kernels) {
        const Kernel* kernel = Registry::instance().find_kernel(name);
        REQUIRE(kernel);
        KernelDeclaration declaration = *kernel->on("cpu");
        if (scene.thunk && name == scene.kernels.front()) declaration.thunk = scene.thunk;
        registry->add(std::move(declaration));
    }
    registry->check();
    return registry;
}

struct Told {
    std::string problem, generality, witnesses;
};

/// The first failure of the scene's first kernel, shrunk and explained.
Told failure_of(const Scene& scene, const std::string& property) {
    const auto registry = registry_of(scene);
    const KernelSuite suite(*registry);
    const Row row{registry->find_kernel(scene.kernels.front()), find_property(property), "cpu"};
    const CaseRunner runner = [&](const Case& checked) { return suite.run(checked.print()); };
    for (std::int64_t i = 0; i < 200; ++i) {
        const Case drawn = *suite.draw(row, 1, i).drawn;
        const Outcome outcome = runner(drawn);
        if (outcome.verdict != Verdict::failed) continue;
        Shrunk shrunk = suite.shrink(drawn, outcome, runner);
        suite.explain(shrunk, runner);
        return {shrunk.smallest.problem.print(), shrunk.generality.text, shrunk.witnesses};
    }
    throw std::runtime_error("nothing failed");
}

/// As if an index were off by one: the first element gets what belongs elsewhere.
void add_to_first(const Problem&, Inputs<double> in, Outputs<double> out) {
    if (!out[0].data.empty() && !in[0].data.empty()) out[0].data.front() += in[0].data.back();
}

}  // namespace

TEST_CASE("who has made a mistake is told, of reference, kernel, or two that made the same") {
    const std::string general = "conv.grad_weight/general", naive = "conv.forward/naive",
                      forward = "conv.forward/bug_a02_dilated_position",
                      backward = "conv.grad_weight/bug_a02_dilated_position",
                      group = "conv.grad_input/bug_a04_group_weight_offset",
                      differences = "finite differences of the reference's forward map",
                      gradients = "the reference's gradients (by finite differences)",
                      both = "the same misunderstanding in the kernel and in ",
                      undecided =
                          " agree with each other (adjoint), and so do the reference's "
                          "forward map and its gradients: the same misunderstanding in the "
                          "kernels, or in the reference";
    struct Line {
        Scene scene;
        std::string begins;
        const char* property = "matches_reference";
    };
    const std::vector<Line> lines{
        {{{general, naive, "conv.grad_weight/tree_reduction"}, "grad_weight", add_to_first},
         "the reference of grad_weight stands alone: the kernel, " + differences +
             ", conv.forward/naive and conv.grad_weight/tree_reduction agree against it"},
        {{{naive, "conv.grad_bias/general", general}, "forward", add_to_first},
         "the reference of forward stands alone: the kernel, " + gradients +
             ", conv.grad_weight/general and conv.grad_bias/general agree against it"},
        {{{forward, general, naive}},
         "the kernel stands alone: the reference, " + gradients +
             ", conv.grad_weight/general and conv.forward/naive agree against it"},
        {{{group, naive}}, "the kernel stands alone: the reference, " + differences},
        {{{group, naive}},
         "the kernel stands alone: the reference, " + differences,
         "matches_finite_differences"},
        {{{group, naive}},
         "the kernel stands alone: the reference, " + differences,
         "adjoint_identity"},
        {{{backward, forward}}, "the kernel and " + forward + undecided},
        {{{forward, backward}}, "the kernel and " + backward + undecided},
        {{{backward, forward, naive}}, both + forward},
        {{{forward, backward, general}}, both + backward}};
    for (const Line& line : lines) {
        const Told told = failure_of(line.scene, line.property);
        CAPTURE(told.problem);
        CAPTURE(told.witnesses);
        CHECK(told.witnesses.starts_with(line.begins));
    }
}

TEST_CASE("a mistake of rounding is told from one of the formula") {
    const Scene scene{
        .kernels = {"conv.grad_bias/naive"}, .thunk = [](const PassCall& call) {
            const float* dy = call.tensors[0].as<const float>();
            float* db = call.tensors[1].as<float>();
            const std::int64_t pixels = call.tensors[0].size(2) * call.tensors[0].size(3);
            const std::int64_t channels = call.tensors[1].elements();
            for (std::int64_t k = 0; k < channels; ++k) {
                double sum = 0.0;
                for (std::int64_t n = 0; n < call.tensors[0].size(0); ++n)
                    for (std::int64_t i = 0; i < pixels; ++i)
                        sum += static_cast<double>(dy[(n * channels + k) * pixels + i]);
                if (sum != std::round(sum)) sum *= 1.001;
                db[k] = static_cast<float>(sum);
            }
        }};
    CHECK(failure_of(scene, "within_rounding_bound").witnesses ==
          "on integers, where nothing rounds, the kernel equals the reference: it is wrong by its "
          "rounding alone");
}

TEST_CASE("what is not about values is not asked") {
    const Scene scene{.kernels = {"conv.grad_weight/bug_a06_accumulates"}};
    const Told told = failure_of(scene, "repeatable");
    CHECK(told.witnesses.empty());
    CHECK(told.generality.starts_with("fails everywhere; n, c, k, groups, in, filter"));
    const KernelSuite suite(Registry::instance());
    for (const Property* const property : suite.properties())
        CHECK(property->name != witnesses().name);
}

}  // namespace gradverify
