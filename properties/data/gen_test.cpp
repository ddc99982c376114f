// SPDX-License-Identifier: Apache-2.0
#include "properties/data/gen.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "harness/testing/fake_suite.hpp"
#include "properties/data/dense.hpp"
#include "properties/problems/generator.hpp"
#include "properties/tests/shrinking.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

struct Drawn {
    Operator op = operator_with_sums_of([](const Problem& p) { return p.scalar("n"); });
    TestKernel kernel{test_kernel().where("c", multiple_of(2)).aligned_to(4).blocks_of({64, 32}),
                      op};
    ProblemGenerator generator{op, *op.find_pass("grad_weight"), kernel.declaration};

    rc::Gen<Case> cases(const std::string& property = "matches_reference") const {
        return case_gen({&kernel.kernel, property_called(property), "cpu"}, ValueKind::integers,
                        problem_gen(generator), rc::gen::just(std::optional<Problem>()));
    }
};

template <class T>
std::vector<T> children_of(const rc::Shrinkable<T>& node) {
    std::vector<T> children;
    auto shrinks = node.shrinks();
    for (auto child = shrinks.next(); child; child = shrinks.next())
        children.push_back(child->value());
    return children;
}

bool has_value(const Data& data, const std::string& tensor) {
    return !data.is_explicit || std::ranges::count(data.elements, tensor, &DataElement::tensor) > 0;
}

}  // namespace

TEST_CASE("a case is supported, has data of a seed, and is a function of its own") {
    const Drawn drawn;
    std::set<std::string> printed, settings, seeds;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const Case one = drawn.cases()(rc::Random(seed)).value();
        CHECK(one == drawn.cases()(rc::Random(seed), 3).value());
        CHECK(drawn.generator.supported()->contains(one.problem));
        CHECK_FALSE(why_unsupported(drawn.kernel.kernel, one.setting));
        CHECK(one.data == Data{.seed = one.data.seed});
        CHECK(one.data.seed < 1u << 24);
        printed.insert(one.print());
        seeds.insert(std::to_string(one.data.seed));
        Case setting = case_on(drawn.kernel, parsed("c=2,in=1x1"));
        setting.setting = one.setting;
        settings.insert(setting.print());
    }
    CHECK(printed.size() == 200);
    CHECK(seeds.size() > 195);
    CHECK(settings.size() > 100);
}

TEST_CASE("a case stays what it is from version to version and machine to machine") {
    const Drawn drawn;
    const auto printed = [&](std::uint64_t seed) {
        return drawn.cases()(rc::Random(seed)).value().print();
    };
    const std::string row = "v1:" + drawn.kernel.kernel.name + ":matches_reference:cpu:";
    CHECK(printed(1) == row +
                            "n=4,c=2,k=4,in=6x21,filter=2x1,stride=1x3,dilation=2x2,padding=1x0:"
                            "seed=3753138:stream=own");
    CHECK(printed(2) ==
          row + "n=4,c=12,k=3,groups=3,in=9x5,dilation=2x3:seed=3874699:offset=3.2.1:stream=own");
}

TEST_CASE(
    "a case shrinks by its problem first, on dense data, then by its data, then its setting") {
    const Drawn drawn;
    const rc::Shrinkable<Case> root = drawn.cases()(rc::Random(4));
    const Case found = root.value();
    const std::vector<Problem> problems =
        children_of(problem_tree(*drawn.generator.supported(), found.problem));
    REQUIRE(problems.size() > 20);
    REQUIRE(found.setting != Setting{});
    const std::vector<Case> children = children_of(root);
    const int dense = dense_draw_count(drawn.kernel.kernel, "matches_reference");
    std::size_t at = 0;
    for (const Problem& problem : problems) {
        CHECK(problem < found.problem);
        CHECK(drawn.generator.supported()->contains(problem));
        for (int draw = 0; draw < dense; ++draw)
            CHECK(children.at(at++) ==
                  dense_case(drawn.kernel.kernel, "matches_reference", "cpu", problem, draw));
        CHECK(children.at(at).data == found.data);
        CHECK(children.at(at++).problem == problem);
    }
    // Zeros come first, and the setting that nothing else was changed for last.
    CHECK(children.at(at).data == Data{.is_explicit = true, .elements = {}});
    bool is_setting = false;
    for (; at < children.size(); ++at) {
        CHECK(children[at].problem == found.problem);
        is_setting |= children[at].data == found.data;
        CHECK((children[at].setting == found.setting) == !is_setting);
        CHECK(children[at].data.is_explicit == !is_setting);
    }
    CHECK(is_setting);
}

TEST_CASE(
    "walked down, a case ends at the smallest problem, the simplest data, the fewest fields") {
    const Drawn drawn;
    const auto smallest = [&](const std::function<bool(const Case&)>& fails) {
        std::set<std::string> ends;
        for (std::uint64_t seed = 0, starts = 0; starts < 5; ++seed) {
            if (!fails(drawn.cases()(rc::Random(seed)).value())) continue;
            ++starts;
            ends.insert(walk(drawn.cases()(rc::Random(seed)), fails, [] { return true; }).print());
        }
        REQUIRE(ends.size() == 1);
        return *ends.begin();
    };
    const std::string row = drawn.kernel.kernel.name + ":matches_reference:cpu:";
    CHECK(smallest([](const Case& one) {
              return one.problem.scalar("n") >= 3 && has_value(one.data, "dy");
          }) == "v1:" + row + "n=3,c=2,in=1x1:data=dy[0]=1");
    CHECK(smallest([](const Case& one) {
              return one.problem.scalar("k") >= 2 && has_value(one.data, "dy") &&
                     has_value(one.data, "x") && one.setting.block_size == 32;
          }) == "v1:" + row + "c=2,k=2,in=1x1:data=dy[0]=1,x[0]=1:block=32");
}

TEST_CASE("up to 32 elements are left out one by one, more only all but a few at once") {
    const Drawn drawn;
    const Problem problem = parsed("c=2,in=1x11");
    std::set<std::size_t> listed;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const auto tree =
            data_gen(drawn.kernel.kernel, problem, ValueKind::integers)(rc::Random(seed));
        const std::size_t count =
            list_data(drawn.kernel.kernel, problem, tree.value(), ValueKind::integers).size();
        listed.insert(count);
        const std::vector<Data> children = children_of(tree);
        CHECK(children.front().elements.empty());
        CHECK((children.back().elements.size() == count) == (count <= 32));
    }
    CHECK(listed.contains(32));
    CHECK(listed.contains(33));
}

TEST_CASE("one case in four has a call before it, which shrinks to none") {
    const Drawn drawn;
    const auto before = call_before_gen(problem_gen(drawn.generator));
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        const auto one = before(rc::Random(seed));
        const auto shrunk = children_of(one);
        CHECK(shrunk.size() == (one.value() ? 1 : 0));
        if (!one.value()) continue;
        CHECK(drawn.generator.supported()->contains(*one.value()));
        CHECK_FALSE(shrunk.front());
    }
    const auto of_one = call_before_gen(rc::gen::just(parsed("in=1x1")));
    int calls = 0;
    for (std::uint64_t seed = 0; seed < 4000; ++seed)
        calls += of_one(rc::Random(seed)).value().has_value();
    CHECK(std::abs(calls - 1000) < 120);
}
