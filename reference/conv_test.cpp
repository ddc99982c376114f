// SPDX-License-Identifier: Apache-2.0
// The reference of conv against values worked by hand and against a direct sum over every index,
// which shares nothing with it.
#include "reference/conv.hpp"

#include <doctest/doctest.h>

#include "harness/base/random.hpp"
#include "harness/registry/registry.hpp"

namespace gradverify {

namespace {

const Operator& conv_operator() { return *Registry::instance().find_operator("conv"); }

std::vector<Array<double>> run(const std::string& pass_name, const Problem& problem,
                               const std::vector<Array<double>>& inputs) {
    const PassSpec& pass = *conv_operator().find_pass(pass_name);
    std::vector<Array<double>> outputs;
    for (const std::string& name : pass.outputs) {
        const Sizes sizes = conv_operator().sizes_of(name, problem);
        outputs.push_back(
            {sizes, std::vector<double>(static_cast<std::size_t>(element_count(sizes)), 0.0)});
    }
    pass.reference(problem, inputs, outputs);
    return outputs;
}

Array<double> random_array(const std::string& tensor, const Problem& problem) {
    Array<double> array{conv_operator().sizes_of(tensor, problem), {}};
    SplitMix64 random(mix_seed(11, tensor));
    for (std::int64_t i = 0; i < element_count(array.sizes); ++i)
        array.data.push_back(static_cast<double>(random.between(-9, 9)));
    return array;
}

/// What the definition says, one product at a time.
struct Direct {
    std::vector<double> y, dx, dw, db;

    Direct(const conv::Parameters& p, const Array<double>& x, const Array<double>& w,
           const Array<double>& b, const Array<double>& dy)
        : y(dy.data.size()), dx(x.data.size()), dw(w.data.size()), db(b.data.size()) {
        for (std::int64_t n = 0; n < p.n; ++n)
            for (std::int64_t k = 0; k < p.k; ++k)
                for (std::int64_t oh = 0; oh < dy.size(2); ++oh)
                    for (std::int64_t ow = 0; ow < dy.size(3); ++ow) {
                        const auto o = at(dy, n, k, oh, ow);
                        y[o] += b.data[static_cast<std::size_t>(k)];
                        db[static_cast<std::size_t>(k)] += dy.data[o];
                        add_taps(p, x, w, dy, n, k, oh, ow);
                    }
    }

