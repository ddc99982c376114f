// SPDX-License-Identifier: Apache-2.0
// What cases print, and what is refused with which words.
#include "harness/cases/case.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "harness/testing/made_operator.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

const Registry& registry() {
    static const Registry result = registry_of({toy_kernel("plain"), toy_kernel("tree_reduction")});
    return result;
}

Case make_case(const char* problem = "in=3") {
    return {.kernel = "toy.forward/plain",
            .property = "matches_reference",
            .device = "cpu",
            .problem = Problem::parse(registry().find_operator("toy")->space, problem)};
}

const std::string start = "v1:toy.forward/plain:matches_reference:cpu:in=3";

/// Why the text is refused; empty when it is not.
std::string complaint(const std::string& text) {
    return refusal([&] { Case::parse(text, registry()); });
}

std::string reprinted(const std::string& text) { return Case::parse(text, registry()).print(); }

Setting any_setting() {
    Setting setting;
    setting.order = static_cast<ThreadOrder>(*rc::gen::inRange(0, 4));
    if (setting.order == ThreadOrder::random_threads || setting.order == ThreadOrder::random_warps)
        setting.order_seed = *rc::gen::arbitrary<std::uint64_t>();
    setting.offsets = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4097));
    while (!setting.offsets.empty() && setting.offsets.back() == 0) setting.offsets.pop_back();
    setting.block_size = *rc::gen::inRange(0, 1025);
    setting.own_stream = *rc::gen::arbitrary<bool>();
    setting.place = *rc::gen::inRange(0, 4);
    if (*rc::gen::arbitrary<bool>())
        setting.output_mask = *rc::gen::inRange<std::uint32_t>(0, Setting::every_output);
    for (const char* tensor : {"x", "dw"})
        if (*rc::gen::arbitrary<bool>())
            setting.layouts[tensor] = {.order = *rc::gen::element<std::string>("", "nhwc"),
                                       .row_padding = *rc::gen::inRange(1, 4097),
                                       .expanded = *rc::gen::inRange<std::uint32_t>(0, 64)};
    return setting;
}

Data any_data() {
    Data data;
    data.is_explicit = *rc::gen::arbitrary<bool>();
    if (!data.is_explicit) {
        data.is_dense = *rc::gen::arbitrary<bool>();
        data.seed = *rc::gen::arbitrary<std::uint64_t>();
        if (*rc::gen::arbitrary<bool>())
            data.files = *rc::gen::container<std::vector<std::string>>(
                rc::gen::element<std::string>("x.npy", "/a%b/c d.safetensors", ",:.npy"));
        return data;
    }
    for (int count = *rc::gen::inRange(0, 4); count > 0; --count)
        data.elements.push_back({.tensor = *rc::gen::element<std::string>("x", "w", "dy"),
                                 .index = *rc::gen::inRange<std::int64_t>(0, 1 << 20),
                                 .value = *rc::gen::arbitrary<double>()});
    return data;
}

}  // namespace

TEST_CASE("a case names the files that its tensors are from, and draws the others") {
    Case recorded = make_case();
    recorded.data = {.seed = 7, .files = {"acts.safetensors", "a b/c:d,e%.npy"}};
    const std::string text = start + ":data=acts.safetensors,a%20b/c%3ad%2ce%25.npy:seed=7";
    CHECK(recorded.print() == text);
    CHECK(Case::parse(text, registry()) == recorded);
    CHECK(reprinted(start + ":dense=3:data=x.npy") == start + ":data=x.npy:dense=3");
    CHECK(
        complaint(start + ":data=x.npy") ==
        "case: exactly one of seed=..., dense=... and data=... is needed; what data=FILE lacks is "
        "drawn by seed=... or dense=...");
    CHECK(complaint(start + ":data=x.txt,x.npy:seed=1") ==
          "case: data=x.txt,x.npy: files end in .safetensors or .npy");
    for (const char* path : {"%", "%3", "%zz", "%41"})
        CHECK(complaint(start + ":data=" + path + ".npy:seed=1").starts_with("case: data="));
}

