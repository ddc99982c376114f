// SPDX-License-Identifier: Apache-2.0
// A seed means the same problems, values and settings on every machine and in every build, by one
// number for many draws. Where draws are to change, the printed number becomes the expected one.
#include <doctest/doctest.h>

#include <set>

#include "harness/testing/small_declarations.hpp"
#include "properties/data/drawn_numbers.hpp"
#include "properties/data/seeds.hpp"
#include "properties/data/setting.hpp"
#include "properties/data/whole_numbers.hpp"
#include "properties/problems/generator.hpp"
#include "properties/tests/drawn_values.hpp"
#include "properties/tests/shrinking.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

std::uint64_t digest_of_problems(const KernelDeclaration& kernel, int rank_min, int rank_max,
                                 ProblemGeneratorOptions options = {}) {
    const Operator op = make_test_operator(rank_min, rank_max);
    const ProblemGenerator generator(op, *op.find_pass("grad_weight"), kernel, options);
    REQUIRE(generator.why_none() == "");
    std::uint64_t digest = 0;
    for (int i = 0; i < 1000; ++i)
        digest = mix_seed(digest, generator.draw(static_cast<std::uint64_t>(i), i)->print());
    return digest;
}

}  // namespace

TEST_CASE("the problems of a seed are the same everywhere") {
    CHECK(digest_of_problems(test_kernel(), 2, 2) == 8974952757021522569u);
    CHECK(digest_of_problems(test_kernel().with_empty_problems(), 1, 3) == 10743243626208866571u);
    CHECK(digest_of_problems(plain_kernel(), 2, 2) == 18103264673489376068u);
    KernelDeclaration narrow = test_kernel();
    narrow.where("c", multiple_of(4)).where("c", between(8, 40)).where("n", between(3, 2000));
    narrow.where("k", between(2, 6)).where("stride", same_as("dilation"));
    narrow.where("in_h", multiple_of("filter_h"));
    CHECK(digest_of_problems(narrow, 2, 2) == 8106345503690243279u);
    KernelDeclaration dear = test_kernel();
    dear.costs({.threads_per_output = 256, .barriers_per_thread = 9});
    const WorkBudget small{.multiply_adds = 1e5, .thread_barriers = 3e5, .bytes = 1e5};
    CHECK(digest_of_problems(dear, 2, 2, {.budget = small}) == 8748125779024099225u);
    const WorkBudget least{.multiply_adds = 400, .thread_barriers = 3e5, .bytes = 4000};
    CHECK(digest_of_problems(test_kernel(), 2, 2, {.budget = least}) == 15338055825751970941u);
}

TEST_CASE("the values of a seed are the same everywhere") {
    const Operator op = operator_with_sums_of([](const Problem& p) {
        const std::int64_t factor = p.scalar("n") * p.scalar("c");
        return factor * factor;
    });
    std::uint64_t integers = 0, mantissas = 0, dense_integers = 0, dense_mantissas = 0;
    for (const char* text : {"in=1x1", "n=2,c=3,in=5x4,filter=3x2", "n=8,c=8,in=1x2",
                             "n=64,c=16,k=3,in=1x1", "n=128,c=64,in=1x1"})
        for (const int bits : {24, 11, 8})
            for (std::uint64_t seed = 1; seed <= 10; ++seed) {
                const Problem problem = Problem::parse(op.space, text);
                for (const char* name : {"x", "w", "b", "dy"}) {
                    const auto add_to = [&](std::uint64_t& digest, ValueKind kind, bool is_dense) {
                        const Data data{.seed = seed, .is_dense = is_dense};
                        add(digest, draw_tensor(op, problem, data, kind, bits, name));
                    };
                    add_to(integers, ValueKind::integers, false);
                    add_to(mantissas, ValueKind::mantissas, false);
                    add_to(dense_integers, ValueKind::integers, true);
                    add_to(dense_mantissas, ValueKind::mantissas, true);
                }
            }
    CHECK(integers == 4043080949028921094u);
    CHECK(mantissas == 6625573016424328067u);
    CHECK(dense_integers == 14479497410738410370u);
    CHECK(dense_mantissas == 14866441899945449541u);
    std::uint64_t directions = 0;
    for (const std::int64_t length : {1, 1000, 1 << 20})
        add(directions, draw_direction({{5, 7}, std::vector<double>(35)}, 3, 11, length));
    CHECK(directions == 2940455287838666614u);
    // What is no sum of products has offsets, outliers and special cases now and then.
    Operator smooth = op;
    smooth.algebra = Algebra::smooth;
    std::uint64_t changed = 0;
    for (std::uint64_t seed = 1; seed <= 2000; ++seed)
        for (const char* name : {"x", "dy"})
            add(changed, draw_tensor(smooth, Problem::parse(op.space, "n=2,c=3,in=1x2"),
                                     {.seed = seed}, ValueKind::mantissas, 24, name));
    CHECK(changed == 9875270926969694594u);
}

