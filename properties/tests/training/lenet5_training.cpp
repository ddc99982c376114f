// SPDX-License-Identifier: Apache-2.0
#include "properties/tests/training/lenet5_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>

#include "harness/base/random.hpp"
#include "harness/cases/compare.hpp"
#include "harness/devices/launch.hpp"
#include "harness/numbers/autodiff/decisions.hpp"
#include "properties/checking/oracle.hpp"
#include "properties/tests/training/digits.hpp"

namespace gradverify {

namespace {

const Operator& lenet5() { return *Registry::instance().find_operator("lenet5"); }

bool is_parameter(const TensorSpec& tensor) {
    return tensor.differentiable && tensor.name != "image";
}

/// Runs a pass on named values and adds its outputs to them.
using RunPass = std::function<void(const PassSpec&, const Problem&, Values&)>;

std::vector<Array<double>> picked(const Values& values, const std::vector<std::string>& names) {
    std::vector<Array<double>> arrays;
    for (const std::string& name : names) arrays.push_back(values.at(name));
    return arrays;
}

void run_reference(const PassSpec& pass, const Problem& problem, Values& values) {
    auto outputs = reference_outputs(lenet5(), pass, problem, picked(values, pass.inputs));
    for (std::size_t i = 0; i < outputs.size(); ++i)
        values[pass.outputs[i]] = std::move(outputs[i]);
}

RunPass kernel_runner(const Training& training) {
    return [training](const PassSpec& pass, const Problem& problem, Values& values) {
        const std::string name = "lenet5." + pass.name + "/" + training.variant;
        const Kernel* kernel = Registry::instance().find_kernel(name);
        if (!kernel) throw std::runtime_error("there is no kernel " + name);
        const auto inputs = picked(values, pass.inputs);
        CallResult result = call_kernel({.kernel = *kernel,
                                         .device = device_named(training.device),
                                         .problem = problem,
                                         .inputs = inputs,
                                         .setting = {},
                                         .surroundings = {},
                                         .initial_outputs = {}});
        if (!result.complaint().empty()) throw std::runtime_error(name + ": " + result.complaint());
        for (std::size_t i = 0; i < result.outputs.size(); ++i)
            values[pass.outputs[i]] = std::move(result.outputs[i]);
    };
}

/// Parameters, and the next batch. In float32 where kernels train: what they hold between steps.
class Trainer {
  public:
    Trainer(const Training& training, bool in_float)
        : training_(training), in_float_(in_float), random_(mix_seed(training.seed, "batches")) {
        const Problem problem = problem_of(training.batch);
        side_ = problem.on_axis("in", 0);
        SplitMix64 random(mix_seed(training.seed, "parameters"));
        for (const TensorSpec& tensor : lenet5().inputs) {
            if (!is_parameter(tensor)) continue;
            Array<double>& values = parameters_[tensor.name] = {tensor.sizes(problem), {}};
            const auto elements = element_count(values.sizes);
            const double terms =
                static_cast<double>(elements) / static_cast<double>(values.sizes.front());
            for (std::int64_t i = 0; i < elements; ++i) {
                const double share = static_cast<double>(random.below(1u << 24)) * 0x1p-23 - 1.0;
                // Uniform, of the variance 2 / terms (He et al., 2015); biases begin at zero.
                const bool is_bias = values.sizes.size() == 1;
                values.data.push_back(is_bias ? 0.0
                                              : static_cast<float>(share * std::sqrt(6.0 / terms)));
            }
        }
    }

    Problem problem_of(std::int64_t n) const {
        return Problem::parse(lenet5().space, fmt::format("n={},{}", n, training_.network));
    }

    Values next_batch() {
        Digits digits = draw_digits(training_.batch, side_, random_.next());
        Values values = parameters_;
        values["image"] = std::move(digits.images);
        values["labels"] = std::move(digits.labels);
        values["dloss"] = {{}, {1.0}};
        return values;
    }

    void descend(const Values& values) {
        const double left =
            static_cast<double>(training_.steps - step_++) / static_cast<double>(training_.steps);
        for (auto& [name, parameter] : parameters_)
            for (std::size_t i = 0; i < parameter.data.size(); ++i) {
                double& element = parameter.data[i];
                element -= training_.rate * left * values.at("d" + name).data[i];
                if (in_float_) element = static_cast<float>(element);
            }
    }

