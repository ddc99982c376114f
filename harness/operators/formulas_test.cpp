// SPDX-License-Identifier: Apache-2.0
// What the two bounds say of formulas that people write, each computed in float here: right by the
// operator's own bound, imprecise (right by that of any reasonable formula alone), or wrong. The
// table stands in docs/formulas.md.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>

#include "harness/base/random.hpp"
#include "harness/declare_operator.hpp"

namespace {

using namespace gradverify;

using Floats = std::vector<float>;
using Arrays = std::vector<Array<double>>;

enum class Judgement { right, imprecise, wrong };
constexpr std::array<const char*, 3> words{"right", "imprecise", "wrong"};

/// An operator on rows of numbers, each drawn from [from, to].
struct Subject {
    std::string operation;
    Operator op;
    const char* pass;
    double from, to;
    /// Added to all numbers of a row.
    double shift = 0.0;
};

template <class Forward>
OperatorDeclaration on_rows(Forward forward) {
    return declare_operator("rows")
        .parameter("n")
        .parameter("v")
        .input("x", {"n", "v"})
        .output("y", {"n", "v"})
        .forward(forward)
        .gradient("backward", {"dy", "x"}, {"dx"})
        .gradient("from_saved", {"dy", "x", "y"}, {"dx"});
}

template <class Function>
Subject elementwise(const char* operation, const char* pass, Function function, double from = -30.0,
                    double to = 30.0) {
    const auto forward = [function]<class T>(const ForwardCall<T>& call) {
        const auto x = call.input("x");
        for (std::int64_t i = 0; i < x.size(0); ++i)
            for (std::int64_t j = 0; j < x.size(1); ++j) call.output("y")(i, j) = function(x(i, j));
    };
    return {operation, on_rows(forward), pass, from, to};
}

/// `function` takes a row and gives one of the same length.
template <class Function>
Subject by_row(const char* operation, const char* pass, Function function, double from, double to,
               double shift = 0.0) {
    const auto forward = [function]<class T>(const ForwardCall<T>& call) {
        const auto x = call.input("x");
        for (std::int64_t i = 0; i < x.size(0); ++i) {
            std::vector<T> row;
            for (std::int64_t j = 0; j < x.size(1); ++j) row.push_back(x(i, j));
            const std::vector<T> y = function(row);
            for (std::int64_t j = 0; j < x.size(1); ++j)
                call.output("y")(i, j) = y[static_cast<std::size_t>(j)];
        }
    };
    return {operation, on_rows(forward).branches_decide(), pass, from, to, shift};
}

/// How far the results of a formula are from what is expected, at worst, as shares of the bounds.
struct Distance {
    double by_own = 0.0, by_any = 0.0;

