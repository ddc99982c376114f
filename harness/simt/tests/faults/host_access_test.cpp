// SPDX-License-Identifier: Apache-2.0
// A launcher leaves device memory alone on the host, as it would not reach it on a GPU.
#include <doctest/doctest.h>

#include <string>
#include <thread>

#include "harness/simt/tests/device_run.hpp"

using simt_test::check_contains;

namespace gradverify::simt {
namespace {

/// 0, 1, 2 ... 5 in a buffer of its own.
class HostAccess {
  public:
    explicit HostAccess(bool is_input = false) {
        turn_faults_into_errors();
        begin_ = buffer_region(0, 6 * sizeof(float), Edge::end);
        REQUIRE(begin_ != nullptr);
        for (int i = 0; i < 6; ++i) floats()[i] = static_cast<float>(i);
        describe_buffers({{"w", begin_, begin_ + 6 * sizeof(float), sizeof(float), is_input}});
    }
    ~HostAccess() { describe_buffers({}); }

    float* floats() const { return reinterpret_cast<float*>(begin_); }
    std::string text_of(const std::string& launcher, bool closes = true) {
        CAPTURE(launcher);
        begin_launcher(closes);
        simt_test::launchers().at("cpu/" + launcher)({floats(), 6, 0});
        std::string text = end_launcher();
        CHECK(take_error() == "");
        return text;
    }

  private:
    std::byte* begin_ = nullptr;
};

}  // namespace

TEST_CASE("a launcher that uses device memory on the host goes on and is told, with its line") {
    const std::pair<std::string, std::string> wrong[] = {
        {"branch_on_an_input", ":51: the launcher read device memory on the host: in w, w[1] of 6"},
        {"write_an_output", ":55: the launcher read device memory on the host: in w, w[0] of 6"},
        {"accumulate", ":58: the launcher read device memory on the host: in w, w[0] of 6"},
        {"copy_by_memcpy", ":63: the launcher read device memory on the host: in w, w["},
        {"clear_by_memset", ":68: the launcher wrote device memory on the host: in w, w[0] of 6"},
        {"loop_over_a_workspace",
         ":72: the launcher read device memory on the host: byte 0 of the 24 of an allocation"},
        {"read_a_vectors_pointer",
         ":78: the launcher read device memory on the host: byte 8 of the 16 of an allocation"},
        {"use_in_a_host_function",
         ":45: the launcher read device memory on the host: in w, w[0] of 6"},
        {"write_new_memory",
         ":87: the launcher wrote device memory on the host: byte 0 of the 4 of an allocation"}};
    for (const auto& [launcher, text] : wrong) {
        HostAccess access;
        check_contains(access.text_of(launcher), {"faults/kernels_host_access.cu" + text});
        CHECK(access.floats()[0] == (launcher == "clear_by_memset" ? 0.0f : 100.0f));
        CHECK(access.text_of(launcher, false) == "");
    }
}

TEST_CASE("a launcher may use what it copied, and memory of both sides, and libraries theirs") {
    for (const bool closes : {true, false}) {
        for (const char* launcher :
             {"copy_the_input", "copy_all_and_back", "managed_memory", "pinned_memory",
              "mapped_memory", "sets_and_rows", "symbols", "references_of_thrust",
              "products_of_cublas", "memory_of_the_call_before", "memory_of_the_call_before"}) {
            HostAccess access;
            CHECK(access.text_of(launcher, closes) == "");
            CHECK(access.floats()[0] == 100.0f);
        }
    }
}

TEST_CASE("what a launcher writes on the host to an input is told, too, and does not end it") {
    HostAccess access(true);
    begin_launcher(true);
    access.floats()[5] = 1.0f;
    check_contains(end_launcher(), {"the launcher wrote device memory on the host: in w, w[5]"});
    CHECK(access.floats()[5] == 1.0f);
}

TEST_CASE("a launcher's other thread is at work beside the host, and is held to the same") {
    HostAccess access;
    begin_launcher(true);
    std::thread([&] {
        simt_test::launchers().at("cpu/managed_memory")({access.floats(), 6, 0});
    }).join();
    CHECK(end_launcher() == "");
    begin_launcher(true);
    std::thread([&] { access.floats()[2] = 7.0f; }).join();
    check_contains(end_launcher(), {"the launcher wrote device memory on the host: in w, w[2]"});
    CHECK(access.floats()[2] == 7.0f);
}

TEST_CASE("a launcher of very many works is watched at its beginning") {
    HostAccess access;
    begin_launcher(true);
    for (int i = 0; i < 2000; ++i)
        simt_test::launchers().at("cpu/copy_the_input")({access.floats(), 6, 0});
    access.floats()[0] = 0.0f;
    CHECK(end_launcher() == "");
}

}  // namespace gradverify::simt
