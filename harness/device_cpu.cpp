// SPDX-License-Identifier: Apache-2.0
// The CPU device: launchers compiled for the host, their threads run by the SIMT executor in the
// order that the setting asks for.
#include <chrono>
#include <cstring>
#include <exception>
#include <stdexcept>

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
    ~CpuDevice() override {
        if (memory_) simt::free_device(memory_);
        if (stream_) simt::destroy_stream(stream_);
    }

    std::string_view name() const override { return "cpu"; }

    std::byte* memory(std::size_t bytes) override {
        if (bytes > bytes_) {
            if (memory_) simt::free_device(memory_);
            memory_ = nullptr;
            bytes_ = 0;
            memory_ = static_cast<std::byte*>(simt::allocate_device(bytes));
            if (!memory_) throw std::runtime_error("not enough memory for the cpu device");
            bytes_ = bytes;
        }
        return memory_;
    }

    std::byte* host_memory(int which, std::size_t bytes) override {
        auto& block = host_[which];
        if (block.size() < bytes) block.resize(bytes);
        return block.data();
    }

    void upload(const std::byte* host, std::size_t bytes) override {
        std::memcpy(memory_, host, bytes);
    }
    void download(std::byte* host, std::size_t bytes) override {
        std::memcpy(host, memory_, bytes);
    }

    CUstream_st* stream(bool own) override {
        if (!own) return nullptr;
        if (!stream_) stream_ = simt::make_stream();
        return stream_;
    }

    RunStatus run(KernelDeclaration::Thunk thunk, const PassCall& call,
                  const Setting& setting) override {
        simt::set_schedule(schedule_of(setting));
        RunStatus status;
        const auto start = std::chrono::steady_clock::now();
        try {
            thunk(call);
        } catch (const std::exception& thrown) {
            status.error = std::string("the launcher threw: ") + thrown.what();
        } catch (...) {
            status.error = "the launcher threw something that is no std::exception";
        }
        status.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        if (const std::string error = simt::take_error(); !error.empty()) status.error = error;
        return status;
    }

  private:
    std::byte* memory_ = nullptr;
    std::size_t bytes_ = 0;
    std::vector<std::byte> host_[2];
    CUstream_st* stream_ = nullptr;
};

}  // namespace

std::unique_ptr<Device> make_cpu_device() { return std::make_unique<CpuDevice>(); }

}  // namespace gradverify::detail