    Judgement judgement() const {
        return by_own <= 1.0   ? Judgement::right
               : by_any <= 1.0 ? Judgement::imprecise
                               : Judgement::wrong;
    }
};

/// `formula` gives a row of results from the rows of dy (empty forwards) and x.
Distance distance_of(const Subject& subject,
                     const std::function<Floats(const Floats& dy, const Floats& x)>& formula) {
    constexpr std::size_t rows = 200, width = 8;
    const Problem problem = Problem::parse(subject.op.space, fmt::format("n={},v={}", rows, width));
    const PassSpec& pass = *subject.op.find_pass(subject.pass);
    SplitMix64 random(7);
    const auto draw = [&](double from, double to) {
        const double share = static_cast<double>(random.between(0, 1 << 24)) * 0x1p-24;
        return static_cast<double>(static_cast<float>(from + (to - from) * share));
    };
    Arrays taken;
    if (!pass.is_forward()) taken.push_back(filled<double>({rows, width}));
    taken.push_back(filled<double>({rows, width}));
    for (double& x : taken.back().data)
        x = static_cast<float>(subject.shift + draw(subject.from, subject.to));
    if (!pass.is_forward())
        for (double& dy : taken.front().data) dy = draw(-1.0, 1.0);
    const ScopedRounding rounding(Rounding::of(DType::f32));
    const auto own = bounded_outputs(subject.op, pass, problem, taken)[0];
    current_rounding.loss_of_saved = traits_of(DType::f32).unit_roundoff;
    const auto any = bounded_outputs(subject.op, pass, problem, taken, Formula::any)[0];
    Distance distance;
    for (std::size_t row = 0; row < rows; ++row) {
        const auto row_of = [&](const Array<double>& array) {
            const auto begin = array.data.begin() + static_cast<std::ptrdiff_t>(row * width);
            return Floats(begin, begin + width);
        };
        const Floats got =
            formula(pass.is_forward() ? Floats() : row_of(taken.front()), row_of(taken.back()));
        for (std::size_t j = 0; j < width; ++j) {
            const std::size_t at = row * width + j;
            const double error = std::abs(static_cast<double>(got[j]) - own.data[at].value());
            const auto share = [&](const Bounded& bound) {
                if (std::isinf(bound.error())) return 0.0;
                return error == 0.0 ? 0.0 : std::isnan(error) ? INFINITY : error / bound.error();
            };
            distance.by_own = std::max(distance.by_own, share(own.data[at]));
            distance.by_any = std::max(distance.by_any, share(any.data[at]));
        }
    }
    return distance;
}

/// A formula of one element.
auto each(auto function) {
    return [function](const Floats& dy, const Floats& x) {
        Floats y;
        for (std::size_t j = 0; j < x.size(); ++j)
            y.push_back(dy.empty() ? function(x[j]) : dy[j] * function(x[j]));
        return y;
    };
}

float logistic(float x) { return 1.0f / (1.0f + std::exp(-x)); }
float soft_plus(float x) { return x > 20.0f ? x : std::log1p(std::exp(x)); }
float sum(const Floats& x) {
    float total = 0.0f;
    for (const float one : x) total += one;
    return total;
}
float largest(const Floats& x) { return *std::ranges::max_element(x); }
template <class Function>
Floats mapped(const Floats& x, Function function) {
    Floats y;
    for (const float one : x) y.push_back(function(one));
    return y;
}

constexpr float root_2 = 1.41421356f, density_scale = 0.39894228f;
constexpr float gelu_scale = 0.79788456f, gelu_cubic = 0.044715f;

struct Entry {
    Subject subject;
    std::string formula;
    std::function<Floats(const Floats&, const Floats&)> compute;
    Judgement expected;
};

/// The largest number, and the sum of the exponentials of all less that.
template <class T>
std::pair<T, T> most_and_total(const std::vector<T>& x) {
    T most = x[0], total = 0.0;
    for (const T& one : x) most = max(most, one);
    for (const T& one : x) total += exp(one - most);
    return {most, total};
}
const auto softmax_row = []<class T>(const std::vector<T>& x) {
    const auto [most, total] = most_and_total(x);
    std::vector<T> y;
    for (const T& one : x) y.push_back(exp(one - most) / total);
    return y;
};
const auto log_softmax_row = []<class T>(const std::vector<T>& x) {
    const auto [most, total] = most_and_total(x);
    std::vector<T> y;
    for (const T& one : x) y.push_back((one - most) - log(total));
    return y;
};
/// In each place the log of the sum of the exponentials up to there.
const auto log_sum_row = []<class T>(const std::vector<T>& x) {
    T most = x[0];
    for (const T& one : x) most = max(most, one);
    T total = 0.0;
    std::vector<T> y;
    for (const T& one : x) {
        total += exp(one - most);
        y.push_back(log(total) + most);
    }
    return y;
};
/// In the first place the cross-entropy of the first logit; elsewhere nothing.
const auto loss_row = []<class T>(const std::vector<T>& x) {
    std::vector<T> y(x.size(), T(0.0));
    y[0] = -log_softmax_row(x)[0];
    return y;
};
const auto norm_row = []<class T>(const std::vector<T>& x) {
    const double n = static_cast<double>(x.size());
    T mean = 0.0, variance = 0.0;
    for (const T& one : x) mean += one / n;
    for (const T& one : x) variance += (one - mean) * (one - mean) / n;
    const T scale = rsqrt(variance + 1e-5);
    std::vector<T> y;
    for (const T& one : x) y.push_back((one - mean) * scale);
    return y;
};
const auto product_row = []<class T>(const std::vector<T>& x) {
    T product = 1.0;
    std::vector<T> y;
    for (const T& one : x) y.push_back(product *= one);
    return y;
};
/// The sum of exp(x) over each number and the one before it.
const auto window_row = []<class T>(const std::vector<T>& x) {
    std::vector<T> y{exp(x[0])};
    for (std::size_t j = 1; j < x.size(); ++j) y.push_back(exp(x[j - 1]) + exp(x[j]));
    return y;
};
/// Between the first two numbers, by the share that the third has of one.
const auto lerp_row = []<class T>(const std::vector<T>& x) {
    std::vector<T> y(x.size(), T(0.0));
    if (x.size() > 2) y[0] = (T(1.0) - x[2]) * x[0] + x[2] * x[1];
    return y;
};

/// In the first place what a pile of slabs of depth x hides, each with its share of one.
template <class T>
double share_of_slab(const std::vector<T>& x, std::size_t j) {
    return static_cast<double>(j + 1) / static_cast<double>(x.size());
}
const auto slab_row = []<class T>(const std::vector<T>& x) {
    std::vector<T> y(x.size(), T(0.0));
    T left = 1.0;
    for (std::size_t j = 0; j < x.size(); ++j) {
        const T through = exp(-x[j]);
        y[0] += left * (1.0 - through) * share_of_slab(x, j);
        left = left * through;
    }
    return y;
};
/// Its gradient, where `behind(weights, j)` is what the slabs behind one hide.
template <class Behind>
auto slab_gradient(Behind behind) {
    return [=](const Floats& dy, const Floats& x) {
        Floats weights, ends;
        float left = 1.0f;
        for (std::size_t j = 0; j < x.size(); ++j) {
            const auto share = static_cast<float>(share_of_slab(x, j));
            const float through = std::exp(-x[j]);
            weights.push_back(left * (1.0f - through) * share);
            ends.push_back((left *= through) * share);
        }
        Floats dx;
        for (std::size_t j = 0; j < x.size(); ++j)
            dx.push_back(dy[0] * (ends[j] - behind(weights, j)));
        return dx;
    };
}

/// The gradient of a row's norm, by its mean and the reciprocal of its deviation.
Floats norm_gradient(const Floats& dy, const Floats& x, float mean, float scale) {
    const float n = static_cast<float>(x.size());
    float total = 0.0f, along = 0.0f;
    for (std::size_t j = 0; j < x.size(); ++j) {
        total += dy[j];
        along += dy[j] * ((x[j] - mean) * scale);
    }
    Floats dx;
    for (std::size_t j = 0; j < x.size(); ++j)
        dx.push_back(scale * (dy[j] - total / n - (x[j] - mean) * scale * (along / n)));
    return dx;
}
float variance_by_squares(const Floats& x, float mean) {
    return sum(mapped(x, [](float one) { return one * one; })) / static_cast<float>(x.size()) -
           mean * mean;
}
float variance_by_differences(const Floats& x, float mean) {
    return sum(mapped(x, [&](float one) { return (one - mean) * (one - mean); })) /
           static_cast<float>(x.size());
}
float mean_of(const Floats& x) { return sum(x) / static_cast<float>(x.size()); }

Floats softmax_of(const Floats& x, float shift) {
    const Floats e = mapped(x, [&](float one) { return std::exp(one - shift); });
    const float total = sum(e);
    return mapped(e, [&](float one) { return one / total; });
}
float log_sum_of(const Floats& x) {
    const float most = largest(x);
    return most + std::log(sum(mapped(x, [&](float one) { return std::exp(one - most); })));
}

class Formulas {
  public:
    Formulas() {
        add_sigmoids();
        add_activations();
        add_softmaxes();
        add_log_softmaxes();
        add_cross_entropies();
        add_norms();
        add_others();
    }

