// SPDX-License-Identifier: Apache-2.0
// The CPU device: launchers compiled for the host, their threads run by the SIMT executor in the
// order that the setting asks for.
#include <chrono>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <utility>

#include "harness/device.hpp"
#include "harness/simt/simt.hpp"

namespace gradverify::detail {

namespace {

simt::Schedule schedule_of(const Setting& setting) {
    const auto order = [&] {
        switch (setting.order) {
            case ThreadOrder::ascending:
                return simt::Order::ascending;
            case ThreadOrder::descending:
                return simt::Order::descending;
            case ThreadOrder::random_threads:
                return simt::Order::random_threads;
            case ThreadOrder::random_warps:
                return simt::Order::random_warps;
        }
        return simt::Order::ascending;
    }();
    return {.threads = order, .blocks = order, .seed = setting.order_seed};
}

class CpuDevice final : public Device {
  public:
    CpuDevice() { simt::turn_faults_into_errors(); }

    std::string_view name() const override { return "cpu"; }

    bool has_unmapped_edges() const override { return true; }

    std::vector<std::byte*> place(std::span<const std::size_t> region_bytes, Edge edge) override {
        regions_.clear();
        std::vector<std::byte*> begins;
        for (const std::size_t bytes : region_bytes) {
            std::byte* begin = simt::buffer_region(
                regions_.size(), bytes, edge == Edge::end ? simt::Edge::end : simt::Edge::begin);
            if (!begin) throw std::runtime_error("not enough memory for the cpu device");
            regions_.push_back({begin, bytes});
            begins.push_back(begin);
        }
        return begins;
    }

    std::byte* host_memory(int which, std::size_t bytes) override {
        auto& block = host_[which];
        if (block.size() < bytes) block.resize(bytes);
        return block.data();
    }

    void upload(const std::byte* host) override {
        for (const std::span<std::byte> region : regions_) {
            std::memcpy(region.data(), host, region.size());
            host += region.size();
        }
    }
    void download(std::byte* host) override {
        for (const std::span<std::byte> region : regions_) {
            std::memcpy(host, region.data(), region.size());
            host += region.size();
        }
    }

    void describe(std::span<const PlacedBuffer> buffers) override {
        std::vector<simt::NamedBuffer> named;
        named.reserve(buffers.size());
        for (const PlacedBuffer& buffer : buffers)
            named.push_back(
                {std::string(buffer.name), buffer.begin, buffer.end, buffer.element_bytes});
        simt::describe_buffers(std::move(named));
    }

    bool overlaps_streams() const override { return false; }

    CUstream_st* stream(bool own) override {
        if (!own) return nullptr;
        if (!stream_) stream_ = simt::make_stream();
        return stream_;
    }

    RunStatus run(const KernelDeclaration& kernel, const PassCall& call, const Setting& setting,
                  DelayedStream) override {
        simt::set_schedule(schedule_of(setting));
        simt::begin_call(call.launch.stream);
        RunStatus status;
        const auto start = std::chrono::steady_clock::now();
        try {
            kernel.thunk(call);
        } catch (const std::exception& thrown) {
            status.error = std::string("the launcher threw: ") + thrown.what();
        } catch (...) {
            status.error = "the launcher threw something that is no std::exception";
        }
        status.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        status.not_served = simt::error_is_cuda_only();
        if (const std::string error = simt::take_error(); !error.empty()) status.error = error;
        // What a launch error keeps from being launched is not to be missed.
        if (status.ok())
            status.error = simt::why_unordered(kernel.stream_use == StreamUse::given_only);
        status.accesses_checked = simt::take_counters().accesses_checked;
        for (simt::Finding& finding : simt::take_findings())
            status.findings.push_back(std::move(finding.text));
        return status;
    }

  private:
    std::vector<std::span<std::byte>> regions_;
    std::vector<std::byte> host_[2];
    CUstream_st* stream_ = nullptr;  ///< of this OS thread, with which it ends
};

}  // namespace

std::unique_ptr<Device> make_cpu_device() { return std::make_unique<CpuDevice>(); }

}  // namespace gradverify::detail