  private:
    static std::size_t at(const Array<double>& a, std::int64_t i, std::int64_t j, std::int64_t h,
                          std::int64_t w) {
        return static_cast<std::size_t>(((i * a.size(1) + j) * a.size(2) + h) * a.size(3) + w);
    }
    void add_taps(const conv::Parameters& p, const Array<double>& x, const Array<double>& w,
                  const Array<double>& dy, std::int64_t n, std::int64_t k, std::int64_t oh,
                  std::int64_t ow) {
        const std::int64_t c_per_group = p.c / p.groups, k_per_group = p.k / p.groups;
        for (std::int64_t c = 0; c < c_per_group; ++c)
            for (std::int64_t fh = 0; fh < p.h().filter; ++fh)
                for (std::int64_t fw = 0; fw < p.w().filter; ++fw) {
                    const std::int64_t ih =
                        oh * p.h().stride + fh * p.h().dilation - p.h().padding_left;
                    const std::int64_t iw =
                        ow * p.w().stride + fw * p.w().dilation - p.w().padding_left;
                    if (ih < 0 || iw < 0 || ih >= p.h().in || iw >= p.w().in) continue;
                    const auto o = at(dy, n, k, oh, ow), f = at(w, k, c, fh, fw);
                    const auto i = at(x, n, k / k_per_group * c_per_group + c, ih, iw);
                    y[o] += x.data[i] * w.data[f];
                    dx[i] += dy.data[o] * w.data[f];
                    dw[f] += dy.data[o] * x.data[i];
                }
    }
};

}  // namespace

TEST_CASE("conv.forward gives the values worked by hand for a 3x3 image and a 2x2 filter") {
    const Problem problem = Problem::parse(conv_operator().space, "in=3x3,filter=2x2");
    const Array<double> x{{1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}};
    const Array<double> w{{1, 1, 2, 2}, {1, 0, 0, -1}};
    const Array<double> b{{1}, {10}};
    // Each output is a pixel minus its lower right neighbour, plus 10: 1 - 5 + 10 = 6 everywhere.
    CHECK(run("forward", problem, {x, w, b})[0].data == std::vector<double>{6, 6, 6, 6});
}

TEST_CASE("every pass of conv equals the direct sum, whatever the geometry") {
    const char* problems[] = {
        "in=1x1",
        "in=1x2,dilation=1x2",
        "n=2,c=3,k=2,in=5x7,filter=3x2,stride=2x3,padding=1x2",
        "n=2,c=4,k=6,groups=2,in=6x5,filter=2x3,stride=1x2,dilation=2x1,padding=0x3",
        "c=6,k=6,groups=6,in=4x9,filter=3x3,stride=3x1,padding=1x1",
        "n=3,c=2,k=2,in=2x2,filter=5x4,padding=2x2",
        "n=2,in=3x3,filter=4x1",
        "n=0,c=2,k=2,in=3x3",
        "k=3,in=1x8,filter=1x3,stride=1x5,dilation=1x3,padding=4x0",
        "n=2,c=2,k=2,in=4x5,filter=2x3,stride=2x1,padding=0+3x2+0",
        "in=2x2,filter=1x1,padding=1+0x0+2",
    };
    for (const char* text : problems) {
        CAPTURE(std::string(text));
        const Problem problem = Problem::parse(conv_operator().space, text);
        REQUIRE_FALSE(conv_operator().validate(problem));
        const auto x = random_array("x", problem), w = random_array("w", problem);
        const auto b = random_array("b", problem), dy = random_array("dy", problem);
        const Direct direct(conv::Parameters(problem), x, w, b, dy);
        CHECK(run("forward", problem, {x, w, b})[0].data == direct.y);
        CHECK(run("grad_input", problem, {dy, w})[0].data == direct.dx);
        CHECK(run("grad_weight", problem, {dy, x})[0].data == direct.dw);
        CHECK(run("grad_bias", problem, {dy})[0].data == direct.db);
    }
}

TEST_CASE("an axis of one element more or less changes nothing") {
    const char* problems[][3] = {
        {"in=7,filter=3,stride=2,dilation=2,padding=1+2",
         "in=1x7,filter=1x3,stride=1x2,dilation=1x2,padding=0+0x1+2",
         "in=1x1x7,filter=1x1x3,stride=1x1x2,dilation=1x1x2,padding=0+0x0+0x1+2"},
        {"in=5,filter=5,padding=4", "in=1x5,filter=1x5,padding=0x4",
         "in=1x1x5,filter=1x1x5,padding=0x0x4"}};
    for (const auto& of_ranks : problems) {
        std::vector<std::vector<double>> results;
        for (const char* text : of_ranks) {
            const Problem problem =
                Problem::parse(conv_operator().space, std::string("n=2,c=4,k=2,groups=2,") + text);
            const auto x = random_array("x", problem), w = random_array("w", problem);
            const auto b = random_array("b", problem), dy = random_array("dy", problem);
            std::vector<double> all;
            for (const auto& result :
                 {run("forward", problem, {x, w, b})[0], run("grad_input", problem, {dy, w})[0],
                  run("grad_weight", problem, {dy, x})[0]})
                all.insert(all.end(), result.data.begin(), result.data.end());
            results.push_back(all);
        }
        CHECK(results[0] == results[1]);
        CHECK(results[0] == results[2]);
    }
}

TEST_CASE("conv.backward is the three gradients in one") {
    const Problem problem =
        Problem::parse(conv_operator().space, "n=2,c=2,k=4,groups=2,in=4x3x5,filter=2,padding=1");
    const auto x = random_array("x", problem), w = random_array("w", problem);
    const auto dy = random_array("dy", problem);
    const auto all = run("backward", problem, {dy, x, w});
    CHECK(all[0].data == run("grad_input", problem, {dy, w})[0].data);
    CHECK(all[1].data == run("grad_weight", problem, {dy, x})[0].data);
    CHECK(all[2].data == run("grad_bias", problem, {dy})[0].data);
    CHECK(conv_operator().find_pass("backward")->multiply_adds(problem) ==
          2.0 * conv_operator().forward().multiply_adds(problem) + dy.data.size());
}

TEST_CASE("conv's empty problems have zero gradients") {
    for (const char* text : {"n=0,c=2,k=2,in=3x3,filter=2x2", "n=2,c=2,k=2,in=3x3,filter=4x1"}) {
        CAPTURE(std::string(text));
        const Problem problem = Problem::parse(conv_operator().space, text);
        CHECK(conv_operator().is_empty(problem));
        const auto x = random_array("x", problem), w = random_array("w", problem);
        const auto dy = random_array("dy", problem);
        CHECK(dy.data.empty());
        const auto all_zero = [](const Array<double>& a) {
            return std::ranges::all_of(a.data, [](double v) { return v == 0.0; });
        };
        CHECK(all_zero(run("grad_weight", problem, {dy, x})[0]));
        CHECK(all_zero(run("grad_bias", problem, {dy})[0]));
        CHECK(all_zero(run("grad_input", problem, {dy, w})[0]));
    }
}

TEST_CASE("conv refuses groups that do not divide the channels") {
    const auto why = [](const char* text) {
        return conv_operator().validate(Problem::parse(conv_operator().space, text)).value_or("");
    };
    CHECK(why("c=3,k=2,groups=2,in=1x1") == "conv needs c multiple of groups");
    CHECK(why("c=2,k=3,groups=2,in=1x1") == "conv needs k multiple of groups");
    CHECK(why("in=3x3,padding=1+0x0+0") == "");
    CHECK(why("c=2,k=4,groups=2,in=3x3,padding=1") == "");
}

TEST_CASE("the products counted are those of the direct sum, padding included") {
    const Problem problem =
        Problem::parse(conv_operator().space, "n=2,c=4,k=6,groups=2,in=5x5,filter=3x2");
    CHECK(conv_operator().forward().multiply_adds(problem) == 2.0 * 6 * 2 * 6 * 3 * 4);
    CHECK(conv_operator().find_pass("grad_bias")->multiply_adds(problem) == 2.0 * 6 * 3 * 4);
    CHECK(conv_operator().find_pass("grad_weight")->reduction_length(problem) == 2 * 3 * 4);
}

}  // namespace gradverify
