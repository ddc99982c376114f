// SPDX-License-Identifier: Apache-2.0
// Each construct gives the right results on the cpu device in every order of threads and blocks, is
// clean to the race detector, and on a GPU, where there is one, gives the same.
#include <doctest/doctest.h>

#include <map>

#include "harness/simt/tests/construct.hpp"
#include "harness/simt/tests/device_run.hpp"

namespace construct {
namespace {

std::map<std::string, std::map<std::string, Run>>& constructs() {
    static std::map<std::string, std::map<std::string, Run>> all;
    return all;
}
std::map<std::string, DeviceCount>& devices() {
    static std::map<std::string, DeviceCount> all;
    return all;
}

void run_all(const std::string& device) {
    for (const auto& [name, run] : constructs()[device]) {
        const std::string construct = device + "/" + name;
        CAPTURE(construct);
        Report report;
        try {
            run(report);
        } catch (const std::exception& error) {
            report.wrong.push_back(error.what());
        }
        CHECK(report.compared > 0);
        CHECK(gradverify::simt::take_error() == "");
        for (const std::string& wrong : report.wrong) FAIL_CHECK(wrong);
        for (const auto& finding : gradverify::simt::take_findings()) FAIL_CHECK(finding.text);
    }
}

}  // namespace

bool add(const char* device, const char* name, Run run) {
    return constructs()[device].emplace(name, run).second;
}
bool add_device(const char* device, DeviceCount count) {
    return devices().emplace(device, count).second;
}

TEST_CASE("the same constructs are there on each device") {
    CHECK(!constructs()["cpu"].empty());
    for (const auto& [device, all] : constructs()) {
        CAPTURE(device);
        CHECK(all.size() == constructs()["cpu"].size());
    }
}

TEST_CASE("on the cpu device every construct gives its results in any order") {
    simt_test::in_every_order([] { run_all("cpu"); });
}

TEST_CASE("the race detector finds nothing in any construct") {
    run_all("cpu-checked");
    const simt_test::ScheduleScope scope(
        {.threads = gradverify::simt::Order::random_threads, .seed = 9, .give_way_one_in = 40});
    run_all("cpu-checked");
}

TEST_CASE("on a GPU every construct gives the same results") {
    if (!devices().contains("cuda") || devices()["cuda"]() == 0) {
        MESSAGE("not run: no device cuda");
        return;
    }
    run_all("cuda");
}

}  // namespace construct