    std::vector<Entry> entries;

  private:
    void add_sigmoids();
    void add_activations();
    void add_softmaxes();
    void add_log_softmaxes();
    void add_cross_entropies();
    void add_norms();
    void add_others();

    /// A formula is one of an element, of a row x, or of the rows dy and x.
    template <class Formula>
    void add(const char* formula, Judgement expected, Formula compute) {
        std::function<Floats(const Floats&, const Floats&)> of_rows;
        if constexpr (std::is_invocable_v<Formula, float>)
            of_rows = each(compute);
        else if constexpr (std::is_invocable_v<Formula, const Floats&>)
            of_rows = [=](const Floats&, const Floats& x) { return compute(x); };
        else
            of_rows = compute;
        entries.push_back({*at, formula, of_rows, expected});
    }

    std::optional<Subject> at;  ///< that the next formulas are of
};

void Formulas::add_sigmoids() {
    using enum Judgement;
    const auto sigmoid_of = []<class T>(const T& x) { return sigmoid(x); };
    const auto softplus_of = []<class T>(const T& x) { return softplus(x); };
    const auto log_sigmoid_of = []<class T>(const T& x) { return log_sigmoid(x); };
    at = elementwise("sigmoid", "forward", sigmoid_of);
    add("1 / (1 + exp(-x))", right, logistic);
    add("0.5 + 0.5 tanh(x / 2)", right, [](float x) { return 0.5f + 0.5f * std::tanh(0.5f * x); });
    add("1 - 1 / (1 + exp(x))", right, [](float x) { return 1.0f - 1.0f / (1.0f + std::exp(x)); });
    at = elementwise("sigmoid'", "backward", sigmoid_of);
    add("s (1 - s)", right, [](float x) { return logistic(x) * (1.0f - logistic(x)); });
    add("exp(-x) / (1 + exp(-x))^2", right, [](float x) {
        const float e = std::exp(-std::abs(x));
        return e / ((1.0f + e) * (1.0f + e));
    });
    add("(1 - tanh(x / 2)^2) / 4", right, [](float x) {
        const float t = std::tanh(0.5f * x);
        return 0.25f * (1.0f - t * t);
    });
    at = elementwise("softplus", "forward", softplus_of);
    add("log1p(exp(x))", right, [](float x) { return std::log1p(std::exp(x)); });
    add("max(x, 0) + log1p(exp(-abs(x)))", right,
        [](float x) { return std::max(x, 0.0f) + std::log1p(std::exp(-std::abs(x))); });
    add("x > 20 ? x : log1p(exp(x))", right, soft_plus);
    add("log(1 + exp(x))", imprecise, [](float x) { return std::log(1.0f + std::exp(x)); });
    at = elementwise("softplus'", "backward", softplus_of);
    add("sigmoid(x)", right, logistic);
    add("1 - exp(-softplus(x))", right, [](float x) { return 1.0f - std::exp(-soft_plus(x)); });
    at = elementwise("log of sigmoid", "forward", log_sigmoid_of);
    add("min(x, 0) - log1p(exp(-abs(x)))", right,
        [](float x) { return std::min(x, 0.0f) - std::log1p(std::exp(-std::abs(x))); });
    add("log(sigmoid(x))", imprecise, [](float x) { return std::log(logistic(x)); });
    at = elementwise("log of sigmoid'", "backward", log_sigmoid_of);
    add("sigmoid(-x)", right, [](float x) { return logistic(-x); });
}

void Formulas::add_activations() {
    using enum Judgement;
    const auto silu_of = []<class T>(const T& x) { return x * sigmoid(x); };
    const auto tanh_of = []<class T>(const T& x) { return tanh(x); };
    const auto mish_of = []<class T>(const T& x) { return x * tanh(log1p(exp(x))); };
    const auto gelu_of = []<class T>(const T& x) {
        return 0.5 * x * (1.0 + erf(x / std::sqrt(2.0)));
    };
    const auto gelu_tanh_of = []<class T>(const T& x) {
        return 0.5 * x * (1.0 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    };
    at = elementwise("silu'", "backward", silu_of);
    add("s (1 + x (1 - s))", right, [](float x) {
        const float s = logistic(x);
        return s * (1.0f + x * (1.0f - s));
    });
    add("s + x s (1 - s)", right, [](float x) {
        const float s = logistic(x);
        return s + x * s * (1.0f - s);
    });
    add("y + s (1 - y), from y = x s", right, [](float x) {
        const float s = logistic(x), y = x * s;
        return y + s * (1.0f - y);
    });
    at = elementwise("tanh'", "backward", tanh_of, -12.0, 12.0);
    add("1 - t^2", right, [](float x) { return 1.0f - std::tanh(x) * std::tanh(x); });
    add("(1 - t) (1 + t)", right,
        [](float x) { return (1.0f - std::tanh(x)) * (1.0f + std::tanh(x)); });
    add("4 / (exp(x) + exp(-x))^2", imprecise, [](float x) {
        const float c = std::exp(x) + std::exp(-x);
        return 4.0f / (c * c);
    });
    at = elementwise("expm1'", "backward", []<class T>(const T& x) { return expm1(x); });
    add("exp(x)", right, [](float x) { return std::exp(x); });
    add("y + 1, from y = expm1(x)", imprecise, [](float x) { return std::expm1(x) + 1.0f; });
    at = elementwise("gelu' (erf)", "backward", gelu_of, -12.0, 12.0);
    add("(1 + erf(x / sqrt 2)) / 2 + x phi(x)", right, [](float x) {
        return 0.5f * (1.0f + std::erf(x / root_2)) + x * density_scale * std::exp(-0.5f * x * x);
    });
    add("erfc(-x / sqrt 2) / 2 + x phi(x)", right, [](float x) {
        return 0.5f * std::erfc(-x / root_2) + x * density_scale * std::exp(-0.5f * x * x);
    });
    add("1 - erfc(x / sqrt 2) / 2 + x phi(x)", right, [](float x) {
        return 1.0f - 0.5f * std::erfc(x / root_2) + x * density_scale * std::exp(-0.5f * x * x);
    });
    at = elementwise("gelu' (tanh)", "backward", gelu_tanh_of, -12.0, 12.0);
    add("(1 + t) / 2 + x (1 - t^2) u' / 2", right, [](float x) {
        const float t = std::tanh(gelu_scale * (x + gelu_cubic * x * x * x));
        return 0.5f * (1.0f + t) +
               0.5f * x * (1.0f - t * t) * gelu_scale * (1.0f + 3.0f * gelu_cubic * x * x);
    });
    add("s + x s (1 - s) 2 u', s = sigmoid(2 u)", right, [](float x) {
        const float s = logistic(2.0f * gelu_scale * (x + gelu_cubic * x * x * x));
        return s + x * s * (1.0f - s) * 2.0f * gelu_scale * (1.0f + 3.0f * gelu_cubic * x * x);
    });
    at = elementwise("mish'", "backward", mish_of);
    add("t + x (1 - t^2) sigmoid(x)", right, [](float x) {
        const float t = std::tanh(soft_plus(x));
        return t + x * (1.0f - t * t) * logistic(x);
    });
    add("t + x (1 - t^2) (1 - exp(-softplus(x)))", imprecise, [](float x) {
        const float t = std::tanh(soft_plus(x));
        return t + x * (1.0f - t * t) * (1.0f - std::exp(-soft_plus(x)));
    });
    add("t of a softplus log(1 + exp(x))", right, [](float x) {
        const float t = std::tanh(std::log(1.0f + std::exp(x)));
        return t + x * (1.0f - t * t) * logistic(x);
    });
}

void Formulas::add_softmaxes() {
    using enum Judgement;
    at = by_row("softmax", "forward", softmax_row, -10.0, 10.0);
    add("exp(x - max) / sum", right, [=](const Floats& x) { return softmax_of(x, largest(x)); });
    add("exp(x) / sum, small x", right, [=](const Floats& x) { return softmax_of(x, 0.0f); });
    add("exp(x - log-sum-exp)", right, [=](const Floats& x) {
        return mapped(x, [&](float one) { return std::exp(one - log_sum_of(x)); });
    });
    at = by_row("softmax", "forward", softmax_row, -10.0, 10.0, 100.0);
    add("exp(x) / sum, x of 100", wrong, [=](const Floats& x) { return softmax_of(x, 0.0f); });
    at = by_row("softmax'", "backward", softmax_row, -10.0, 10.0);
    const auto softmax_gradient = [=](auto gradient) {
        return [=](const Floats& dy, const Floats& x) {
            const Floats p = softmax_of(x, largest(x));
            float along = 0.0f;
            for (std::size_t j = 0; j < p.size(); ++j) along += p[j] * dy[j];
            Floats dx;
            for (std::size_t j = 0; j < p.size(); ++j) dx.push_back(gradient(p[j], dy[j], along));
            return dx;
        };
    };
    add("p (dy - sum of p dy)", right,
        softmax_gradient([](float p, float dy, float along) { return p * (dy - along); }));
    add("p dy - p (sum of p dy)", right,
        softmax_gradient([](float p, float dy, float along) { return p * dy - p * along; }));
}

void Formulas::add_log_softmaxes() {
    using enum Judgement;
    at = by_row("log-softmax", "forward", log_softmax_row, -10.0, 10.0);
    add("x - max - log(sum)", right,
        [=](const Floats& x) { return mapped(x, [&](float one) { return one - log_sum_of(x); }); });
    add("log(softmax(x))", right, [=](const Floats& x) {
        return mapped(softmax_of(x, largest(x)), [](float p) { return std::log(p); });
    });
    at = by_row("log-sum-exp", "forward", log_sum_row, -10.0, 10.0);
    add("log of the running sum of exp(x)", right, [](const Floats& x) {
        float total = 0.0f;
        return mapped(x, [&](float one) { return std::log(total += std::exp(one)); });
    });
    add("a scan of log-add-exp", right, [](const Floats& x) {
        float so_far = -INFINITY;
        return mapped(x, [&](float one) {
            const float most = std::max(so_far, one), least = std::min(so_far, one);
            return so_far = most + std::log1p(std::exp(least - most));
        });
    });
}

void Formulas::add_cross_entropies() {
    using enum Judgement;
    at = elementwise("cross-entropy of a logit", "forward",
                     []<class T>(const T& x) { return log1p(exp(-x)); });
    add("log1p(exp(-x))", right, [](float x) { return std::log1p(std::exp(-x)); });
    add("max(-x, 0) + log1p(exp(-abs(x)))", right,
        [](float x) { return std::max(-x, 0.0f) + std::log1p(std::exp(-std::abs(x))); });
    add("-log(sigmoid(x))", imprecise, [](float x) { return -std::log(logistic(x)); });
    add("-log(1 - sigmoid(-x))", wrong, [](float x) { return -std::log(1.0f - logistic(-x)); });
    at = by_row("cross-entropy'", "backward", loss_row, -10.0, 10.0);
    const auto loss_gradient = [=](auto of_first) {
        return [=](const Floats& dy, const Floats& x) {
            Floats dx = softmax_of(x, largest(x));
            dx[0] = of_first(x, dx);
            return mapped(dx, [&](float one) { return dy[0] * one; });
        };
    };
    add("p - 1", right, loss_gradient([](const Floats&, const Floats& p) { return p[0] - 1.0f; }));
    add("exp(x - log-sum-exp) - 1", right, loss_gradient([=](const Floats& x, const Floats&) {
            return std::exp(x[0] - log_sum_of(x)) - 1.0f;
        }));
    add("minus the sum of the other p", imprecise,
        loss_gradient(
            [](const Floats&, const Floats& p) { return -sum(Floats(p.begin() + 1, p.end())); }));
    add("expm1(x - log-sum-exp)", right, loss_gradient([=](const Floats& x, const Floats&) {
            return std::expm1(x[0] - log_sum_of(x));
        }));
}

void Formulas::add_norms() {
    using enum Judgement;
    at = by_row("layer norm'", "backward", norm_row, -1.0, 1.0);
    const auto norm = [](auto variance, auto scale) {
        return [=](const Floats& dy, const Floats& x) {
            const float mean = mean_of(x);
            return norm_gradient(dy, x, mean, scale(variance(x, mean) + 1e-5f));
        };
    };
    const auto reciprocal = [](float x) { return 1.0f / std::sqrt(x); };
    add("variance of differences", right, norm(variance_by_differences, reciprocal));
    add("mean of squares minus square of mean", right, norm(variance_by_squares, reciprocal));
    add("division by the square root", right, [](const Floats& dy, const Floats& x) {
        const float mean = mean_of(x), root = std::sqrt(variance_by_differences(x, mean) + 1e-5f);
        return norm_gradient(dy, x, mean, 1.0f / root);
    });
    at = by_row("layer norm'", "backward", norm_row, -1.0, 1.0, 1000.0);
    add("variance of differences, x of 1000", right, norm(variance_by_differences, reciprocal));
    add("mean of squares minus square of mean, x of 1000", wrong,
        norm(variance_by_squares, reciprocal));
}

void Formulas::add_others() {
    using enum Judgement;
    at = by_row("cumulative product", "forward", product_row, 0.1, 2.0);
    add("product", right, [](const Floats& x) {
        float product = 1.0f;
        return mapped(x, [&](float one) { return product *= one; });
    });
    add("exp of the sum of logs", wrong, [](const Floats& x) {
        float logs = 0.0f;
        return mapped(x, [&](float one) { return std::exp(logs += std::log(one)); });
    });
    at = by_row("sum of exp(x) over a window", "forward", window_row, -30.0, 30.0);
    add("each window by itself", right, [](const Floats& x) {
        Floats y{std::exp(x[0])};
        for (std::size_t j = 1; j < x.size(); ++j) y.push_back(std::exp(x[j - 1]) + std::exp(x[j]));
        return y;
    });
    add("the last sum, plus what enters, minus what leaves", wrong, [](const Floats& x) {
        Floats y;
        float sum = 0.0f;
        for (std::size_t j = 0; j < x.size(); ++j) {
            sum += std::exp(x[j]);
            if (j >= 2) sum -= std::exp(x[j - 2]);
            y.push_back(sum);
        }
        return y;
    });
    const auto lerp_gradient = [](auto weights) {
        return [=](const Floats& dy, const Floats& x) {
            Floats dx(x.size(), 0.0f);
            const auto [of_first, of_second] = weights(x[2]);
            dx[0] = of_first * dy[0];
            dx[1] = of_second * dy[0];
            dx[2] = (x[1] - x[0]) * dy[0];
            return dx;
        };
    };
    at = by_row("interpolation'", "backward", lerp_row, 0.0, 0.01);
    add("weights 1 - t and t", right,
        lerp_gradient([](float t) { return std::pair(1.0f - t, t); }));
    add("weights g = 1 - t and 1 - g", imprecise,
        lerp_gradient([](float t) { return std::pair(1.0f - t, 1.0f - (1.0f - t)); }));
    at = by_row("interpolation", "forward", lerp_row, 0.0, 1.0);
    add("a + t (b - a)", right, [](const Floats& x) {
        Floats y(x.size(), 0.0f);
        y[0] = x[0] + x[2] * (x[1] - x[0]);
        return y;
    });
    const auto part = [](const Floats& weights, std::size_t begin, std::size_t end) {
        float sum = 0.0f;
        for (std::size_t j = begin; j < end; ++j) sum += weights[j];
        return sum;
    };
    const auto from_behind = slab_gradient(
        [=](const Floats& weights, std::size_t j) { return part(weights, j + 1, weights.size()); });
    const auto less_so_far = slab_gradient([=](const Floats& weights, std::size_t j) {
        return part(weights, 0, weights.size()) - part(weights, 0, j + 1);
    });
    at = by_row("slabs', from a saved y", "from_saved", slab_row, 0.0, 30.0);
    add("left - (sum of what is behind)", right, from_behind);
    add("left - (y - sum up to here)", imprecise, less_so_far);
    at = by_row("slabs', from x alone", "backward", slab_row, 0.0, 30.0);
    add("left - (sum of what is behind)", right, from_behind);
    add("left - (total - sum up to here)", wrong, less_so_far);
}

}  // namespace

TEST_CASE("formulas are right, imprecise or wrong, as docs/formulas.md says") {
    std::string table;
    const Formulas formulas;
    for (const Entry& entry : formulas.entries) {
        const Distance distance = distance_of(entry.subject, entry.compute);
        const auto judged = static_cast<std::size_t>(distance.judgement());
        INFO(entry.subject.operation, ": ", entry.formula, ": ", distance.by_own, " and ",
             distance.by_any, " of the bounds: ", words[judged]);
        CHECK(distance.judgement() == entry.expected);
        table += fmt::format("| {} | `{}` | {} |\n", entry.subject.operation, entry.formula,
                             words[judged]);
    }
    const auto root = std::filesystem::path(__FILE__).parent_path() / "../..";
    std::ifstream page(root / "docs/formulas.md");
    const std::string text{std::istreambuf_iterator<char>(page), {}};
    INFO("the page's table is to be\n", table);
    CHECK(text.find(table) != std::string::npos);
}
