// SPDX-License-Identifier: Apache-2.0
// The worker's side: a device that asks its launcher process for each call.
#include "harness/devices/apart/apart_device.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include "harness/base/errors.hpp"
#include "harness/devices/apart/apart_message.hpp"
#include "harness/devices/apart/confine.hpp"
#include "harness/devices/launch.hpp"
#include "harness/operators/operator.hpp"

namespace gradverify {

namespace {

using Clock = std::chrono::steady_clock;

ApartCalls calls_of_this_process;

constexpr const char* not_apart = "is not done with kernels that are kept apart";

/// A foreign text, cut off, with a question mark for what a terminal might obey.
std::string modest(std::string_view text, std::size_t most = ApartAnswer::most_text) {
    std::string modest(text.substr(0, most));
    for (char& c : modest)
        if ((c >= 0 && c < ' ' && c != '\n') || c == '\x7f') c = '?';
    return modest;
}

/// An address that the launcher process translates.
// NOLINTNEXTLINE(performance-no-int-to-ptr)
std::byte* pointer_at(std::uint64_t address) { return reinterpret_cast<std::byte*>(address); }

class ApartDevice final : public Device {
  public:
    explicit ApartDevice(std::string_view name) : name_(name) {}
    ApartDevice(const ApartDevice&) = delete;
    ApartDevice& operator=(const ApartDevice&) = delete;
    /// What the launcher process dies of at its end is this one's end, too.
    ~ApartDevice() override {
        if (process_ < 0) return;
        close(socket_);
        constexpr std::chrono::seconds longest_good_end{6};  // more than the driver waits
        if (const auto status = status_within(longest_good_end); status && *status != 0)
            end_as(*status);
    }

    std::string_view name() const override { return name_; }
    bool has_unmapped_edges() const override { return is_cpu(); }
    bool overlaps_streams() const override { return !is_cpu(); }

    std::vector<std::byte*> place(std::span<const std::size_t> region_bytes, Edge edge) override {
        asked_.places = true;
        asked_.edge = static_cast<int>(edge);
        asked_.region_bytes.assign(region_bytes.begin(), region_bytes.end());
        used_ = 0;
        for (const std::size_t bytes : region_bytes) used_ += bytes;
        std::vector<std::byte*> begins;
        for (const std::uint64_t begin :
             apart_begins(asked_.region_bytes, is_cpu() && edge == Edge::end))
            begins.push_back(pointer_at(begin));
        return begins;
    }
    std::byte* host_memory(int which, std::size_t bytes) override {
        auto& block = host_[which];
        if (block.size() < bytes) block.resize(bytes);
        return block.data();
    }
    void upload(const std::byte* host) override { given_ = host; }
    void download(std::byte* host) override {
        if (memory_) std::memcpy(host, memory_->image(used_), used_);
    }

    void describe(std::span<const PlacedBuffer> buffers, Poison scratch,
                  bool is_protected) override {
        asked_.is_protected = is_protected;
        asked_.poison = static_cast<int>(scratch);
        asked_.buffers.clear();
        for (const PlacedBuffer& one : buffers)
            asked_.buffers.push_back({.name = std::string(one.name),
                                      .begin = reinterpret_cast<std::uint64_t>(one.begin),
                                      .end = reinterpret_cast<std::uint64_t>(one.end),
                                      .element_bytes = one.element_bytes,
                                      .is_input = one.is_input});
    }
    CUstream_st* stream(bool own) override {
        return own ? reinterpret_cast<CUstream_st*>(pointer_at(apart_zone)) : nullptr;
    }

    RunStatus run(const KernelDeclaration& kernel, const PassCall& call, const Setting& setting,
                  DelayedStream delayed) override {
        if (process_ < 0) start();
        asked_.uploads = given_ != nullptr;
        if (given_) {
            std::memcpy(memory_->image(used_), given_, used_);
            uploaded_ = std::exchange(given_, nullptr);
        }
        write(kernel, call, setting, delayed);
        const std::uint64_t blocks = memory_->note().blocks;
        const auto begin = Clock::now();
        send(message_of(asked_));
        const std::optional<ApartAnswer> answer = await();
        const std::chrono::duration<double> took = Clock::now() - begin;
        // What waits in the socket was written by nobody else.
        if (!answer || answer->number != asked_.number)
            return {.error = "the kernel wrote to a descriptor of the harness",
                    .device_lost = true};
        asked_.places = false;
        calls_of_this_process.seconds += took.count();
        if (answer->has_thrown) throw std::runtime_error(modest(answer->error));
        RunStatus status = status_of(*answer, kernel);
        status.seconds = std::clamp(answer->seconds, 0.0, took.count());
        if (status.ok()) count_call(memory_->note().blocks != blocks);
        return status;
    }

