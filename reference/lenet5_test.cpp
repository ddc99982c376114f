// SPDX-License-Identifier: Apache-2.0
// lenet5 worked out by hand, the sizes of LeNet-5, and its steps against their operators.
#include <cmath>
#include <map>
#include <string>

#include "properties/data/values.hpp"
#include "reference/tests/run_pass.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

const std::string lenet5 =
    "k1=6,k2=16,hidden1=120,hidden2=84,classes=10,in=28x28,filter=5x5,window=2x2";

const Operator& op() { return operator_of("lenet5"); }

std::int64_t elements(const std::string& tensor, const std::string& problem) {
    return element_count(op().sizes_of(tensor, Problem::parse(op().space, problem)));
}

std::int64_t elements_of_backward(const std::string& problem, bool of_parameters) {
    std::int64_t all = 0;
    for (const std::string& name : op().find_pass("backward")->outputs)
        if (op().is_gradient(name) == of_parameters) all += elements(name, problem);
    return all;
}

}  // namespace

TEST_CASE(
    "LeNet-5 has 44,426 parameters, and 336 thousand cotangents between layers at 32 images") {
    CHECK(elements_of_backward("n=32," + lenet5, true) == 44'426);
    CHECK(elements_of_backward("n=32," + lenet5, false) == 335'936);
    CHECK(elements("dconv2_w", lenet5) == 2400);
    CHECK(elements("dfc1_w", lenet5) == 30'720);
    CHECK(elements("pool2_out", lenet5) == 256);
    CHECK(op().find_pass("backward")->steps.size() == 21);
    CHECK(op().find_pass("forward")->steps.size() == 12);
}

TEST_CASE("a network of one pixel, worked out by hand") {
    // conv1 2*3+1 = 7, conv2 7*(-1)+9 = 2, fc1 2*4-3 = 5, fc2 5*1+1 = 6, fc3 6*2-5 = 7.
    const Named inputs{{"image", {3}},   {"conv1_w", {2}}, {"conv1_b", {1}}, {"conv2_w", {-1}},
                       {"conv2_b", {9}}, {"fc1_w", {4}},   {"fc1_b", {-3}},  {"fc2_w", {1}},
                       {"fc2_b", {1}},   {"fc3_w", {2}},   {"fc3_b", {-5}}};
    std::map<std::string, Numbers> got;
    const auto run_pass = [&](const char* pass, const Named& taken) {
        const auto outputs = run("lenet5_logits", pass, "in=1x1", taken);
        for (std::size_t i = 0; i < outputs.size(); ++i)
            got[operator_of("lenet5_logits").find_pass(pass)->outputs[i]] = outputs[i];
    };
    run_pass("forward", inputs);
    Named taken = inputs;
    for (const auto& [name, numbers] : got)
        if (name != "fc3_out") taken.emplace_back(name, numbers);
    taken.emplace_back("dfc3_out", Numbers{10});
    run_pass("backward", taken);
    const std::map<std::string, double> expected{
        {"conv1_out", 7},  {"pool1_out", 7},    {"conv2_out", 2},   {"fc1_out", 5},
        {"fc2_out", 6},    {"fc3_out", 7},      {"dfc3_w", 60},     {"dfc3_b", 10},
        {"dfc2_out", 20},  {"dfc2_w", 100},     {"dfc1_w", 40},     {"dpool2_out", 80},
        {"dconv2_w", 560}, {"dconv1_out", -80}, {"dconv1_w", -240}, {"dimage", -160}};
    for (const auto& [name, value] : expected) {
        CAPTURE(name);
        CHECK(got[name] == Numbers{value});
    }
}

TEST_CASE("each step names a pass that is there, a valid problem of it, and tensors that fit") {
    for (const char* name : {"lenet5", "lenet5_logits"})
        for (const PassSpec& pass : operator_of(name).passes)
            for (const char* text : {"in=1x1",
                                     "n=2,c=2,k1=3,k2=2,hidden1=5,hidden2=4,in=9x8,"
                                     "filter=2x3,window=2x1"}) {
                const Operator& whole = operator_of(name);
                const Problem problem = Problem::parse(whole.space, text);
                REQUIRE_FALSE(whole.validate(problem));
                for (const Step& step : pass.steps) {
                    CAPTURE(step.pass);
                    const std::size_t dot = step.pass.find('.');
                    const Operator* part =
                        Registry::instance().find_operator(step.pass.substr(0, dot));
                    REQUIRE(part);
                    const PassSpec* of_part = part->find_pass(step.pass.substr(dot + 1));
                    REQUIRE(of_part);
                    const Problem small = Problem::parse(part->space, step.problem(problem));
                    CHECK_FALSE(part->validate(small));
                    for (const auto& names :
                         {of_part->inputs, of_part->outputs, of_part->taken_by_reference()})
                        for (const std::string& tensor : names)
                            CHECK(element_count(part->sizes_of(tensor, small)) ==
                                  element_count(whole.sizes_of(step.tensor(tensor), problem)));
                }
            }
}

// Takes minutes: `gradverify_suite_tests -ns --test-case='every parameter of LeNet-5*'`.
TEST_CASE("every parameter of LeNet-5 by itself: central differences of the loss" *
          doctest::skip()) {
    const Problem problem = Problem::parse(op().space, "n=1," + lenet5);
    const ElementTypes types(24);
    Values values = draw_values(op(), problem, {.seed = 1}, ValueKind::mantissas, types);
    values["dloss"].data = {1.0};
    const PassSpec& pass = *op().find_pass("backward");
    const auto run_on_values = [&](const PassSpec& of) {
        return reference_outputs(op(), of, problem, pick(op(), problem, values, of.inputs, types));
    };
    const auto loss_and_branches = [&] {
        const auto outputs = run_on_values(op().forward());
        Numbers branches;
        for (std::size_t i = 0; i < outputs.size(); ++i)
            for (const double value : outputs[i].data)
                if (const std::string& name = op().outputs[i].name; name.ends_with("_index"))
                    branches.push_back(value);
                else if (name.ends_with("_out"))
                    branches.push_back(value > 0.0);
        return std::pair(outputs.back().data.front(), branches);
    };
    const auto saved = run_on_values(op().forward());
    for (std::size_t i = 0; i < saved.size(); ++i) values[op().outputs[i].name] = saved[i];
    const auto gradients = run_on_values(pass);
    std::int64_t checked = 0, redrawn = 0;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
        if (!op().is_gradient(pass.outputs[i])) continue;
        auto& parameter = values[pass.outputs[i].substr(1)].data;
        CAPTURE(pass.outputs[i]);
        for (std::size_t j = 0; j < parameter.size(); ++j) {
            const double before = parameter[j];
            for (double step = 1e-5; step > 1e-9; step /= 8.0) {
                parameter[j] = before + step;
                const auto [above, branches_above] = loss_and_branches();
                parameter[j] = before - step;
                const auto [below, branches_below] = loss_and_branches();
                parameter[j] = before;
                if (branches_above != branches_below) {
                    ++redrawn;
                    continue;
                }
                CAPTURE(j);
                const double gradient = gradients[i].data[j];
                CHECK(std::abs((above - below) / (2.0 * step) - gradient) <=
                      1e-5 * std::abs(gradient) + 2e-14 / step);
                ++checked;
                break;
            }
        }
    }
    MESSAGE(checked, " parameters, ", redrawn, " steps across a kink");
    CHECK(checked == 44'426);
}
