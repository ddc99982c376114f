// SPDX-License-Identifier: Apache-2.0
#include "harness/devices/owned.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <list>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/devices/call_note.hpp"
#include "harness/devices/call_queue.hpp"
#include "harness/devices/exchange.hpp"
#include "harness/devices/launcher_times.hpp"
#include "harness/registry/element_types.hpp"
#include "harness/registry/registry.hpp"

namespace gradverify {

namespace {

// Images of so many bytes, as most have fewer, are made fast to copy.
constexpr std::size_t pinned_bytes = std::size_t{1} << 20;

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

/// One call as the owner makes it, from what a client has written into its slot.
struct ReadCall {
    ReadCall(Device& device, const ExchangeCall& asked, std::byte* memory)
        : kernel(Registry::instance().kernels().at(asked.kernel)),
          problem(kernel.op->space, asked.rank),
          names(tensors_of_call(*kernel.on(device.name()), *kernel.pass)),
          tensors(asked.tensors.begin(), asked.tensors.begin() + asked.tensor_count),
          setting{.order = static_cast<ThreadOrder>(asked.order), .order_seed = asked.order_seed} {
        for (std::size_t i = 0; i < problem.values().size(); ++i)
            problem[static_cast<int>(i)] = asked.problem[i];
        const auto moved = [&](std::uint64_t address) -> std::byte* {
            return address == 0 ? nullptr : memory + (address - Exchange::first_address);
        };
        for (TensorView& tensor : tensors)
            tensor.data = moved(reinterpret_cast<std::uint64_t>(tensor.data));
        launch = {.stream = device.stream(asked.own_stream),
                  .block_size = asked.block_size,
                  .output_mask = asked.output_mask,
                  .workspace = moved(asked.workspace),
                  .workspace_bytes = asked.workspace_bytes};
    }

    const Kernel& kernel;
    Problem problem;
    std::vector<std::string> names;
    std::vector<TensorView> tensors;
    Setting setting;
    Launch launch;
};

class Owner {
  public:
    Owner(std::string_view device, int fd, int slots)
        : device_(device_named(device)),
          exchange_(fd, slots),
          pinned_(fd, slots),
          memory_(2 * static_cast<std::size_t>(slots)) {}

    int serve() {
        ExchangeHead& head = exchange_.head();
        for (;;) {
            const std::uint32_t seen = head.doorbell;
            if (head.ends && begun_.empty()) return 0;
            bool goes_on = false;
            while (const auto asked = head.ends ? std::nullopt : queue_.next()) {
                goes_on = true;
                if (!(asked->is_alone ? make_alone(*asked) : begin(*asked)))
                    return worker_exit_device_lost;
            }
            const auto finished = finish();
            if (!finished) return worker_exit_device_lost;
            if (begun_.empty() && !goes_on && *finished == 0) exchange_.await_calls(seen);
        }
    }

  private:
    /// Calls that are being made, of one client.
    struct Begun {
        Begun(Owner& owner, const AskedCall& one)
            : asked(one), unit(owner.unit_of(one.client, read)) {}

        AskedCall asked;
        std::deque<ReadCall> read;
        OwnedUnit unit;
    };

    /// Uses the device; false where that throws, which is no error of a kernel.
    template <class Use>
    static bool works(const Use& use) try {
        const NotedLaunch launch;
        use();
        return true;
    } catch (const std::exception&) {
        return false;
    }

    void begin_round(std::int32_t in_hand) {
        ++exchange_.head().rounds;
        exchange_.head().in_hand = in_hand;
    }

    /// Makes calls that the owner before may have died of, and answers them; false once the device
    /// was lost.
    bool make_alone(const AskedCall& asked) {
        begin_round(asked.client + 1);
        note_case();
        bool lost = false;
        if (reserve(asked)) {
            std::optional<Begun> made;
            const bool is_made = works([&] { device_.run_owned(made.emplace(*this, asked).unit); });
            lost = !is_made || is_lost(made->unit);
            if (is_made)
                answer(asked, made->unit);
            else
                leave(asked);
        }
        queue_.finished(asked);
        exchange_.head().in_hand = ExchangeHead::none;
        return !lost;
    }

    /// Begins calls beside others. Once the device was lost, false: nobody can tell by which, so
    /// none is answered, and a new owner makes the calls of each client alone.
    bool begin(const AskedCall& asked) {
        begin_round(ExchangeHead::several);
        note_case();
        if (!reserve(asked)) {
            queue_.finished(asked);
            return true;
        }
        return works([&] { device_.begin_owned(begun_.emplace_back(*this, asked).unit); });
    }

    /// Answers what is finished by now, and says how many clients'; nothing once the device was
    /// lost.
    std::optional<int> finish() {
        int answered = 0;
        for (auto one = begun_.begin(); one != begun_.end();) {
            bool is_finished = false;
            const auto look = [&] { is_finished = device_.is_finished(one->unit); };
            if (!works(look) || is_lost(one->unit)) return std::nullopt;
            if (!is_finished) {
                ++one;
                continue;
            }
            note_times(exchange_.slot(one->asked.client).call.kernel, one->unit);
            ++exchange_.head().rounds;
            answer(one->asked, one->unit);
            queue_.finished(one->asked);
            one = begun_.erase(one);
            ++answered;
        }
        if (begun_.empty()) exchange_.head().in_hand = ExchangeHead::none;
        return answered;
    }

