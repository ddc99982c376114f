// SPDX-License-Identifier: Apache-2.0
// Signed integers wrap in both variants, whatever the optimiser may take for granted; the checked
// one tells each line that overflows once.
#include <doctest/doctest.h>

#include <climits>
#include <cstring>
#include <fstream>

#include "harness/simt/tests/device_run.hpp"

using simt_test::check_contains;
using simt_test::contains;

namespace gradverify::simt {
namespace {

/// Those that are built.
std::vector<std::string> variants() {
    std::vector<std::string> built{"cpu"};
    if (simt_test::launchers().contains("cpu-checked/fold")) built.emplace_back("cpu-checked");
    return built;
}

std::vector<std::string> told;

/// Whether something was told, as the checked variant does and the other does not.
bool is_told(const std::string& variant) {
    CHECK(told.empty() == (variant == "cpu"));
    return !told.empty();
}

/// Notes what is told of overflows while it lives.
struct Noted {
    Noted() {
        told.clear();
        forget_overflows();
        note_overflows([](const char* text) { told.emplace_back(text); });
    }
    ~Noted() { note_overflows(nullptr); }
};

/// "kernels_overflow.cu:12": the line that is marked so.
std::string line_of(const std::string& mark) {
    std::ifstream file(GRADVERIFY_SIMT_TEST_FOLDER "/kernels_overflow.cu");
    int number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        if (line.ends_with("// line: " + mark))
            return "kernels_overflow.cu:" + std::to_string(number) + ": ";
    }
    CAPTURE(mark);
    REQUIRE(false);
    return "";
}

std::vector<int> integers_of(const std::string& launcher, const std::string& variant,
                             int count = 16) {
    const simt_test::DeviceFloats memory(16);
    simt_test::launchers().at(variant + "/" + launcher)({memory.data, count, 0});
    std::vector<int> integers(16);
    std::memcpy(integers.data(), memory.data, 16 * sizeof(int));
    return integers;
}

}  // namespace

TEST_CASE("an index that overflows and comes right is right, and told") {
    for (const std::string& variant : variants()) {
        CAPTURE(variant);
        const Noted noted;
        CHECK(simt_test::run("wrap_back", 8, 0, variant)[3] == 1.0f);
        CHECK(take_error() == "");
        if (!is_told(variant)) continue;
        CHECK(contains(told[0], "int overflow at "));
        check_contains(told[0],
                       {line_of("wrap_back") + "46341 * 46341 in block (0, 0, 0), thread ("});
    }
}

TEST_CASE("an overflow that leads out of a buffer is told before the fault") {
    for (const std::string& variant : variants()) {
        CAPTURE(variant);
        const Noted noted;
        turn_faults_into_errors();
        const simt_test::DeviceFloats memory(16);
        const simt_test::NamedScope scope(memory.data, 16);
        simt_test::launchers().at(variant + "/out_of_bounds")({memory.data, 16, 0});
        take_findings();
        CHECK(take_error() != "");
        if (!is_told(variant)) continue;
        REQUIRE(told.size() == 1);
        check_contains(told[0], {line_of("out_of_bounds") + "46341 * 46341 in block (0, 0, 0)"});
    }
}

TEST_CASE("nothing is folded that wrapping contradicts") {
    for (const std::string& variant : variants()) {
        CAPTURE(variant);
        const std::vector<int> results = integers_of("fold", variant);
        CHECK(results[0] == 2);
        CHECK(results[1] == 0);
        CHECK(results[2] == 0);
        CHECK(results[3] == INT_MIN);
        CHECK(results[4] == 1);
        CHECK(results[5] == INT_MIN);
        CHECK(results[6] == -2);
        CHECK(results[7] == -1);
        CHECK(results[8] == 0);
        CHECK(results[9] == INT_MIN);
        CHECK(results[10] == INT_MAX);
    }
}

TEST_CASE("each operation is told with its operands, three lines at most") {
    const struct {
        const char* line;
        const char* operation;
        int result;
    } operations[] = {{"sum", "2147483647 + 5", INT_MIN + 4},
                      {"difference", "-2147483648 - 1", INT_MAX},
                      {"product", "2147483647 * 3", INT_MAX - 2},
                      {"negation", "-(-2147483648)", INT_MIN},
                      {"long_product", "9223372036854775807 * 3", 0}};
    for (const std::string& variant : variants()) {
        CAPTURE(variant);
        const Noted noted;
        for (int which = 0; which < 5; ++which) {
            const auto& [line, operation, result] = operations[which];
            forget_overflows();
            CHECK(integers_of("operate", variant, which)[0] == result);
            if (!is_told(variant)) continue;
            REQUIRE(told.size() == static_cast<std::size_t>(which) + 1);
            check_contains(told.back(), {line_of(line) + operation});
        }
        if (!is_told(variant)) continue;
        check_contains(told[0], {"int overflow at "});
        check_contains(told[4], {"long"});
        told.clear();
        forget_overflows();
        for (int which = 0; which < 10; ++which) integers_of("operate", variant, which % 5);
        CHECK(told.size() == 3);
    }
}

TEST_CASE("an overflow of the launcher itself is told, outside of a kernel") {
    for (const std::string& variant : variants()) {
        CAPTURE(variant);
        const Noted noted;
        CHECK(integers_of("on_the_host", variant, INT_MAX)[0] == INT_MIN + 4);
        if (!is_told(variant)) continue;
        REQUIRE(told.size() == 1);
        check_contains(told[0], {line_of("on_the_host") + "2147483647 + 5 on the host"});
    }
}

TEST_CASE("a line that overflows at every step is told once") {
    for (const std::string& variant : variants()) {
        CAPTURE(variant);
        const Noted noted;
        unsigned state = 1;
        for (int i = 0; i < 100000; ++i) state = state * 1103515245u + 12345u;
        CHECK(integers_of("hash", variant, 100000)[0] == static_cast<int>(state));
        if (!is_told(variant)) continue;
        REQUIRE(told.size() == 1);
        check_contains(told[0], {line_of("hash")});
    }
}

TEST_CASE("unsigned integers, atomics and intrinsics wrap silently") {
    for (const std::string& variant : variants()) {
        CAPTURE(variant);
        const Noted noted;
        const std::vector<int> results = integers_of("unsigned_and_atomic", variant);
        CHECK(results[0] == INT_MIN);
        CHECK(results[1] == INT_MIN + 3);
        CHECK(results[2] == 2);
        CHECK(told.empty());
    }
}

}  // namespace gradverify::simt
