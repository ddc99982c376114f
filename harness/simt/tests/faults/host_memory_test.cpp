// SPDX-License-Identifier: Apache-2.0
// A kernel uses neither memory nor functions of the host, in each variant of the CPU device.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "harness/simt/tests/device_run.hpp"

using simt_test::check_contains;

namespace gradverify::simt {
namespace {

/// 0, 1, 2, 3 in a buffer of its own, before a launcher and after it.
class Data {
  public:
    Data() {
        turn_faults_into_errors();
        begin_ = buffer_region(0, 4 * sizeof(float), Edge::end);
        REQUIRE(begin_ != nullptr);
        for (int i = 0; i < 4; ++i) floats()[i] = static_cast<float>(i);
        describe_buffers({{"w", begin_, begin_ + 4 * sizeof(float), sizeof(float)}});
    }
    ~Data() { describe_buffers({}); }

    float* floats() const { return reinterpret_cast<float*>(begin_); }
    /// Of the launcher, with what the race detector found.
    std::string error_of(const std::string& launcher) {
        simt_test::launchers().at(launcher)({floats(), 4, 0});
        std::string error = take_error();
        for (const Finding& finding : take_findings()) error += "; " + finding.text;
        return error;
    }

  private:
    std::byte* begin_ = nullptr;
};

template <class Check>
void in_each_variant(Check check) {
    for (const std::string variant : {"cpu/", "cpu-checked/"})
        if (simt_test::launchers().contains(variant + "given_a_local")) check(variant);
}

void check_right(const std::string& launcher) {
    Data data;
    CAPTURE(launcher);
    CHECK(data.error_of(launcher) == "");
    for (int i = 0; i < 4; ++i) CHECK(data.floats()[i] == static_cast<float>(i + 1));
}

}  // namespace

TEST_CASE("a kernel that uses a pointer to host memory ends with an error that says what it is") {
    const std::pair<std::string, std::string> wrong[] = {
        {"given_a_local", "the stack"},
        {"given_a_scalar", "the stack"},
        {"given_a_static_local", "a variable"},
        {"given_bss", "a variable"},
        {"given_data", "a variable"},
        {"given_constants", "a constant"},
        {"given_a_static_member", "a variable"},
        {"given_a_vector", "the heap"},
        {"given_a_literal", "a constant"},
        {"given_in_a_struct", "a variable"},
        {"given_in_a_pack", "the stack"},
        {"given_in_an_array", "a variable"},
        {"given_in_a_lambda", "the stack"},
        {"given_to_a_launch_by_call", "a variable"},
        {"given_to_an_extended_launch", "a variable"}};
    in_each_variant([&](const std::string& variant) {
        for (const auto& [launcher, use] : wrong)
            check_contains(Data().error_of(variant + launcher),
                           {"faults/kernels_host_memory.cu:",
                            " host memory (a host pointer to " + use, "in block (0, 0, 0)"});
    });
}

TEST_CASE(
    "a kernel may be given a pointer to host memory that it does not use, and memory that it "
    "shares") {
    in_each_variant([](const std::string& variant) {
        for (const char* launcher :
             {"given_and_not_used", "given_device_memory", "given_pinned_memory",
              "given_registered_memory", "given_a_managed_variable", "given_a_symbols_address",
              "with_constant_memory", "given_the_end_of_pinned_memory", "given_a_devices_address",
              "given_numbers", "given_a_pack", "given_what_a_kernel_made_new",
              "given_what_a_kernel_allocated"})
            check_right(variant + launcher);
    });
}

TEST_CASE("a kernel that reaches a function of the host ends with an error at its line") {
    in_each_variant([](const std::string& variant) {
        for (const std::string launcher :
             {"call_a_hosts_functor", "call_a_hosts_static_member", "call_a_hosts_lambda",
              "call_a_pointer_to_a_hosts_function", "call_a_template_argument",
              "call_a_hosts_member", "call_a_bases_member"})
            check_contains(Data().error_of(variant + launcher),
                           {"faults/kernels_host_memory.cu:",
                            "is called in device code: mark it "
                            "__device__, in block (0, 0, 0)"});
        for (const std::string launcher :
             {"call_a_devices_functor", "call_a_devices_static_member", "call_a_devices_lambda",
              "call_a_constexpr_function", "given_what_the_host_converts",
              "given_what_converts_itself", "given_braces", "given_a_default", "picked",
              "given_a_hosts_result"})
            check_right(variant + launcher);
    });
}

}  // namespace gradverify::simt