TEST_CASE("the numbers that fill an array are the same everywhere") {
    std::uint64_t integers = 0, mantissas = 0, dense = 0, indices = 0, domains = 0, special = 0;
    for (const Sizes& sizes : {Sizes{}, {0}, {1}, {16}, {17}, {3, 5, 2}, {40, 3}})
        for (std::uint64_t seed = 1; seed <= 30; ++seed) {
            const SplitMix64 random(seed);
            const auto add_filled = [&](std::uint64_t& digest, auto fill, auto... how) {
                auto array = filled<double>(sizes);
                fill(array, how...);
                add(digest, array);
                return array;
            };
            for (const std::int64_t length : {1, 3, 100, 1 << 20})
                for (const int bits : {8, 11, 24})
                    add_filled(integers, fill_integers, random, length, bits, 64);
            add_filled(mantissas, fill_smooth, random);
            for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
                Array<double> drawn = add_filled(mantissas, fill_mantissas, random, dtype);
                for (const auto& [lowest, highest] :
                     {std::pair(-INFINITY, INFINITY), std::pair(0.0f, 1.0f),
                      std::pair(-8.0f, INFINITY), std::pair(-INFINITY, -1000.0f),
                      std::pair(1000.0f, 1008.0f)}) {
                    Array<double> moved = drawn;
                    moved.data.resize(moved.data.size() + 1);  // a zero
                    move_inside(moved, {lowest, highest}, dtype);
                    add(domains, moved);
                }
                for (const auto change : {add_outliers, make_large}) {
                    Array<double> changed = drawn;
                    change(changed, random, dtype);
                    add(special, changed);
                }
                Array<double> outliers = drawn;
                add_dense_outliers(outliers, seed, dtype);
                add(special, outliers);
                add_offset(drawn, random, dtype);
                add(mantissas, drawn);
                for (const std::int64_t first : {0, 5})
                    add_filled(dense, fill_dense_mantissas, DenseRange{first, 200}, seed, dtype);
            }
            const auto first = static_cast<std::int64_t>(seed % 2) * 6;
            for (const std::int64_t amplitude : {1, 3, 4, 63, 64, 1000})
                for (const std::int64_t total : {120, 126, 128, 1000})
                    add_filled(dense, fill_dense_integers, DenseRange{first, total}, seed,
                               amplitude);
            for (const ValueDomain range :
                 {ValueDomain{0.0, 0.0}, ValueDomain{2.0, 6.0}, ValueDomain{-3.0, 1e6}})
                for (const bool is_dense : {false, true})
                    add_filled(indices, fill_indices, Arrangement::free, range, is_dense, random);
        }
    for (std::uint64_t seed = 1; seed <= 60; ++seed)
        for (const Sizes& sizes : {Sizes{}, {0, 0}, {1}, {2}, {4, 3}, {30, 2}}) {
            auto made = filled<double>(sizes);
            fill_dense_mantissas(made, {0, 1}, seed, DType::f32);
            make_averaging(made);
            add(special, made);
            make_special(made, SplitMix64(seed));
            fill_nan(made, seed, SplitMix64(seed + 1));
            add(special, made);
            fill_ties(made, seed, SplitMix64(seed));
            add(special, made);
            for (const DType dtype : {DType::i32, DType::i64}) {
                put_invalid(made, {2.0, 9.0}, dtype, SplitMix64(seed));
                add(special, made);
            }
        }
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        auto three = filled<double>({3});
        fill_mantissas(three, SplitMix64(seed), DType::f32);
        add(mantissas, three);
    }
    CHECK(integers == 1120278686077159133u);
    CHECK(mantissas == 7454687963074483055u);
    CHECK(dense == 6169069438910174403u);
    CHECK(indices == 3879008503877743612u);
    CHECK(domains == 13266496349773107136u);
    CHECK(special == 1134836405754556738u);
    std::uint64_t short_numbers = 0;
    for (const DType dtype : {DType::f8e4m3, DType::f8e5m2})
        for (std::uint64_t seed = 1; seed <= 100; ++seed) {
            auto array = filled<double>({40});
            fill_whole_range(array, SplitMix64(seed), dtype);
            add(short_numbers, array);
        }
    CHECK(short_numbers == 8849440654459249859u);
}

