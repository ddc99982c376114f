// SPDX-License-Identifier: Apache-2.0
// Memory that clients share with the process that owns their device: for each client a slot with
// what it asks for and the answer, and the images of its buffers before and after the calls.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/registry/tensor_view.hpp"

namespace gradverify {

/// One call of a kernel.
struct ExchangeCall {
    static constexpr std::size_t most_tensors = 64, most_values = 64;

    std::uint64_t bytes = 0;   ///< of device memory, and of each image
    std::uint32_t kernel = 0;  ///< its place in the registry
    std::int32_t rank = 0;     ///< of the problem
    std::array<std::int64_t, most_values> problem{};
    std::uint32_t tensor_count = 0;
    /// Addresses and those of the workspace count from `Exchange::first_address`.
    std::array<TensorView, most_tensors> tensors{};
    std::uint64_t workspace = 0;
    std::int64_t workspace_bytes = 0;
    std::int32_t block_size = 0, order = 0;
    std::uint64_t order_seed = 0;
    std::uint32_t output_mask = 0;
    bool own_stream = false;
};

/// What a call came to; see RunStatus.
struct ExchangeAnswer {
    bool not_served = false, is_refusal = false;
    std::array<char, 4000> error{};
};

/// Calls of a kernel that are made one directly after the other, and the answers. The memory begins
/// as zeros: nothing is asked.
struct ExchangeSlot {
    /// Counts requests and answers: odd while calls are asked for.
    std::atomic<std::uint32_t> turn{0};
    /// An owner died with these calls among others, so they are made alone.
    std::atomic<bool> is_suspect{false};

    /// See RunSequence.
    bool has_before = false, is_repeated = false, uploads_again = false;
    std::int32_t delayed = 0;  ///< the stream of `call`, not of `before`
    ExchangeCall before, call;

    bool is_left = false;  ///< they were not made; the client is to do so elsewhere
    double seconds = 0.0;  ///< of all
    bool device_lost = false, lost_before = false;
    ExchangeAnswer answer, answer_again;

    static bool is_asked(std::uint32_t at_turn) { return at_turn % 2 == 1; }
    bool is_asked() const { return is_asked(turn); }
};

/// What an owner and its driver tell each other. The memory begins as zeros.
struct ExchangeHead {
    static constexpr std::size_t most_kernels = std::size_t{1} << 14;
    static constexpr std::int32_t none = 0, several = -1;

    std::atomic<std::uint32_t> doorbell{0};  ///< counts the requests
    /// Whose calls are being made: nobody's, some slots' beside each other, or, of one that is
    /// alone, one more than its number.
    std::atomic<std::int32_t> in_hand{none};
    std::atomic<std::uint64_t> rounds{0};  ///< calls begun and finished, as a sign of life
    /// Of the images that the owner has reached for.
    std::atomic<std::uint64_t> image_bytes{0};
    std::atomic<bool> ends{false};  ///< the owner is to end when it has nothing in hand
    /// Kernels that the owner is not asked for, for the others' sake: it has died or lost its
    /// device in one, or waits long for the launcher.
    std::array<std::atomic<bool>, most_kernels> is_left_out{};
};

/// What the device memory of a slot's calls holds.
enum class Image {
    before,     ///< before the call before
    given,      ///< before the call, and before it is made again
    left,       ///< after the call
    left_again  ///< after it was made again
};

class Exchange {
  public:
    /// A client counts its device addresses from here.
    static constexpr std::uint64_t first_address = std::uint64_t{1} << 40;
    /// The most of one image. Memory is used as far as it is touched.
    static constexpr std::size_t most_bytes = std::size_t{1} << 32;

    /// A descriptor of memory for these slots. **Errors** EnvironmentError.
    static int make_memory(int slots);
    /// **Errors** EnvironmentError.
    Exchange(int fd, int slots);
    ~Exchange();
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    int slots() const { return slots_; }
    ExchangeHead& head() const;
    ExchangeSlot& slot(int index) const;
    /// An image of the slot's. This process can reach so many bytes of it or more, and nothing of
    /// what it has not asked for: a wild pointer of a kernel is to meet no memory there.
    /// **Errors** EnvironmentError.
    std::byte* image(int index, Image which, std::size_t bytes);
    /// Of all images, those that this process can reach by now.
    std::size_t bytes_reached() const;

    /// Asks the owner for the slot's calls, and waits for the answer.
    void call(int index) const;
    /// Waits until calls were asked for since the doorbell was at `seen`, or a second has passed.
    void await_calls(std::uint32_t seen) const;
    /// Answers what was asked at this turn, if its client still waits for it.
    void answer(int index, std::uint32_t turn) const;
    /// Takes back what a client that is gone has asked for.
    void forget(int index) const;
    /// Answers a client that its calls are not made here. No owner may be running.
    void leave(int index) const;
    void ring() const;

  private:
    static constexpr std::size_t images = 4;

    static std::size_t size_of(int slots);

    std::byte* memory_ = nullptr;
    int slots_;
    std::vector<std::size_t> reached_;  ///< bytes of each image
};

}  // namespace gradverify