    double accuracy(const RunPass& run) const {
        Digits digits =
            draw_digits(training_.test_images, side_, mix_seed(training_.seed, "test images"));
        Values values = parameters_;
        values["image"] = std::move(digits.images);
        values["labels"] = std::move(digits.labels);
        run(lenet5().forward(), problem_of(training_.test_images), values);
        const Array<double>& logits = values.at("fc3_out");
        const auto classes = static_cast<std::ptrdiff_t>(logits.size(1));
        int right = 0;
        for (std::int64_t i = 0; i < training_.test_images; ++i) {
            const auto row = logits.data.begin() + i * classes;
            right += std::max_element(row, row + classes) - row ==
                     std::llround(values.at("labels").data[static_cast<std::size_t>(i)]);
        }
        return static_cast<double>(right) / static_cast<double>(training_.test_images);
    }

  private:
    const Training& training_;
    bool in_float_;
    SplitMix64 random_;
    std::int64_t side_ = 0, step_ = 0;
    Values parameters_;
};

Trained train(const Training& training, const RunPass& run, bool in_float) {
    Trainer trainer(training, in_float);
    const Problem problem = trainer.problem_of(training.batch);
    Trained trained;
    for (std::int64_t step = 0; step < training.steps; ++step) {
        Values values = trainer.next_batch();
        run(lenet5().forward(), problem, values);
        run(*lenet5().find_pass("backward"), problem, values);
        trained.losses.push_back(values.at("loss").data.front());
        trainer.descend(values);
    }
    trained.accuracy = trainer.accuracy(run);
    return trained;
}

/// What a kernel gave of a pass, against the bound on what it was given.
Outcome held_to_bound(const PassSpec& pass, const Problem& problem, const Values& values) {
    const ScopedRounding rounding(Rounding::of(DType::f32));
    const auto outputs = bounded_outputs(lenet5(), pass, problem, picked(values, pass.inputs));
    std::vector<Comparison> comparisons;
    for (std::size_t i = 0; i < outputs.size(); ++i)
        comparisons.push_back(compare(values.at(pass.outputs[i]).data,
                                      Expected::within(pass.outputs[i], outputs[i])));
    return combine(comparisons, pass.name + " is not within the bound");
}

}  // namespace

Trained train_with_kernels(const Training& training) {
    return train(training, kernel_runner(training), true);
}
Trained train_with_reference(const Training& training) {
    return train(training, run_reference, false);
}

Outcome check_steps(const Training& training) {
    Trainer trainer(training, true);
    const RunPass run = kernel_runner(training);
    const Problem problem = trainer.problem_of(training.batch);
    for (std::int64_t step = 0; step < training.steps; ++step) {
        Values values = trainer.next_batch();
        for (const PassSpec* pass : {&lenet5().forward(), lenet5().find_pass("backward")}) {
            run(*pass, problem, values);
            Outcome outcome = held_to_bound(*pass, problem, values);
            if (outcome.verdict == Verdict::passed) continue;
            outcome.message += fmt::format(" in step {}", step);
            return outcome;
        }
        trainer.descend(values);
    }
    return Outcome::passed();
}

bool are_alike(double a, double b, std::int64_t images) {
    const double mean = (a + b) / 2.0;
    const double variance = std::max(mean * (1.0 - mean), 1.0 / static_cast<double>(images));
    return std::abs(a - b) <= 3.0 * std::sqrt(2.0 * variance / static_cast<double>(images));
}

int training_main(std::span<const std::string> arguments) {
    Training training{
        .network = "k1=6,k2=16,hidden1=120,hidden2=84,classes=10,in=28x28,filter=5x5,window=2x2"};
    if (arguments.size() != 2 || (arguments[0] != "cpu" && arguments[0] != "cuda") ||
        (training.steps = std::atoll(arguments[1].c_str())) < 1) {
        fmt::print(stderr, "usage: train-lenet5 cpu|cuda STEPS\n");
        return 2;
    }
    training.device = arguments[0];
    const Trained kernels = train_with_kernels(training);
    const Trained reference = train_with_reference(training);
    for (std::size_t step = 0; step < kernels.losses.size(); ++step)
        fmt::print(R"({{"kind":"step","step":{},"kernels":{:.9g},"reference":{:.9g}}})"
                   "\n",
                   step, kernels.losses[step], reference.losses[step]);
    const bool alike = are_alike(kernels.accuracy, reference.accuracy, training.test_images);
    fmt::print(R"({{"kind":"trained","device":"{}","batch":{},"images":{},)"
               R"("accuracy_kernels":{:.4f},"accuracy_reference":{:.4f},"alike":{}}})"
               "\n",
               training.device, training.batch, training.test_images, kernels.accuracy,
               reference.accuracy, alike);
    return alike ? 0 : 1;
}

}  // namespace gradverify