    LargeMemory& large_memory() override {
        throw NotServed(fmt::format("a call with large tensors {}", not_apart));
    }
    Timing time(const KernelDeclaration&, const PassCall&, const Setting&,
                const TimingOptions&) override {
        return {.error = fmt::format("timing {}", not_apart)};
    }
    Ceilings measure_ceilings() override {
        throw std::runtime_error(fmt::format("timing {}", not_apart));
    }

  private:
    bool is_cpu() const { return name_ == "cpu"; }

    void write(const KernelDeclaration& kernel, const PassCall& call, const Setting& setting,
               DelayedStream delayed) {
        ++asked_.number;
        asked_.operator_name = kernel.operator_name;
        asked_.pass_name = kernel.pass_name;
        asked_.variant = kernel.variant;
        asked_.device = kernel.device;
        const ParameterSpace& space = call.problem.space();
        if (std::exchange(space_, &space) != &space) {
            ApartSpace told{.rank_min = space.rank_min(), .rank_max = space.rank_max()};
            for (const ParameterSpec& spec : space.parameters()) told.parameters.push_back({spec});
            asked_.space = message_of(told);
        }
        asked_.rank = call.problem.rank();
        asked_.problem.assign(call.problem.values().begin(), call.problem.values().end());
        asked_.tensors.assign(call.tensors.begin(), call.tensors.end());
        asked_.names.assign(call.names.begin(), call.names.end());
        asked_.outputs = call.outputs;
        asked_.own_stream = call.launch.stream != nullptr;
        asked_.block_size = call.launch.block_size;
        asked_.output_mask = call.launch.output_mask;
        asked_.workspace = reinterpret_cast<std::uint64_t>(call.launch.workspace);
        asked_.workspace_bytes = call.launch.workspace_bytes;
        asked_.order = static_cast<int>(setting.order);
        asked_.order_seed = setting.order_seed;
        asked_.delayed = static_cast<int>(delayed);
    }

    static RunStatus status_of(const ApartAnswer& answer, const KernelDeclaration& kernel) {
        RunStatus status{.error = modest(answer.error),
                         .unordered = modest(answer.unordered),
                         .accesses_checked = answer.accesses_checked,
                         .not_served = answer.not_served && !answer.error.empty(),
                         .device_lost = answer.device_lost};
        status.is_refusal = status.not_served && answer.is_refusal && kernel.may_refuse_problems;
        for (const std::string& finding : answer.findings)
            status.findings.push_back(modest(finding));
        tell_overflows(answer.overflows);
        return status;
    }

    /// Each line once in a case.
    static void tell_overflows(std::string_view overflows) {
        const std::string told = modest(overflows, sizeof WorkerNote::overflows - 1);
        if (!told.empty() &&
            std::string_view(worker_note().overflows.data()).find(told) == std::string_view::npos)
            note_overflow(told.c_str());
    }

    void count_call(bool has_launched) {
        ++calls_of_this_process.completed;
        // An image that holds what it held, as of a problem of no elements, was not worked on.
        if (is_cpu() && !has_launched && std::memcmp(memory_->image(used_), uploaded_, used_) != 0)
            ++calls_of_this_process.without_launch;
    }

