// SPDX-License-Identifier: Apache-2.0
// The client's side: a device that asks the owner for each call.
#include "harness/devices/owner/owner_device.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "harness/devices/owner/exchange.hpp"
#include "harness/registry/registry.hpp"

namespace gradverify {

namespace {

double owner_seconds = 0.0;

/// It is the owner's; nothing is there in this process.
// NOLINTNEXTLINE(performance-no-int-to-ptr)
void* pointer_to(std::uint64_t address) { return reinterpret_cast<void*>(address); }

/// The place of a kernel in the registry; nothing for a checked variant.
std::optional<std::uint32_t> place_of(const KernelDeclaration& kernel) {
    const std::vector<Kernel>& kernels = Registry::instance().kernels();
    const auto found = std::ranges::find_if(
        kernels, [&](const Kernel& candidate) { return candidate.on(kernel.device) == &kernel; });
    if (found == kernels.end()) return std::nullopt;
    return static_cast<std::uint32_t>(found - kernels.begin());
}

/// Asks the owner. Nothing of the device is touched in this process.
class ClientDevice final : public Device {
  public:
    ClientDevice(std::string_view name, int fd, int slots, int slot)
        : name_(name), exchange_(fd, slots), index_(slot), slot_(exchange_.slot(slot)) {}

    std::string_view name() const override { return name_; }
    bool has_unmapped_edges() const override { return false; }

    void begin(const RunSequence& sequence) override {
        sequence_ = sequence;
        is_before_ = sequence.has_before;
    }

    std::vector<std::byte*> place(std::span<const std::size_t> region_bytes, Edge) override {
        again_.reset();
        is_again_ = false;
        std::vector<std::byte*> begins;
        std::uint64_t address = Exchange::first_address;
        for (const std::size_t bytes : region_bytes) {
            begins.push_back(static_cast<std::byte*>(pointer_to(address)));
            address += bytes;
        }
        used_ = address - Exchange::first_address;
        if (used_ > Exchange::most_bytes) throw NeedsDeviceItself();
        return begins;
    }
    std::byte* host_memory(int which, std::size_t bytes) override {
        if (which == 1) return exchange_.image(index_, Image::left, bytes);
        return exchange_.image(index_, is_before_ ? Image::before : Image::given, bytes);
    }

    // The owner copies before and after the calls.
    void upload(const std::byte*) override {}
    void download(std::byte* host) override {
        if (is_again_) std::memcpy(host, exchange_.image(index_, Image::left_again, used_), used_);
    }

    CUstream_st* stream(bool own) override {
        return own ? static_cast<CUstream_st*>(pointer_to(Exchange::first_address)) : nullptr;
    }
    bool overlaps_streams() const override { return true; }

    /// The call before is asked for with the next one, and that one with what repeats it.
    RunStatus run(const KernelDeclaration& kernel, const PassCall& call, const Setting& setting,
                  DelayedStream delayed) override {
        if (again_) {
            is_again_ = true;
            return *std::exchange(again_, std::nullopt);
        }
        if (std::exchange(is_before_, false)) {
            write(slot_.before, kernel, call, setting);
            return {};
        }
        write(slot_.call, kernel, call, setting);
        slot_.delayed = static_cast<std::int32_t>(delayed);
        const RunSequence sequence = std::exchange(sequence_, {});
        slot_.has_before = sequence.has_before;
        slot_.is_repeated = sequence.is_repeated;
        slot_.uploads_again = sequence.uploads_again;
        exchange_.call(index_);
        owner_seconds += slot_.seconds;
        if (std::exchange(slot_.is_left, false)) throw NeedsDeviceItself();
        RunStatus status = status_of(slot_.answer);
        status.seconds = slot_.seconds;
        status.lost_before = slot_.lost_before;
        if (sequence.is_repeated && status.ok()) again_ = status_of(slot_.answer_again);
        return status;
    }

    LargeMemory& large_memory() override { throw NeedsDeviceItself(); }
    Timing time(const KernelDeclaration&, const PassCall&, const Setting&,
                const TimingOptions&) override {
        throw NeedsDeviceItself();
    }
    Ceilings measure_ceilings() override { throw NeedsDeviceItself(); }

  private:
    std::uint32_t place(const KernelDeclaration& kernel) {
        if (last_kernel_ == &kernel) return last_place_;
        const auto found = place_of(kernel);
        if (!found || *found >= ExchangeHead::most_kernels) throw NeedsDeviceItself();
        last_kernel_ = &kernel;
        return last_place_ = *found;
    }

    void write(ExchangeCall& to, const KernelDeclaration& kernel, const PassCall& call,
               const Setting& setting) {
        to.kernel = place(kernel);
        const std::span<const std::int64_t> values = call.problem.values();
        if (exchange_.head().is_left_out[to.kernel] ||
            call.tensors.size() > ExchangeCall::most_tensors ||
            values.size() > ExchangeCall::most_values)
            throw NeedsDeviceItself();
        to.bytes = used_;
        to.rank = call.problem.rank();
        std::ranges::copy(values, to.problem.begin());
        to.tensor_count = static_cast<std::uint32_t>(call.tensors.size());
        std::ranges::copy(call.tensors, to.tensors.begin());
        to.workspace = reinterpret_cast<std::uint64_t>(call.launch.workspace);
        to.workspace_bytes = call.launch.workspace_bytes;
        to.block_size = call.launch.block_size;
        to.output_mask = call.launch.output_mask;
        to.own_stream = call.launch.stream != nullptr;
        to.order = static_cast<std::int32_t>(setting.order);
        to.order_seed = setting.order_seed;
    }

    /// What the owner has lost is lost with all that earlier calls have left there.
    RunStatus status_of(const ExchangeAnswer& answer) const {
        return {.error = answer.error.data(),
                .not_served = answer.not_served,
                .is_refusal = answer.is_refusal,
                .device_lost = slot_.device_lost};
    }

    std::string name_;
    Exchange exchange_;
    int index_;
    ExchangeSlot& slot_;
    RunSequence sequence_;
    bool is_before_ = false, is_again_ = false;  ///< the run that is next; that was last
    std::optional<RunStatus> again_;             ///< of a run that was asked for with the last
    std::size_t used_ = 0;
    const KernelDeclaration* last_kernel_ = nullptr;
    std::uint32_t last_place_ = 0;
};

}  // namespace

void become_client(std::string_view device, int exchange_fd, int slots, int slot) {
    replace_device(std::make_unique<ClientDevice>(device, exchange_fd, slots, slot));
}

double take_owner_seconds() { return std::exchange(owner_seconds, 0.0); }

}  // namespace gradverify