TEST_CASE("a case prints as its fields, defaults left out") {
    Case plain = make_case("n=2,in=5x4");
    CHECK(plain.print() == "v1:toy.forward/plain:matches_reference:cpu:n=2,in=5x4:seed=0");
    plain = make_case();
    plain.data = {.seed = 7, .is_dense = true};
    CHECK(plain.print() == start + ":dense=7");
    plain.data.is_dense = false;
    plain.setting = {.order = ThreadOrder::random_warps,
                     .order_seed = 12,
                     .offsets = {1, 0, 2, 0},
                     .block_size = 64,
                     .own_stream = true};
    CHECK(plain.print() == start + ":seed=7:order=warps.12:offset=1.0.2:block=64:stream=own");
    plain.setting = {.order = ThreadOrder::random_threads, .order_seed = 3};
    CHECK(plain.print() == start + ":seed=7:order=threads.3");
    plain.setting = {.order = ThreadOrder::descending,
                     .layouts = {{"dx", {.order = "hwn", .row_padding = 1}}, {"w", {}}}};
    CHECK(plain.print() == start + ":seed=7:order=descending:layout=dx.hwn.pad1");
}

TEST_CASE("one case has one text, however it was written") {
    for (const std::string rest :
         {":seed=7", ":seed=1:place=same", ":seed=1:place=same.2", ":data=zeros",
          ":data=x[0]=1,w[3]=-0.1,dy[12]=9.313225746154785e-10",
          ":data=x[0]=nan,x[1]=inf,x[2]=-inf"})
        CHECK(reprinted(start + rest) == start + rest);
    CHECK(reprinted(start + ":precision=strict:seed=7") == start + ":seed=7:precision=strict");
    CHECK(reprinted(start + ":seed=7:order=ascending:offset=0.0:stream=default:place=own") ==
          start + ":seed=7");
    CHECK(reprinted(start + ":stream=own:offset=1.0:seed=7") ==
          start + ":seed=7:offset=1:stream=own");
    CHECK(Case::parse(start + ":data=zeros", registry()).data.is_explicit);
}

TEST_CASE("a printed case parses to the same case") {
    int cases = 0;
    const bool holds = rc::check("Case::parse(case.print()) == case", [&] {
        Case any = make_case(*rc::gen::element("in=1", "n=0,in=3", "n=4,in=5x2"));
        any.kernel =
            *rc::gen::element<std::string>("toy.forward/plain", "toy.forward/tree_reduction");
        any.property = *rc::gen::element<std::string>("repeatable", "adjoint_identity");
        any.device = *rc::gen::element<std::string>("cpu", "cuda");
        any.data = any_data();
        any.setting = any_setting();
        ++cases;
        const std::string text = any.print();
        RC_ASSERT(Case::parse(text, registry()) == any);
        RC_ASSERT(text.find_first_of(" \t\n'\"") == std::string::npos);
    });
    CHECK(holds);
    CHECK(cases >= 100);
}

