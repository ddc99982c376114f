// SPDX-License-Identifier: Apache-2.0
// The CPU device: the SIMT executor runs a kernel's threads in the order that the setting asks for.
#include <array>
#include <chrono>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "harness/devices/call_note.hpp"
#include "harness/devices/device.hpp"
#include "harness/devices/large/large_memory.hpp"
#include "harness/devices/leftovers.hpp"
#include "harness/devices/process_state.hpp"
#include "harness/simt/simt.hpp"

namespace gradverify::detail {

namespace {

simt::Schedule schedule_of(const Setting& setting) {
    // In the order of ThreadOrder.
    constexpr simt::Order orders[] = {simt::Order::ascending, simt::Order::descending,
                                      simt::Order::random_threads, simt::Order::random_warps};
    const simt::Order order = orders[static_cast<std::size_t>(setting.order)];
    return {.threads = order, .blocks = order, .seed = setting.order_seed};
}

template <class Work>
double seconds_of(const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class Work>
double least_seconds(const Work& work) {
    double least = 0.0;
    for (int i = 0; i < 6; ++i) {
        const double seconds = seconds_of(work);
        if (i < 2 || seconds < least) least = seconds;  // the first meets new memory
    }
    return least;
}

std::string processor_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("model name") && line.find(": ") != std::string::npos)
            return line.substr(line.find(": ") + 2);
    return "one core";
}

/// Ceilings of one core with plain loops.
Ceilings measure_cpu_ceilings() {
    Ceilings ceilings{.device_name = processor_name()};
    const std::vector<std::byte> from(std::size_t{64} << 20);
    std::vector<std::byte> to(from.size());
    const double copy = least_seconds([&] {
        std::memcpy(to.data(), from.data(), from.size());
        asm volatile("" : : "r"(to.data()) : "memory");  // the copy is not to be left out
    });
    ceilings.copy_bytes_per_second = 2.0 * static_cast<double>(from.size()) / copy;
    constexpr int chains = 64, rounds = 1 << 19;
    std::array<float, chains> sums{};
    const double multiplied = least_seconds([&] {
        for (int round = 0; round < rounds; ++round)
            for (float& sum : sums) sum = sum * 0.999f + 0.999f;
        asm volatile("" : : "r"(sums.data()) : "memory");
    });
    ceilings.arithmetic.push_back({ceiling_f32, 2.0 * chains * rounds / multiplied});
    return ceilings;
}

class CpuDevice final : public Device {
  public:
    CpuDevice() {
        note_faults();
        simt::count_blocks_in(&worker_note().blocks);
        simt::note_overflows(note_overflow);
    }

    std::string_view name() const override { return "cpu"; }

    bool has_unmapped_edges() const override { return true; }

    std::vector<std::byte*> place(std::span<const std::size_t> region_bytes, Edge edge) override {
        regions_.clear();
        std::vector<std::byte*> begins;
        const simt::Edge unmapped = edge == Edge::end ? simt::Edge::end : simt::Edge::begin;
        for (const std::size_t bytes : region_bytes) {
            std::byte* begin = simt::buffer_region(regions_.size(), bytes, unmapped);
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

    void describe(std::span<const PlacedBuffer> buffers, Poison scratch,
                  bool is_protected) override {
        constexpr std::uint32_t nan = ~std::uint32_t{0};  // or -1
        simt::fill_allocations_with(
            scratch == Poison::nan ? nan
                                   : static_cast<std::uint32_t>(poison_bits(DType::f32, scratch)));
        is_protected_ = is_protected;
        std::vector<simt::NamedBuffer> named;
        named.reserve(buffers.size());
        for (const PlacedBuffer& buffer : buffers)
            named.push_back({std::string(buffer.name), buffer.begin, buffer.end,
                             buffer.element_bytes, buffer.is_input && is_protected_});
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
        simt::Schedule schedule = schedule_of(setting);
        if (kernel.has_blocks_in_order) schedule.blocks = simt::Order::ascending;
        simt::set_schedule(schedule);
        simt::begin_call(call.launch.stream);
        RunStatus status;
        simt::begin_launcher(is_protected_);
        status.seconds = seconds_of([&] { status.call(kernel, call); });
        const std::string used_on_host = simt::end_launcher();
        const bool is_cuda_only = simt::error_is_cuda_only();
        if (const std::string error = simt::take_error(); !error.empty()) {
            status.error = error;
            status.not_served = is_cuda_only;
            status.is_refusal = false;
        }
        if (!used_on_host.empty()) {
            status.error = used_on_host;
            status.not_served = status.is_refusal = false;
        }
        // After an error, work that was never launched would be missing.
        if (status.ok())
            status.unordered = simt::why_unordered(kernel.stream_use == StreamUse::given_only);
        status.accesses_checked = simt::take_accesses_checked();
        worker_note().threads += simt::take_threads_launched();
        for (simt::Finding& finding : simt::take_findings())
            status.findings.push_back(std::move(finding.text));
        return status;
    }

    std::byte* own(int which, std::size_t bytes) override {
        std::byte* const memory =
            simt::buffer_region(static_cast<std::size_t>(which), bytes, simt::Edge::end);
        if (!memory) throw std::runtime_error("not enough memory for the cpu device");
        simt::describe_buffers({});
        is_protected_ = false;
        return memory;
    }

    void run_owned(OwnedUnit& unit) override {
        if (unit.before) run_owned(*unit.before);
        run_owned(unit.call);
        if (unit.again && unit.call.status.ok()) run_owned(*unit.again);
    }

    Timing time(const KernelDeclaration& kernel, const PassCall& call, const Setting& setting,
                const TimingOptions& options) override {
        if (options.graph) return {.error = "the cpu device times no graphs"};
        Timing timing;
        double spent = 0.0;
        // The first call meets new memory and is no sample.
        for (bool is_first = true;
             is_first || wants_another_sample(options, timing.samples.size(), spent);
             is_first = false) {
            const RunStatus status = run(kernel, call, setting, DelayedStream::none);
            if (!status.ok())
                return {.error = status.error,
                        .not_served = status.not_served,
                        .is_refusal = status.is_refusal};
            if (is_first) continue;
            timing.samples.push_back(status.seconds);
            spent += status.seconds;
        }
        return timing;
    }

    LargeMemory& large_memory() override {
        if (!large_memory_) large_memory_ = make_large_host_memory();
        return *large_memory_;
    }

    Ceilings measure_ceilings() override { return measure_cpu_ceilings(); }

  private:
    void run_owned(OwnedCall& call) {
        if (call.given) std::memcpy(call.memory, call.given, call.bytes);
        {
            const ScopedProcessState state;
            call.status = run(call.kernel, call.call, call.setting, call.delayed);
            call.status.charge(restore_process());
        }
        if (call.left) std::memcpy(call.left, call.memory, call.bytes);
    }

    std::vector<std::span<std::byte>> regions_;
    std::vector<std::byte> host_[2];
    std::unique_ptr<LargeMemory> large_memory_;
    bool is_protected_ = false;      ///< inputs from writes, device memory from the host
    CUstream_st* stream_ = nullptr;  ///< of this OS thread, with which it ends
};

}  // namespace

std::unique_ptr<Device> make_cpu_device() { return std::make_unique<CpuDevice>(); }

}  // namespace gradverify::detail
