// SPDX-License-Identifier: Apache-2.0
// Host memory that plays a device, for tests of what lies in it.
#pragma once

#include <cstring>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "harness/devices/device.hpp"

namespace gradverify::testing {

/// With unmapped edges or without. In place of a kernel it runs a function, if it has one.
class FakeDevice : public Device {
  public:
    explicit FakeDevice(bool unmapped_edges = false) : unmapped_edges_(unmapped_edges) {}

    std::string_view name() const override { return "fake"; }
    bool has_unmapped_edges() const override { return unmapped_edges_; }
    std::vector<std::byte*> place(std::span<const std::size_t> region_bytes, Edge asked) override {
        edge = asked;
        sizes = {region_bytes.begin(), region_bytes.end()};
        bytes_ = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
        memory_.resize(bytes_ + 4096);
        const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
        begins.assign(1, memory_.data() + (4096 - address % 4096));
        for (const std::size_t bytes : sizes) begins.push_back(begins.back() + bytes);
        begins.pop_back();
        return begins;
    }
    std::byte* host_memory(int which, std::size_t bytes) override {
        host_[which].resize(bytes);
        return host_[which].data();
    }
    void upload(const std::byte* host) override { std::memcpy(begins[0], host, bytes_); }
    void download(std::byte* host) override { std::memcpy(host, begins[0], bytes_); }
    void describe(std::span<const PlacedBuffer> buffers, Poison, bool) override {
        described = {buffers.begin(), buffers.end()};
    }
    CUstream_st* stream(bool) override { return nullptr; }
    bool overlaps_streams() const override { return false; }
    RunStatus run(const KernelDeclaration&, const PassCall& call, const Setting&,
                  DelayedStream) override {
        return launcher ? launcher(call) : RunStatus{};
    }
    Timing time(const KernelDeclaration&, const PassCall&, const Setting&,
                const TimingOptions& options) override {
        asked_to_time = options;
        return timing;
    }
    Ceilings measure_ceilings() override { return {}; }

    std::function<RunStatus(const PassCall&)> launcher;
    Timing timing;  ///< the answer of `time`
    TimingOptions asked_to_time;
    Edge edge = Edge::end;
    std::vector<std::size_t> sizes;
    std::vector<std::byte*> begins;
    std::vector<PlacedBuffer> described;

  private:
    bool unmapped_edges_;
    std::size_t bytes_ = 0;
    std::vector<std::byte> memory_;
    std::vector<std::byte> host_[2];
};

}  // namespace gradverify::testing