TEST_CASE("what is no case is refused with what is accepted") {
    const std::string one_of = "exactly one of seed=..., dense=... and data=... is needed";
    const std::string fields = "v1:KERNEL:PROPERTY:DEVICE:PROBLEM:seed=N";
    const std::vector<std::pair<std::string, std::string>> refused{
        {"nonsense", "it begins with 'nonsense', but this gradverify reads " + fields},
        {"v2:toy.forward/plain:p:cpu:in=3:seed=1",
         "it begins with 'v2', but this gradverify reads " + fields},
        {start, "it has 5 fields; " + fields + " has six, or more"},
        {"v1:toy.forward/plane:repeatable:cpu:in=3:seed=1",
         "there is no kernel 'toy.forward/plane'; did you mean toy.forward/plain? (`gradverify "
         "list` prints them)"},
        {"v1:toy.forward/plain:repeatable:gpu:in=3:seed=1",
         "there is no device 'gpu'; there are cpu, cuda"},
        {start + ":block=64", one_of},
        {start + ":seed=1:data=zeros", one_of},
        {start + ":seed=1:dense=1", one_of},
        {start + ":dense=1:data=zeros", one_of},
        {start + ":seed=1:colour=red",
         "there is no field 'colour'; there are seed, dense, data, order, offset, block, stream, "
         "place, layout, mask, precision, before, copies"},
        {start + ":seed=1:own", "the field 'own' is not of the form name=value"},
        {start + ":seed=1:", "the field '' is not of the form name=value"},
        {start + ":seed=1:block=2:block=2", "the field block stands twice"},
        {start + ":seed=1:precision=loose", "precision=loose is unknown; there is strict"},
        {start + ":seed=1:stream=mine", "stream=mine is unknown; there are default, own"},
        {start + ":data=x[0]=1,x[1]=1,x[0]=2", "the element x[0] stands twice"},
        {start + ":seed=1:layout=dx", "layout=dx: 'dx' is not a tensor and its layout, as x.nhwc"},
        {start + ":seed=1:layout=dx.hwn+dx.pad1", "layout=dx.hwn+dx.pad1: dx stands twice"},
        {start + ":seed=1:layout=dx.pad0",
         "layout=dx.pad0: pad0 is not pad and a number of elements in 1..4096"},
    };
    for (const auto& [text, why] : refused) CHECK(complaint(text) == "case: " + why);
    CHECK(contains(complaint("v1:toy.forward/plain:repeatable:cpu:in=3,k=2:seed=1"),
                   "unknown parameter `k`; accepted: n=NUMBER, in=NUMBERxNUMBER.."));
    for (const char* rest : {":dense=1", ":data=zeros", ":data=x[0]=1,w[0]=1",
                             ":seed=18446744073709551615:offset=4096:block=1024"})
        CHECK(complaint(start + rest).empty());
}

TEST_CASE("a malformed value is refused with what is accepted") {
    struct Field {
        std::string before, after;
        std::vector<std::string> values;
    };
    const std::vector<Field> malformed{
        {":seed=",
         " is not a whole number from 0 to 2^64-1",
         {"", "-1", "1.5", "x", "18446744073709551616", " 1"}},
        {":seed=1:order=",
         " is unknown; there are ascending, descending, threads.SEED, warps.SEED",
         {"", "up", "threads", "threads.", "warps.x", "warps.-1", "descending.1"}},
        {":seed=1:offset=",
         " is not a list of elements such as 1.0.2, each at most 4096",
         {"", "-1", "4097", "1..2", "1,2", "1.x"}},
        {":seed=1:block=",
         " is not a number of threads in 1..1024",
         {"", "0", "-1", "1025", "64x1"}},
        {":seed=1:place=",
         " is unknown; there are own, same, same.2",
         {"same.1", "same.0", "same.", "here"}},
        {":seed=1:mask=",
         " is no set of outputs: the bit 2^i asks for output i, counted from 0",
         {"-1", "x", "4294967295"}}};
    for (const auto& [before, after, values] : malformed)
        for (const std::string& value : values) {
            const std::string name = before.substr(before.rfind(':') + 1);
            CHECK(complaint(start + before + value) == "case: " + name + value + after);
        }
    for (const std::string element :
         {"", "x", "x=1", "x[0]", "x[0]=", "x[]=1", "[0]=1", "x[-1]=1", "x[0]]=1", "x]=1[",
          "x[0]=1e", "x[1.5]=1", "x[0]==1", "zeros"})
        CHECK(complaint(start + ":data=w[0]=1," + element) ==
              "case: '" + element + "' is not an element; write x[0]=1,w[3]=-0.5, or zeros");
}

