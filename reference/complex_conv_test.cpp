// SPDX-License-Identifier: Apache-2.0
// The reference of complex_conv against values worked by hand, against a sum of std::complex
// products over every index, which shares nothing with it, and against conv on real numbers.
#include "reference/complex_conv.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <map>

#include "harness/base/random.hpp"
#include "harness/registry/layout.hpp"
#include "harness/registry/registry.hpp"
#include "reference/tests/run_pass.hpp"

namespace gradverify {

namespace {

using testing::Numbers;
using testing::run;
using Complex = std::complex<double>;

const Operator& complex_conv_operator() {
    return *Registry::instance().find_operator("complex_conv");
}

constexpr const char* problems[] = {
    "in=1",
    "n=2,c=3,k=2,in=5,filter=3,stride=2,dilation=2,padding=1+2",
    "n=2,c=4,k=6,groups=2,in=6x5,filter=2x3,stride=1x2,dilation=2x1,padding=0x3",
    "c=6,k=6,groups=6,in=4x9,filter=3x3,stride=3x1,padding=1x1",
    "c=2,k=4,groups=2,in=3x2x4,filter=2x1x3,stride=2x1x1,dilation=1x3x1,padding=1+0x0x1+2",
    "n=3,c=2,k=2,in=2x2,filter=5x4,padding=2x2",
    "n=2,in=3x3,filter=4x1",
    "n=0,c=2,k=2,in=3x3",
};

/// No zeros, so that every product is a term of a sum.
Array<double> draw(const std::string& tensor, const Problem& problem) {
    Array<double> array{complex_conv_operator().sizes_of(tensor, problem), {}};
    SplitMix64 random(mix_seed(5, tensor));
    for (std::int64_t i = 0; i < element_count(array.sizes); ++i)
        array.data.push_back(
            static_cast<double>(random.between(1, 9) * (random.one_in(2) ? 1 : -1)));
    return array;
}

/// A complex number, and the products of real numbers whose sums are its two parts.
struct Sum {
    Complex value;
    std::array<double, 2> magnitude{}, terms{};

    void add(const Complex& a, const Complex& b) {
        value += a * b;
        magnitude[0] += std::abs(a.real() * b.real()) + std::abs(a.imag() * b.imag());
        magnitude[1] += std::abs(a.real() * b.imag()) + std::abs(a.imag() * b.real());
        for (double& count : terms) count += 2;
    }
    void add(const Complex& a) {
        value += a;
        magnitude[0] += std::abs(a.real()), magnitude[1] += std::abs(a.imag());
        for (double& count : terms) count += 1;
    }
};

using Position = std::array<std::int64_t, 3>;

/// What the definition says, one complex product at a time.
class Direct {
  public:
    std::map<std::string, std::vector<Sum>> of;

    explicit Direct(const Problem& problem) : p_(problem) {
        for (const char* name : {"x", "w", "b", "dy"}) given_[name] = draw(name, problem);
        for (const char* name : {"y", "dx", "dw", "db"})
            of[name].resize(static_cast<std::size_t>(
                element_count(complex_conv_operator().sizes_of(name, problem)) / 2));
        for (int axis = 0; axis < p_.rank; ++axis) {
            in_[at(axis)] = given_["x"].size(2 + axis);
            filter_[at(axis)] = given_["w"].size(2 + axis);
            out_[at(axis)] = given_["dy"].size(2 + axis);
        }
        for (std::int64_t n = 0; n < p_.n; ++n)
            for (std::int64_t k = 0; k < p_.k; ++k)
                for_each(out_, [&](const Position& o) { add_output(n, k, o); });
    }

    const Numbers& given(const std::string& name) { return given_[name].data; }