TEST_CASE("numbers of blocks, beside the steps of 8 bits, and made small are the same everywhere") {
    std::uint64_t blocks = 0, near_steps = 0, small = 0, whole_range = 0;
    for (const Sizes& sizes : {Sizes{}, {0}, {16}, {17}, {2, 16}, {33}, {3, 65}})
        for (std::uint64_t seed = 1; seed <= 60; ++seed) {
            const SplitMix64 random(seed);
            auto array = filled<double>(sizes);
            for (const BlockFormat& format : {mxfp8, mxfp8_e5m2, mxfp4, nvfp4})
                for (const bool is_dense : {false, true}) {
                    fill_blocks(array, random, format, is_dense);
                    add(blocks, array);
                }
            for (const DType rounded : {DType::f8e4m3, DType::f8e5m2, DType::f4e2m1})
                for (const DType dtype : {DType::f16, DType::bf16, DType::f32}) {
                    fill_near_steps(array, random, dtype, rounded);
                    add(near_steps, array);
                }
            // Over and over, down to the least normal number, with zeros and infinities.
            for (const DType dtype : {DType::f16, DType::f32})
                for (const bool is_special : {false, true}) {
                    fill_mantissas(array, random, dtype);
                    if (is_special) make_special(array, random), fill_nan(array, seed, random);
                    for (std::uint64_t turn = 0; turn < 12; ++turn) {
                        make_small(array, SplitMix64(seed + turn), dtype);
                        add(small, array);
                    }
                }
        }
    const Operator op = operator_with_sums_of([](const Problem&) -> std::int64_t { return 8; });
    const KernelDeclaration of_8_bits = test_kernel().storage(DType::f8e4m3);
    const ElementTypes types(of_8_bits, op);
    for (std::uint64_t seed = 0; seed < 100; ++seed)
        for (const bool is_dense : {false, true})
            add(whole_range, draw_tensor(op, Problem::parse(op.space, "n=2,c=3,in=1x2"),
                                         {.seed = seed, .is_dense = is_dense}, ValueKind::mantissas,
                                         types, "x"));
    CHECK(blocks == 6427789969859955643u);
    CHECK(near_steps == 308603578578784304u);
    CHECK(small == 5650134215195035120u);
    CHECK(whole_range == 12053167844936763557u);
}

TEST_CASE("whole numbers of each arrangement are the same everywhere") {
    std::uint64_t indices = 0;
    for (const auto arrangement :
         {Arrangement::free, Arrangement::ascending, Arrangement::distinct, Arrangement::offsets})
        for (const Sizes& sizes : {Sizes{}, {0}, {1}, {4}, {2, 5}})
            for (const ValueDomain range : {ValueDomain{0.0, 4.0}, ValueDomain{2.0, 12.0},
                                            ValueDomain{0.0, 4096.0}, ValueDomain{4000.0, 4100.0}})
                for (std::uint64_t seed = 1; seed <= 40; ++seed)
                    for (const bool is_dense : {false, true}) {
                        auto array = filled<double>(sizes);
                        fill_indices(array, arrangement, range, is_dense, SplitMix64(seed));
                        add(indices, array);
                    }
    CHECK(indices == 3590044960833334490u);
}

