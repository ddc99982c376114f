// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/faults/source_line.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <stdexcept>
#include <vector>

#include "harness/simt/tests/device_run.hpp"

namespace simt_test {

namespace {

std::vector<const char*> noted;

void note(const void* return_address) {
    noted.push_back(static_cast<const char*>(return_address) - 1);
}

std::vector<const char*> note_two_lines() {
    noted.clear();
    CHECK_THROWS_AS(launchers().at("cpu/note_two_lines")({}), std::runtime_error);
    return noted;
}

struct CurrentFolder {
    std::filesystem::path before = std::filesystem::current_path();
    explicit CurrentFolder(const std::filesystem::path& folder) {
        std::filesystem::current_path(folder);
    }
    ~CurrentFolder() { std::filesystem::current_path(before); }
};

}  // namespace

[[gnu::noinline]] void note_caller() { note(__builtin_return_address(0)); }
[[gnu::noinline]] void note_caller_and_throw() {
    note(__builtin_return_address(0));
    throw std::runtime_error("noted");
}

}  // namespace simt_test

using gradverify::simt::source_of;
using simt_test::contains;

TEST_CASE("an address in a kernel file has its line there, also where it was inlined") {
    const auto addresses = simt_test::note_two_lines();
    REQUIRE(addresses.size() == 3);
    CHECK(contains(source_of(addresses[0]), "kernels_source_lines.cu:10"));
    CHECK(contains(source_of(addresses[1]), "kernels_source_lines.cu:6"));
    CHECK(contains(source_of(addresses[2]), "kernels_source_lines.cu:13"));
    CHECK(source_of(addresses[0]) == source_of(addresses[0]));
}

TEST_CASE("the file is relative to the current folder where it lies in it") {
    // Other bytes of one call each time: what was found for an address is remembered.
    const char* call = simt_test::note_two_lines().at(0);
    std::string far;
    {
        const simt_test::CurrentFolder folder("/usr");
        far = source_of(call - 2);
    }
    REQUIRE(far.starts_with("/"));
    REQUIRE(far.ends_with("/simt/tests/kernels_source_lines.cu:10"));
    const simt_test::CurrentFolder folder(std::filesystem::path(far).parent_path().parent_path());
    CHECK(source_of(call - 1) == "tests/kernels_source_lines.cu:10");
}

TEST_CASE("an address without debug information has no line") {
    int local = 0;
    CHECK(source_of(nullptr) == "");
    CHECK(source_of(&local) == "");
}
