// SPDX-License-Identifier: Apache-2.0
// lenet5 worked out by hand, the sizes of LeNet-5, and its steps against their operators.
#include <map>
#include <string>

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