TEST_CASE("values of smooth operators and chains, for results of 8 bits and in blocks, are too") {
    const Operator products =
        operator_with_sums_of([](const Problem&) -> std::int64_t { return 8; });
    Operator smooth = products, chain = products;
    smooth.algebra = chain.algebra = Algebra::smooth;
    chain.passes[0].steps.emplace_back();
    const auto digest_of = [](const Operator& op, const KernelDeclaration& kernel) {
        std::uint64_t digest = 0;
        for_each_draw(100, [&](ValueKind kind, const Data& data) {
            for (const char* name : {"x", "dy"})
                add(digest, draw_tensor(op, Problem::parse(op.space, "n=2,c=3,in=1x2"), data, kind,
                                        ElementTypes(kernel, op), name));
        });
        return digest;
    };
    const KernelDeclaration plain = test_kernel(),
                            rounded = test_kernel().storage("y", DType::f8e4m3),
                            scales = test_kernel().storage("y", DType::f8e8m0),
                            in_blocks = test_kernel().block_scaled("x", nvfp4);
    CHECK(digest_of(products, rounded) == 17074354669830714821u);
    CHECK(digest_of(smooth, rounded) == 15477820651778380631u);
    CHECK(digest_of(smooth, plain) == 4269767189296807333u);
    CHECK(digest_of(smooth, scales) == 5137999703768010569u);
    CHECK(digest_of(smooth, in_blocks) == 2657923171947269703u);
    CHECK(digest_of(chain, plain) == 10501486937917334944u);
}

TEST_CASE("huge numbers, as far as an operator's results stay in range, are the same everywhere") {
    std::uint64_t huge = 0;
    const auto add_draws = [&](auto function) {
        const Operator op = elementwise(function);
        for (std::uint64_t seed = 0; seed < 800; ++seed)
            for (const char* name : {"x", "dy"})
                add(huge, draw_tensor(op, Problem::parse(op.space, "n=3"), {.seed = seed},
                                      ValueKind::mantissas, 24, name));
    };
    add_draws([](const auto& x) { return x; });
    add_draws([](const auto& x) { return x * x; });
    add_draws([](const auto& x) { return x * x * x; });
    add_draws([](const auto& x) { return x * x * x * x * x * x * x; });
    CHECK(huge == 2851390317040618982u);
}

TEST_CASE("the settings of a seed are the same everywhere") {
    KernelDeclaration plain = test_kernel(), vectorised = test_kernel().aligned_to(16);
    KernelDeclaration free = test_kernel().aligned_to(2).blocks_of({256, 64, 32});
    KernelDeclaration chosen = test_kernel().in_place("dw", "dy").in_place("dw", "x");
    chosen.takes_output_mask = true;
    std::uint64_t digest = 0;
    for (const KernelDeclaration* kernel : {&plain, &vectorised, &free, &chosen})
        for (std::uint64_t seed = 0; seed < 300; ++seed)
            digest =
                mix_seed(digest, Case{.kernel = kernel->full_name(),
                                      .property = "repeatable",
                                      .device = "cpu",
                                      .problem = Problem(test_operator().space, 2),
                                      .data = {},
                                      .setting = draw_setting(TestKernel(*kernel).kernel, seed)}
                                     .print());
    CHECK(digest == 14994375256576468814u);
}

TEST_CASE("the seed of a case differs as soon as one of its four keys differs") {
    std::set<std::uint64_t> seeds;
    int keys = 0;
    // Letters that move from the kernel's name to the property's make another key.
    for (const std::uint64_t seed : {0u, 1u, 2u})
        for (const char* kernel : {"ab", "a", ""})
            for (const char* property : {"c", "bc", "a", ""})
                for (std::int64_t index = 0; index < 1000; ++index, ++keys)
                    seeds.insert(draw_seed({seed, kernel, property, index}));
    CHECK(static_cast<int>(seeds.size()) == keys);
}

TEST_CASE("the seed of a case never changes, so that an old run can be repeated") {
    CHECK(draw_seed({1, "conv.forward/naive", "matches_reference", 7}) == 9847457930024047071u);
    CHECK(mix_seed(1, "data") == 15688076610871342501u);
}
