// SPDX-License-Identifier: Apache-2.0
// The loss of a transducer (A. Graves, Sequence transduction with recurrent neural networks, 2012)
// over logits, summed over the batch: minus the logarithm of the probability of all ways through a
// sample's frames and labels, and its gradient from the probabilities of both halves of a way.
#include "harness/declare_operator.hpp"

using namespace gradverify;

template <class T>
static T log_add(const T& a, const T& b) {
    return a > b ? a + log1p(exp(b - a)) : b + log1p(exp(a - b));
}

/// A number for each frame and each count of labels.
template <class T>
struct Grid {
    Grid(std::int64_t rows, std::int64_t columns)
        : columns(columns), numbers(static_cast<std::size_t>(rows * columns)) {}
    T& operator()(std::int64_t t, std::int64_t u) {
        return numbers[static_cast<std::size_t>(t * columns + u)];
    }
    std::int64_t columns;
    std::vector<T> numbers;
};

/// One sample: the logarithms of its symbols' probabilities, and of those of its ways.
template <class T>
class Sample {
  public:
    Sample(const ForwardCall<T>& call, std::int64_t b)
        : frames(call.indices("frames")(b)),
          labels(call.indices("lengths")(b)),
          blank(call.parameter("last_is_blank") == 1 ? call.parameter("v") - 1 : 0),
          logits_(call.input("logits")),
          labels_(call.indices("labels")),
          b_(b),
          scale_(frames, labels + 1) {
        for (std::int64_t t = 0; t < frames; ++t)
            for (std::int64_t u = 0; u <= labels; ++u) scale_(t, u) = log_of_sum(t, u);
    }
    T log_probability(std::int64_t t, std::int64_t u, std::int64_t symbol) {
        return logits_(b_, t, u, symbol) - scale_(t, u);
    }
    T of_blank(std::int64_t t, std::int64_t u) { return log_probability(t, u, blank); }
    T of_label(std::int64_t t, std::int64_t u) { return log_probability(t, u, label(u)); }
    std::int64_t label(std::int64_t u) const { return labels_(b_, u); }

    /// The ways that lead to each place.
    Grid<T> before() {
        Grid<T> ways(frames, labels + 1);
        for (std::int64_t t = 0; t < frames; ++t)
            for (std::int64_t u = 0; u <= labels; ++u) {
                if (t > 0) ways(t, u) = ways(t - 1, u) + of_blank(t - 1, u);
                if (u == 0) continue;
                const T emitted = ways(t, u - 1) + of_label(t, u - 1);
                ways(t, u) = t > 0 ? log_add(emitted, ways(t, u)) : emitted;
            }
        return ways;
    }
    /// The ways that lead from each place to the end.
    Grid<T> behind() {
        Grid<T> ways(frames, labels + 1);
        for (std::int64_t t = frames - 1; t >= 0; --t)
            for (std::int64_t u = labels; u >= 0; --u) {
                if (t + 1 < frames)
                    ways(t, u) = ways(t + 1, u) + of_blank(t, u);
                else if (u == labels)
                    ways(t, u) = of_blank(t, u);
                if (u == labels) continue;
                const T emitted = ways(t, u + 1) + of_label(t, u);
                ways(t, u) = t + 1 < frames ? log_add(emitted, ways(t, u)) : emitted;
            }
        return ways;
    }

    std::int64_t frames, labels, blank;

  private:
    T log_of_sum(std::int64_t t, std::int64_t u) {
        T largest = logits_(b_, t, u, 0), sum = 0.0;
        for (std::int64_t k = 1; k < logits_.size(3); ++k)
            largest = max(largest, logits_(b_, t, u, k));
        for (std::int64_t k = 0; k < logits_.size(3); ++k)
            sum += exp(logits_(b_, t, u, k) - largest);
        return largest + log(sum);
    }

    TensorOf<const T> logits_;
    IndicesOf<T> labels_;
    std::int64_t b_;
    Grid<T> scale_;
};

template <class T>
static void forward(const ForwardCall<T>& call) {
    const auto costs = call.output("costs");
    for (std::int64_t b = 0; b < costs.size(0); ++b) {
        Sample<T> sample(call, b);
        const std::int64_t last = sample.frames - 1, labels = sample.labels;
        costs(b) = -(sample.before()(last, labels) + sample.of_blank(last, labels));
        call.output("loss")() += costs(b);
    }
}

template <class T>
static void backward(const ForwardCall<T>& call) {
    const auto dlogits = call.output("dlogits");
    for (std::int64_t b = 0; b < dlogits.size(0); ++b) {
        Sample<T> sample(call, b);
        Grid<T> before = sample.before(), behind = sample.behind();
        const T all = before(sample.frames - 1, sample.labels) +
                      sample.of_blank(sample.frames - 1, sample.labels);
        for (std::int64_t t = 0; t < sample.frames; ++t)
            for (std::int64_t u = 0; u <= sample.labels; ++u)
                for (std::int64_t k = 0; k < dlogits.size(3); ++k) {
                    const T here = before(t, u) + sample.log_probability(t, u, k) - all;
                    T& gradient = dlogits(b, t, u, k);
                    gradient = exp(here + behind(t, u));
                    if (k == sample.blank && t + 1 < sample.frames)
                        gradient -= exp(here + behind(t + 1, u));
                    if (k == sample.blank && t + 1 == sample.frames && u == sample.labels)
                        gradient -= exp(here);
                    if (u < sample.labels && k == sample.label(u))
                        gradient -= exp(here + behind(t, u + 1));
                }
    }
}

static Operator describe() {
    return declare_operator("rnnt_loss")
        .parameter("b")
        .parameter("t")
        .parameter("u", {.default_value = 0, .minimum = 0})
        .parameter("v", {.default_value = 2, .minimum = 2})
        .parameter("last_is_blank", {.default_value = 0, .minimum = 0, .maximum = 1})
        .input("logits", {"b", "t", one_more_than("u"), "v"}, numbers_between(-20.0, 20.0))
        .input("labels", {"b", "u"}, indices_below("v"))
        .input("frames", {"b"}, lengths_up_to("t", 1))
        .input("lengths", {"b"}, lengths_up_to("u"))
        .output("loss", {})
        .saved("costs", {"b"})
        .typical("t", 1, 40)
        .typical("u", 0, 40)
        .typical("v", 2, 40)
        .forward([]<class T>(const ForwardCall<T>& call) { forward(call); })
        // Which of equal numbers is the larger changes nothing.
        .branches_decide()
        .gradient("backward", {"logits", "labels", "frames", "lengths"}, {"dlogits"},
                  []<class T>(const ForwardCall<T>& call) { backward(call); });
}
GRADVERIFY_OPERATOR(describe);