  private:
    std::size_t at(int axis) const { return static_cast<std::size_t>(axis + 3 - p_.rank); }
    template <class Visit>
    static void for_each(const Position& sizes, Visit visit) {
        for (std::int64_t i = 0; i < sizes[0]; ++i)
            for (std::int64_t j = 0; j < sizes[1]; ++j)
                for (std::int64_t l = 0; l < sizes[2]; ++l) visit(Position{i, j, l});
    }
    static std::size_t flat(std::int64_t channel, const Position& sizes, const Position& position) {
        return static_cast<std::size_t>(
            ((channel * sizes[0] + position[0]) * sizes[1] + position[1]) * sizes[2] + position[2]);
    }
    Complex number(const char* name, std::size_t i) {
        return {given_[name].data[2 * i], given_[name].data[2 * i + 1]};
    }
    void add_output(std::int64_t n, std::int64_t k, const Position& o) {
        const std::size_t y = flat(n * p_.k + k, out_, o), channel = static_cast<std::size_t>(k);
        of["y"][y].add(number("b", channel));
        of["db"][channel].add(number("dy", y));
        const std::int64_t group_c = p_.c / p_.groups, group_k = p_.k / p_.groups;
        for (std::int64_t c = 0; c < group_c; ++c)
            for_each(filter_, [&](const Position& f) {
                Position i{};
                for (int axis = 0; axis < p_.rank; ++axis) {
                    const conv::Axis& a = p_.axes[static_cast<std::size_t>(axis)];
                    i[at(axis)] =
                        o[at(axis)] * a.stride + f[at(axis)] * a.dilation - a.padding_left;
                    if (i[at(axis)] < 0 || i[at(axis)] >= a.in) return;
                }
                const std::size_t x = flat(n * p_.c + k / group_k * group_c + c, in_, i);
                const std::size_t w = flat(k * group_c + c, filter_, f);
                of["y"][y].add(number("x", x), number("w", w));
                of["dx"][x].add(number("dy", y), std::conj(number("w", w)));
                of["dw"][w].add(number("dy", y), std::conj(number("x", x)));
            });
    }