    void note_times(std::uint32_t kernel, const OwnedUnit& unit) {
        if (times_.is_slow(kernel, unit.call.launcher_seconds))
            exchange_.head().is_left_out[kernel] = true;
    }

    static bool is_lost(const OwnedUnit& unit) {
        return (unit.before && unit.before->status.device_lost) || unit.call.status.device_lost ||
               (unit.again && unit.again->status.device_lost);
    }

    OwnedUnit unit_of(int client, std::deque<ReadCall>& read) {
        const ExchangeSlot& slot = exchange_.slot(client);
        const auto image_of = [&](Image which) { return image(client, which, slot.call.bytes); };
        OwnedUnit unit{.client = client,
                       .before = {},
                       .call = owned_call(slot.call, memory(client, false), read),
                       .again = {},
                       .is_pinned = is_small(slot.call.bytes) &&
                                    (!slot.has_before || is_small(slot.before.bytes))};
        unit.call.delayed = static_cast<DelayedStream>(slot.delayed);
        unit.call.given = image_of(Image::given);
        unit.call.left = image_of(Image::left);
        if (slot.has_before) {
            unit.before.emplace(owned_call(slot.before, memory(client, true), read));
            unit.before->given = image(client, Image::before, slot.before.bytes);
        }
        if (slot.is_repeated) {
            unit.again.emplace(unit.call);
            if (!slot.uploads_again) unit.again->given = nullptr;
            unit.again->left = image_of(Image::left_again);
        }
        return unit;
    }

    OwnedCall owned_call(const ExchangeCall& asked, std::byte* memory, std::deque<ReadCall>& read) {
        const ReadCall& one = read.emplace_back(device_, asked, memory);
        return {.kernel = *one.kernel.on(device_.name()),
                .call = {.problem = one.problem,
                         .tensors = one.tensors,
                         .launch = one.launch,
                         .names = one.names,
                         .outputs = one.kernel.pass->outputs.size()},
                .setting = one.setting,
                .memory = memory,
                .bytes = asked.bytes};
    }

    /// Memory for the client's calls. Without it they are left, and false.
    bool reserve(const AskedCall& asked) try {
        const ExchangeSlot& slot = exchange_.slot(asked.client);
        if (slot.has_before) reserve(asked.client, true, slot.before.bytes);
        reserve(asked.client, false, slot.call.bytes);
        return true;
    } catch (const std::exception&) {
        leave(asked);
        return false;
    }
    void reserve(int client, bool is_before, std::size_t bytes) {
        memory(client, is_before) = device_.own(2 * client + (is_before ? 1 : 0), bytes);
    }

    static bool is_small(std::size_t bytes) { return bytes <= pinned_bytes; }

    std::byte* image(int client, Image which, std::size_t bytes) {
        const bool is_pinned = is_small(bytes);
        Exchange& mapped = is_pinned ? pinned_ : exchange_;
        const std::size_t reached = mapped.bytes_reached();
        std::byte* const found = mapped.image(client, which, is_pinned ? pinned_bytes : bytes);
        if (mapped.bytes_reached() == reached) return found;
        if (is_pinned) device_.pin({found, pinned_bytes});
        exchange_.head().image_bytes = exchange_.bytes_reached() + pinned_.bytes_reached();
        return found;
    }

    /// A process by itself may have the memory, or tell what is wrong.
    void leave(const AskedCall& asked) {
        exchange_.slot(asked.client).is_left = true;
        answered(asked);
    }

    void answer(const AskedCall& asked, const OwnedUnit& unit) {
        ExchangeSlot& slot = exchange_.slot(asked.client);
        slot.lost_before = unit.before && unit.before->status.device_lost;
        slot.device_lost = is_lost(unit);
        if (slot.device_lost) exchange_.head().is_left_out[slot.call.kernel] = true;
        slot.seconds = unit.call.status.seconds;
        if (unit.before) slot.seconds += unit.before->status.seconds;
        if (unit.again) slot.seconds += unit.again->status.seconds;
        tell(slot.answer, slot.lost_before ? unit.before->status : unit.call.status);
        if (unit.again) tell(slot.answer_again, unit.again->status);
        answered(asked);
    }

    static void tell(ExchangeAnswer& answer, const RunStatus& status) {
        answer.not_served = status.not_served;
        answer.is_refusal = status.is_refusal;
        answer.error[status.error.copy(answer.error.data(), answer.error.size() - 1)] = '\0';
    }

    void answered(const AskedCall& asked) {
        exchange_.slot(asked.client).is_suspect = false;
        exchange_.answer(asked.client, asked.turn);
    }

    std::byte*& memory(int client, bool is_before) {
        return memory_[2 * static_cast<std::size_t>(client) + (is_before ? 1 : 0)];
    }

    Device& device_;
    Exchange exchange_,
        pinned_;  ///< the same, mapped twice: images as they are, and the pinned ones
    std::vector<std::byte*> memory_;  ///< by client, of its calls and of those before
    CallQueue queue_{exchange_};
    std::list<Begun> begun_;
    LauncherTimes times_;
};

}  // namespace

void become_client(std::string_view device, int exchange_fd, int slots, int slot) {
    replace_device(std::make_unique<ClientDevice>(device, exchange_fd, slots, slot));
}

double take_owner_seconds() { return std::exchange(owner_seconds, 0.0); }

int serve_clients(std::string_view device, int exchange_fd, int slots) {
    // By default streams share eight ways to a GPU, and wait for each other there.
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
    return Owner(device, exchange_fd, slots).serve();
}

}  // namespace gradverify
