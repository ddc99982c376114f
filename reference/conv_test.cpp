// SPDX-License-Identifier: Apache-2.0
// The reference of conv against values worked by hand and a direct sum over every index.
#include "reference/conv.hpp"

#include "reference/tests/run_pass.hpp"

namespace gradverify {

using namespace testing;

namespace {

const Operator& op() { return operator_of("conv"); }

Named random_tensors(const Problem& problem) {
    Named all;
    for (const char* name : {"x", "w", "b", "dy"})
        all.emplace_back(name, random_numbers(op(), name, problem));
    return all;
}

Numbers run_one(const std::string& pass, const Problem& problem, const Named& in) {
    return run(op(), *op().find_pass(pass), problem, in)[0];
}

/// What the definition says, one product at a time.
struct Direct {
    Numbers y, dx, dw, db;

    Direct(const Problem& problem, const Named& in)
        : y(in[3].second.size()),
          dx(in[0].second.size()),
          dw(in[1].second.size()),
          db(in[2].second.size()) {
        const Sizes out = op().sizes_of("y", problem);
        for (std::int64_t n = 0; n < out[0]; ++n)
            for (std::int64_t k = 0; k < out[1]; ++k)
                for (std::int64_t oh = 0; oh < out[2]; ++oh)
                    for (std::int64_t ow = 0; ow < out[3]; ++ow) {
                        const auto o = at(out, n, k, oh, ow);
                        y[o] += in[2].second[static_cast<std::size_t>(k)];
                        db[static_cast<std::size_t>(k)] += in[3].second[o];
                        add_taps(problem, in, o, {n, k, oh, ow});
                    }
    }

  private:
    static std::size_t at(const Sizes& of, std::int64_t i, std::int64_t j, std::int64_t h,
                          std::int64_t w) {
        return static_cast<std::size_t>(((i * of[1] + j) * of[2] + h) * of[3] + w);
    }
    void add_taps(const Problem& problem, const Named& in, std::size_t o, const Sizes& output) {
        const conv::Parameters p(problem);
        const Sizes of_x = op().sizes_of("x", problem), of_w = op().sizes_of("w", problem);
        const Numbers &x = in[0].second, &w = in[1].second, &dy = in[3].second;
        const std::int64_t k = output[1], first_c = k / (p.k / p.groups) * of_w[1];
        const auto pixel = [](const conv::Axis& axis, std::int64_t out, std::int64_t tap) {
            return out * axis.stride + tap * axis.dilation - axis.padding_left;
        };
        for (std::int64_t c = 0; c < of_w[1]; ++c)
            for (std::int64_t fh = 0; fh < of_w[2]; ++fh)
                for (std::int64_t fw = 0; fw < of_w[3]; ++fw) {
                    const std::int64_t ih = pixel(p.h(), output[2], fh);
                    const std::int64_t iw = pixel(p.w(), output[3], fw);
                    if (ih < 0 || iw < 0 || ih >= of_x[2] || iw >= of_x[3]) continue;
                    const auto f = at(of_w, k, c, fh, fw);
                    const auto i = at(of_x, output[0], first_c + c, ih, iw);
                    y[o] += x[i] * w[f];
                    dx[i] += dy[o] * w[f];
                    dw[f] += dy[o] * x[i];
                }
    }
};

}  // namespace

TEST_CASE("conv.forward gives the values worked by hand for a 3x3 image and a 2x2 filter") {
    // Each output is a pixel minus its lower right neighbour, plus 10: 1 - 5 + 10 = 6 everywhere.
    const Named in{{"x", {1, 2, 3, 4, 5, 6, 7, 8, 9}}, {"w", {1, 0, 0, -1}}, {"b", {10}}};
    CHECK(run("conv", "forward", "in=3x3,filter=2x2", in)[0] == Numbers{6, 6, 6, 6});
}

TEST_CASE("every pass of conv equals the direct sum, whatever the geometry") {
    for (const char* text : {
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
         }) {
        CAPTURE(std::string(text));
        const Problem problem = valid_problem(op(), text);
        const Named in = random_tensors(problem);
        const Direct direct(problem, in);
        CHECK(op().is_empty(problem) == direct.y.empty());
        CHECK(run_one("forward", problem, in) == direct.y);
        CHECK(run_one("grad_input", problem, in) == direct.dx);
        CHECK(run_one("grad_weight", problem, in) == direct.dw);
        CHECK(run_one("grad_bias", problem, in) == direct.db);
    }
}

TEST_CASE("conv refuses groups that do not divide the channels") {
    const auto why = [](const char* text) { return why_invalid(op(), text); };
    CHECK(why("c=3,k=2,groups=2,in=1x1") == "conv needs c multiple of groups");
    CHECK(why("c=2,k=3,groups=2,in=1x1") == "conv needs k multiple of groups");
    CHECK(why("in=3x3,padding=1+0x0+0") == "");
    CHECK(why("c=2,k=4,groups=2,in=3x3,padding=1") == "");
}

TEST_CASE("the products counted are those of the direct sum, padding included") {
    const Problem problem = valid_problem(op(), "n=2,c=4,k=6,groups=2,in=5x5,filter=3x2");
    const double products = 2.0 * 6 * 2 * 6 * 3 * 4, additions = 2.0 * 6 * 3 * 4;
    CHECK(op().forward().multiply_adds(problem) == products);
    CHECK(op().find_pass("grad_bias")->multiply_adds(problem) == additions);
    CHECK(op().find_pass("backward")->multiply_adds(problem) == 2.0 * products + additions);
    CHECK(op().find_pass("grad_weight")->reduction_length(problem) == 2 * 3 * 4);
}

}  // namespace gradverify