    void start() {
        const int memory = memfd_create("gradverify-tensors", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        std::array<int, 2> ends{-1, -1};
        // It can't be cut under this process's feet.
        if (memory < 0 ||
            ftruncate(memory, ApartMemory::note_bytes + ApartMemory::most_bytes) != 0 ||
            fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0 ||
            socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
            throw EnvironmentError("can't make what is shared with a launcher process");
        memory_.emplace(memory);
        process_ = fork();
        if (process_ == 0) {
            become_confined(apart_program(), {apart_program(), name_}, ends[1], memory, !is_cpu());
            std::fprintf(stderr, "can't run %s: %s\n", apart_program().c_str(),
                         std::strerror(errno));
            _exit(127);
        }
        close(memory);
        close(ends[1]);
        socket_ = ends[0];
        if (process_ < 0) throw EnvironmentError("can't start a launcher process");
        const auto greeting = await();
        if (greeting && !greeting->error.empty()) throw EnvironmentError(modest(greeting->error));
    }

    void send(const std::string& message) const {
        if (::send(socket_, message.data(), message.size(), MSG_NOSIGNAL) < 0 && errno != EPIPE &&
            errno != ECONNRESET)
            throw std::runtime_error("a call is too large to be sent to a launcher process");
    }

    /// The next answer; nothing for what is none. Does not return where the process has ended.
    std::optional<ApartAnswer> await() {
        std::vector<char>& room = received_;
        room.resize(ApartAnswer::most_bytes);
        std::uint64_t blocks = memory_->note().blocks;
        std::uint64_t threads = memory_->note().threads;
        const auto pass_on_counts = [&] {
            const WorkerNote& theirs = memory_->note();
            const std::uint64_t blocks_now = theirs.blocks, threads_now = theirs.threads;
            worker_note().blocks += blocks_now - std::exchange(blocks, blocks_now);
            worker_note().threads += threads_now - std::exchange(threads, threads_now);
        };
        constexpr int look_milliseconds = 20;
        for (;;) {
            pollfd answers{.fd = socket_, .events = POLLIN, .revents = 0};
            const int ready = poll(&answers, 1, look_milliseconds);
            pass_on_counts();
            siginfo_t ended{};
            if (ready <= 0 &&
                waitid(P_PID, static_cast<id_t>(process_), &ended, WEXITED | WNOHANG | WNOWAIT) ==
                    0 &&
                ended.si_pid != 0)
                end_like_process();
            if (ready <= 0) continue;
            const ssize_t bytes = recv(socket_, room.data(), room.size(), MSG_TRUNC);
            if (bytes <= 0) end_like_process();
            if (static_cast<std::size_t>(bytes) > room.size()) return std::nullopt;
            try {
                return read_message<ApartAnswer>({room.data(), static_cast<std::size_t>(bytes)});
            } catch (const std::runtime_error&) {
                return std::nullopt;
            }
        }
    }

    /// As waitpid gives it; nothing, and it is killed, where it has not ended by then.
    std::optional<int> status_within(std::chrono::seconds longest) {
        const auto until = Clock::now() + longest;
        int status = 0;
        const pid_t process = std::exchange(process_, -1);
        while (waitpid(process, &status, WNOHANG) == 0) {
            if (Clock::now() > until) {
                kill(process, SIGKILL);
                waitpid(process, nullptr, 0);
                return std::nullopt;
            }
            std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
        return status;
    }

    [[noreturn]] void end_like_process() {
        const WorkerNote& theirs = memory_->note();
        const auto text = [](const auto& noted) {
            return std::string(noted.data(), strnlen(noted.data(), noted.size()));
        };
        if (theirs.in_launcher)
            note_found(modest(text(theirs.found)).c_str(), theirs.found_not_served);
        tell_overflows(text(theirs.overflows));
        const auto status = status_within(std::chrono::seconds(1));
        if (!status) std::fputs("the kernel closed descriptors of the harness\n", stderr);
        end_as(status.value_or(SIGABRT));
    }

    [[noreturn]] static void end_as(int status) {
        int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        // This code means something to the driver.
        if (!signal && WEXITSTATUS(status) == worker_exit_device_lost) {
            std::fprintf(stderr, "the kernel's process called exit(%d)\n", worker_exit_device_lost);
            signal = SIGABRT;
        }
        if (!signal) _exit(WEXITSTATUS(status));
        std::signal(signal, SIG_DFL);
        sigset_t unblocked;
        sigemptyset(&unblocked);
        sigprocmask(SIG_SETMASK, &unblocked, nullptr);
        raise(signal);
        _exit(128 + signal);
    }

    std::string name_;
    pid_t process_ = -1;
    int socket_ = -1;
    std::optional<ApartMemory> memory_;
    std::vector<std::byte> host_[2];
    std::vector<char> received_;
    ApartCall asked_;
    const ParameterSpace* space_ = nullptr;  ///< that `asked_` tells of
    const std::byte *given_ = nullptr, *uploaded_ = nullptr;
    std::size_t used_ = 0;
};

}  // namespace

const std::string& apart_program() {
    static const std::string program = [] {
        std::error_code none;
        const auto own = std::filesystem::read_symlink("/proc/self/exe", none);
        std::string beside = own.string() + "-launchers";
        return !none && std::filesystem::exists(beside, none) ? beside : std::string();
    }();
    return program;
}

void hide_this_process() { prctl(PR_SET_DUMPABLE, 0); }

std::unique_ptr<Device> make_apart_device(std::string_view name) {
    return std::make_unique<ApartDevice>(name);
}

ApartCalls take_apart_calls() { return std::exchange(calls_of_this_process, {}); }

/// What stands for a function of a file that is kept apart, where only declarations could call it.
extern "C" void gradverify_kept_apart(const char* name) {
    std::fprintf(stderr,
                 "gradverify: a declaration calls %s, which lies in a file that is kept apart; "
                 "launchers alone may\n",
                 name);
    _exit(exit_usage);
}

}  // namespace gradverify
