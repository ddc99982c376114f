// SPDX-License-Identifier: Apache-2.0
// The owner's side: the calls of all clients, beside each other.
#include "harness/devices/owner/owner_device.hpp"

#include <cstdlib>
#include <deque>
#include <exception>
#include <list>
#include <optional>
#include <vector>

#include "harness/devices/call_note.hpp"
#include "harness/devices/launcher_times.hpp"
#include "harness/devices/owner/call_queue.hpp"
#include "harness/devices/owner/exchange.hpp"
#include "harness/registry/element_types.hpp"
#include "harness/registry/registry.hpp"

namespace gradverify {

namespace {

// Images of so many bytes, as most have fewer, are made fast to copy.
constexpr std::size_t pinned_bytes = std::size_t{1} << 20;

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

    /// Makes and answers calls that an owner may have died of; false once the device is lost.
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

    /// Answers what is finished, and says how many clients'; nothing once the device is lost.
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

int serve_clients(std::string_view device, int exchange_fd, int slots) {
    // By default streams share eight ways to a GPU, and wait for each other there.
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
    return Owner(device, exchange_fd, slots).serve();
}

}  // namespace gradverify
