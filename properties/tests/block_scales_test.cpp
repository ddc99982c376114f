// SPDX-License-Identifier: Apache-2.0
// Blocks with scales: right products and quantisers pass, and wrong ones fail where that is least.
#include <doctest/doctest.h>

#include "properties/tests/verdicts.hpp"

namespace gradverify {

using namespace testing;

namespace {

constexpr int cases = 100;

struct Bug {
    std::string kernel;
    const char *property, *smallest;
};

const Bug bugs[] = {
    {"fc.forward/bug_mx_neighbours_scale", "matches_reference", "n=1,c=33"},
    {"fc.forward/bug_mx_unpadded_blocks", "matches_reference", "n=1,c=33"},
    {"fc.forward/bug_mx_bias_of_126", "matches_reference", "n=1"},
    {"fc.forward/bug_mx_zero_scale", "within_rounding_bound", "n=1"},
    {"fc.forward/bug_mx_other_format", "matches_reference", "n=1"},
    {"fc.forward/bug_mx_scale_of_x_alone", "matches_reference", "n=1"},
    {"fc.forward/bug_mx_swapped_halves", "matches_reference", "n=1"},
    {"fc.forward/bug_mx_bytes_unpadded", "matches_reference", "n=1,k=2"},
    {"quantize_mxfp8.forward/bug_without_signs", "within_rounding_bound", "rows=1"},
    {"quantize_mxfp8.forward/bug_rounds_scale", "within_rounding_bound", "rows=1"},
    {"quantize_mxfp8.forward/bug_by_logarithm", "within_rounding_bound", "rows=1"},
    {"quantize_mxfp8.forward/bug_without_clamp", "within_rounding_bound", "rows=1"},
    {"quantize_mxfp8.forward/bug_exponent_of_256", "within_rounding_bound", "rows=1"},
    {"quantize_mxfp8.forward/bug_gives_nan", "within_rounding_bound", "rows=1"},
    {"quantize_mxfp8.forward/bug_half_away_from_zero", "within_rounding_bound", "rows=1"},
    {"quantize_mxfp8.forward/bug_truncates", "within_rounding_bound", "rows=1"},
};

}  // namespace

TEST_CASE("right kernels of blocks with scales pass, and scales are in bounds and without races") {
    for (const char* kernel :
         {"fc.forward/right_mxfp8", "fc.forward/right_mxfp4", "fc.forward/naive_nvfp4",
          "fc.forward/blocks_mxfp8", "fc.forward/blocks_mxfp4"})
        for (const char* property : {"matches_reference", "within_rounding_bound",
                                     "stays_in_bounds", "repeatable", "free_of_races"})
            check_all_agree(kernel, property, cases);
    for (const char* kernel : {"quantize_mxfp8.forward/right", "quantize_mxfp8.forward/naive",
                               "quantize_mxfp8.forward/packs", "quantize_mxfp8.forward/packs_bf16"})
        for (const char* property :
             {"within_rounding_bound", "stays_in_bounds", "repeatable", "free_of_races"})
            check_all_agree(kernel, property, cases);
}

TEST_CASE("wrong scales, formats and rounding are found at their smallest problem") {
    const KernelSuite suite(Registry::instance());
    for (const Bug& bug : bugs) {
        CAPTURE(bug.kernel);
        const Row row = row_named(bug.kernel, bug.property);
        const Problem smallest = Problem::parse(row.kernel->op->space, bug.smallest);
        const auto fails = [&](std::int64_t i) {
            return suite.run(suite.draw_on(row, 1, i, smallest).print()).verdict == Verdict::failed;
        };
        std::int64_t drawn = 0;
        while (drawn < 300 && !fails(drawn)) ++drawn;
        CHECK(drawn < 300);
    }
}

TEST_CASE("a scale that is read behind the last one is found") {
    const Outcome outcome = run("fc.forward/bug_mx_more_scales", "stays_in_bounds", "n=1:seed=1");
    CHECK(outcome.verdict == Verdict::failed);
}

TEST_CASE("listed numbers must be ones that a block can hold") {
    const auto outcome = [](const std::string& data) {
        return run("fc.forward/right_mxfp4", "within_rounding_bound", "n=1,c=2:data=" + data);
    };
    CHECK(outcome("x[0]=1.5,x[1]=0.25,w[0]=1").verdict == Verdict::passed);
    CHECK_THROWS_WITH(outcome("x[0]=1.5,x[1]=0.2,w[0]=1"),
                      "data: x has a block that mxfp4 can't hold: its numbers are a scale's "
                      "products with numbers of f4e2m1");
}

TEST_CASE("an operator without a gradient has a forward pass alone") {
    for (const char* name : {"adamw", "quantize_mxfp8"}) {
        const Kernel* const kernel =
            Registry::instance().find_kernel(std::string(name) + ".forward/naive");
        REQUIRE(kernel != nullptr);
        CHECK(kernel->op->passes.size() == 1);
    }
}

}  // namespace gradverify