TEST_CASE("a case of many elements is read in time that grows as they do") {
    std::string text = start + ":data=x[0]=1";
    // Minutes, if each were held against all before it.
    for (int i = 1; i < 200'000; ++i) text += ",x[" + std::to_string(i) + "]=1";
    CHECK(complaint(text).empty());
    CHECK(complaint(text + ",x[7]=2").ends_with("the element x[7] stands twice"));
}

TEST_CASE("a setting that the kernel does not declare is named") {
    const Registry registry = registry_of({toy_kernel("any").blocks_of({64, 256}).aligned_to(8),
                                           toy_kernel("plain").on_default_stream()});
    const Kernel& any = *registry.find_kernel("toy.forward/any");
    const Kernel& plain = *registry.find_kernel("toy.forward/plain");
    const auto why = [](const Kernel& kernel, const Setting& setting) {
        return why_unsupported(kernel, setting).value_or("");
    };
    CHECK(why(any, {}) == "");
    CHECK(why(any, {.offsets = {2, 0, 4}, .block_size = 256, .own_stream = true}) == "");
    CHECK(why(any, {.block_size = 33}) == "block=33 is not one of its block sizes 64, 256");
    CHECK(why(plain, {.block_size = 64}) == "block=64, but it declares no block sizes");
    CHECK(why(any, {.offsets = {0, 1}}) == "offset 1 breaks its alignment of 8 bytes");
    CHECK(why(plain, {.own_stream = true}) == "stream=own, but it declares the default stream");
    CHECK(why(any, {.place = 1}) == "place=same, but it declares no in_place() outputs");
    CHECK(why(any, {.output_mask = 1}) == "mask=1, but it takes no output mask");
    CHECK(why(any, {.offsets = {0, 0, 0, 0, 0, 2}}) == "6 offsets, but it has 3 tensors");
}

TEST_CASE("a call before is part of the case, and must be one that the kernel supports") {
    const std::string text = "v1:toy.forward/plain:p:cpu:in=3:seed=1:before=n=2,in=5";
    const Registry registry = registry_of({toy_kernel("plain").where("in", between(1, 6))});
    const Case parsed = Case::parse(text, registry);
    REQUIRE(parsed.setting.before);
    CHECK(parsed.setting.before->print() == "n=2,in=5");
    CHECK(parsed.print() == text);
    const Kernel& kernel = *registry.find_kernel("toy.forward/plain");
    CHECK_FALSE(why_unsupported(kernel, parsed.setting));
    Setting other;
    other.before = Problem::parse(kernel.op->space, "in=9");
    CHECK(why_unsupported(kernel, other).value_or("") == "before: it needs 1 <= in <= 6");
    CHECK_THROWS_AS(Case::parse("v1:toy.forward/plain:p:cpu:in=3:seed=1:before=5", registry),
                    std::invalid_argument);
}

TEST_CASE("copies say what a large problem is made of, and must fit it") {
    Operator toy = toy_operator();
    toy.separable = {{.name = "n", .parameters = {"n"}}};
    const Registry registry = registry_of({toy_kernel("plain")}, toy);
    const std::string large = "v1:toy.forward/plain:p:cpu:n=1000000000,in=3:seed=1";
    const auto why = [&](const std::string& text) {
        return refusal([&] { Case::parse(text, registry); });
    };
    const Case parsed = Case::parse(large + ":copies=n*500000000", registry);
    CHECK(parsed.setting.copies == Copies{.along = "n", .count = 500000000});
    CHECK(parsed.print() == large + ":copies=n*500000000");
    for (const char* copies : {"n", "n*", "n*1", "n*x", "n*-3"})
        CHECK(why(large + ":copies=" + copies) ==
              "case: copies=" + std::string(copies) +
                  " is not along what, and how many, from 2 on, as n*65537");
    CHECK(why(large + ":copies=in_h*3") ==
          "case: copies=in_h*3: toy is not separable along in_h; it is along n");
    CHECK(why(large + ":copies=n*3") ==
          "case: copies=n*3: n=1000000000,in=3 is not so many copies of a problem along n");
    CHECK(why("v1:toy.forward/plain:p:cpu:n=4,in=3:data=zeros:copies=n*2") ==
          "case: copies=n*2: the data of a large problem are drawn, by seed=... or dense=...");
    CHECK(why("v1:toy.forward/plain:p:cpu:n=4,in=3:seed=1:before=in=1:copies=n*2") ==
          "case: copies=n*2: there is no call before one on a large problem");
}