    conv::Parameters p_;
    Position in_{1, 1, 1}, filter_{1, 1, 1}, out_{1, 1, 1};
    std::map<std::string, Array<double>> given_;
};

Numbers parts_of(const std::vector<Sum>& sums) {
    Numbers numbers;
    for (const Sum& sum : sums) {
        numbers.push_back(sum.value.real());
        numbers.push_back(sum.value.imag());
    }
    return numbers;
}

}  // namespace

TEST_CASE("complex_conv gives the values worked by hand for one product") {
    // (1 + 2i)(3 + 4i) + (5 + 6i) = 16i
    CHECK(run("complex_conv", "forward", "in=1", {{"x", {1, 2}}, {"w", {3, 4}}, {"b", {5, 6}}})[0]
              .data == Numbers{0, 16});
    // (2 - i)(3 - 4i), (2 - i)(1 - 2i)
    const auto gradients =
        run("complex_conv", "backward", "in=1", {{"dy", {2, -1}}, {"x", {1, 2}}, {"w", {3, 4}}});
    CHECK(gradients[0].data == Numbers{2, -11});
    CHECK(gradients[1].data == Numbers{0, -5});
    CHECK(gradients[2].data == Numbers{2, -1});
}

TEST_CASE("every pass of complex_conv equals the sum of std::complex products") {
    for (const char* text : problems) {
        CAPTURE(std::string(text));
        Direct direct(Problem::parse(complex_conv_operator().space, text));
        for (const PassSpec& pass : complex_conv_operator().passes) {
            CAPTURE(pass.name);
            std::vector<std::pair<std::string, Numbers>> inputs;
            for (const std::string& name : pass.inputs)
                inputs.emplace_back(name, direct.given(name));
            const auto results = run("complex_conv", pass.name, text, inputs);
            for (std::size_t i = 0; i < results.size(); ++i)
                CHECK(results[i].data == parts_of(direct.of[pass.outputs[i]]));
        }
    }
}

TEST_CASE("complex_conv's bound is that of the sum of all products of real numbers") {
    for (const char* text : problems) {
        CAPTURE(std::string(text));
        const Problem problem = Problem::parse(complex_conv_operator().space, text);
        Direct direct(problem);
        for (const PassSpec& pass : complex_conv_operator().passes) {
            CAPTURE(pass.name);
            std::vector<Array<Bounded>> inputs, results;
            for (const std::string& name : pass.inputs) {
                const Numbers& numbers = direct.given(name);
                inputs.push_back({complex_conv_operator().sizes_of(name, problem),
                                  {numbers.begin(), numbers.end()}});
            }
            for (const std::string& name : pass.outputs) {
                results.push_back({complex_conv_operator().sizes_of(name, problem), {}});
                results.back().data.resize(2 * direct.of[name].size(), Bounded(0.0));
            }
            pass.bounded_reference(problem, inputs, results);
            double longest = 0;
            for (std::size_t i = 0; i < results.size(); ++i)
                for (std::size_t at = 0; at < results[i].data.size(); ++at) {
                    const Sum& sum = direct.of[pass.outputs[i]][at / 2];
                    const Bounded& bounded = results[i].data[at];
                    CHECK(bounded.magnitude() == sum.magnitude[at % 2]);
                    CHECK(bounded.additions() == std::max(sum.terms[at % 2] - 1, 0.0));
                    longest = std::max(longest, sum.terms[at % 2]);
                }
            CHECK(static_cast<double>(pass.reduction_length(problem)) >= longest);
        }
    }
}

TEST_CASE("complex_conv of real numbers is conv, and its imaginary parts are zero") {
    const std::string text = "n=2,c=4,k=2,groups=2,in=4x3x5,filter=2,padding=1";
    const Problem problem = Problem::parse(complex_conv_operator().space, text);
    const auto real_parts = [](const Numbers& pairs) {
        Numbers numbers;
        for (std::size_t i = 0; i < pairs.size(); i += 2) numbers.push_back(pairs[i]);
        return numbers;
    };
    for (const PassSpec& pass : complex_conv_operator().passes) {
        CAPTURE(pass.name);
        std::vector<std::pair<std::string, Numbers>> pairs, numbers;
        for (const std::string& name : pass.inputs) {
            Numbers drawn = draw(name, problem).data;
            for (std::size_t i = 1; i < drawn.size(); i += 2) drawn[i] = 0;
            pairs.emplace_back(name, drawn);
            numbers.emplace_back(name, real_parts(drawn));
        }
        const auto results = run("complex_conv", pass.name, text, pairs);
        const auto of_conv = run("conv", pass.name, text, numbers);
        for (std::size_t i = 0; i < results.size(); ++i) {
            CHECK(real_parts(results[i].data) == of_conv[i].data);
            for (std::size_t at = 1; at < results[i].data.size(); at += 2)
                CHECK(results[i].data[at] == 0.0);
        }
    }
}

TEST_CASE("complex_conv counts four products of real numbers for one of complex ones") {
    const char* text = "n=2,c=4,k=6,groups=2,in=5x5,filter=3x2";
    const Operator& op = complex_conv_operator();
    const Problem problem = Problem::parse(op.space, text);
    const double outputs = 2 * 6 * 3 * 4;
    CHECK(op.forward().multiply_adds(problem) == 4 * outputs * 2 * 6);
    CHECK(op.find_pass("grad_bias")->multiply_adds(problem) == 2 * outputs);
    CHECK(op.find_pass("backward")->multiply_adds(problem) == 8 * outputs * 2 * 6 + 2 * outputs);
    CHECK(op.forward().reduction_length(problem) == 2 * 2 * 6 + 1);
    CHECK(op.find_pass("grad_input")->reduction_length(problem) == 2 * 3 * 6);
    CHECK(op.find_pass("grad_weight")->reduction_length(problem) == 2 * 2 * 3 * 4);
    CHECK(op.find_pass("grad_bias")->reduction_length(problem) == 2 * 3 * 4);
    CHECK(op.find_pass("backward")->reduction_length(problem) == 2 * 2 * 3 * 4);
}

TEST_CASE("a pair is innermost in every layout of complex_conv") {
    const Operator& op = complex_conv_operator();
    for (const TensorSpec* tensor : {&op.inputs[0], &op.inputs[1], &op.outputs[0]})
        for (const AxisOrder& order : tensor->orders)
            for (const int rank : {4, 5, 6}) {
                const std::vector<int> axes = order.axes(rank);
                CHECK(axes.size() == static_cast<std::size_t>(rank));
                CHECK(axes.back() == rank - 1);
            }
    CHECK(op.inputs[0].orders.size() == 2);  // no more than an order of the axes
    CHECK(op.inputs[1].orders.size() == 3);
    CHECK(op.inputs[0].orders[1].axes(5) == std::vector<int>{0, 2, 3, 1, 4});
}

TEST_CASE("a kernel of pairs may name layouts, but not take any strides") {
    const Operator& op = complex_conv_operator();
    const PassSpec& pass = *op.find_pass("grad_input");
    KernelDeclaration named, strided;
    CHECK(mistakes_in_layouts(named.layout_of("w", {"ohwi", "oihw"}), op, pass).empty());
    CHECK(mistakes_in_layouts(strided.strided("dx"), op, pass) ==
          std::vector<std::string>{"dx holds pairs, which padded rows would take apart: name its "
                                   "layouts by layout_of instead of strided"});
}

}  // namespace gradverify
