// SPDX-License-Identifier: Apache-2.0
#include "harness/testing/fake_worker.hpp"
#include "harness/base/process_usage.hpp"

#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <new>
#include <stdexcept>
#include <thread>

#include "harness/base/errors.hpp"
#include "harness/base/text.hpp"
#include "harness/devices/call_note.hpp"
#include "harness/devices/device.hpp"
#include "harness/devices/owner/exchange.hpp"
#include "harness/workers/compute_sanitizer.hpp"
#include "harness/workers/fork_server.hpp"
#include "harness/workers/protocol.hpp"
#include "harness/workers/worker.hpp"

namespace gradverify {

namespace {

/// The property of a printed case, or the first word of any other text.
std::string behaviour_of(std::string_view text) {
    const auto fields = split(text, ':');
    return std::string(fields.size() > 2 ? fields[2] : split(text, ' ').front());
}

/// The seed of a printed case, which is the case's index; -1 without one.
std::int64_t index_of(std::string_view text) {
    for (const std::string_view field : split(text, ':'))
        if (field.starts_with("seed=")) return parse_int(field.substr(5)).value_or(-1);
    return -1;
}

void sleep_ms(int milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

void die_of(int signal) {
    // A sanitizer's handler would call exit.
    std::signal(signal, SIG_DFL);
    raise(signal);
}

void write_to_answers(const std::string& line) {
    if (write(worker_answer_fd, line.data(), line.size()) < 0) std::perror("test worker");
}

Outcome hang() {
    for (;;) pause();
}

Outcome spin() {
    while (getppid() != 0) continue;
    return {};
}

/// Takes this much processor time, in no less wall time.
void spin_ms(double milliseconds) {
    const std::clock_t start = std::clock();
    while (1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC < milliseconds)
        continue;
}

/// Plays a slow kernel of many blocks.
void begin_blocks(int count) {
    for (int i = 0; i < count; ++i) {
        ++worker_note().blocks;
        spin_ms(50);
    }
}

Outcome eat_memory() {
    for (std::vector<std::string> eaten;;) eaten.emplace_back(std::size_t{1} << 20, 'x');
}

/// So many that a driver ends it, and no more.
Outcome start_threads() {
    constexpr std::size_t count = 1200;
    std::vector<std::thread> started;
    started.reserve(count);
    while (started.size() < count) started.emplace_back([] { sleep_ms(3000); });
    for (std::thread& thread : started) thread.join();
    return Outcome::passed();
}

/// Stands for a damaged heap: the process dies of it at a later case, or at its exit.
bool damaged = false;
void die_at_exit() {
    if (damaged) die_of(SIGSEGV);
}

Outcome damage() {
    // A checked heap shows it at the end of the process.
    static const bool registered = std::atexit(die_at_exit) == 0;
    damaged = registered;
    return Outcome::passed();
}

int cases_before = 0;  ///< in this process
bool is_tainted = false, is_harmed = false;
int counted = 0;

/// By the next letter of a file's, which all processes share.
bool is_turn_to_fail() {
    std::fstream file(std::getenv("GRADVERIFY_TEST_TURNS"));
    std::string letters;
    file >> letters;
    file.clear();
    file.seekp(0);
    file << letters.substr(1) << ' ';
    return letters.front() == 'f';
}

/// Whether a word fails at the case of this index.
bool fails(std::string_view word, std::int64_t index) {
    return word == "fail" || word == "speak_and_fail" || (word == "fail_from_3" && index >= 3) ||
           (word == "err_at_2_fail_at_4" && index >= 4) || (word == "fail_at_1" && index == 1) ||
           (word == "fail_at_40" && index == 40) || (word == "fail_at_900" && index == 900);
}

/// Leaves the process, or gives the outcome that the word names.
std::optional<Outcome> leave(const std::string& word) {
    if (word == "crash_late") sleep_ms(100);
    if (word.starts_with("crash")) die_of(SIGSEGV);
    if (word == "abort") die_of(SIGABRT);
    if (word == "exit_0") std::exit(0);
    if (word == "exit_3") std::exit(3);
    if (word == "exit_75") std::exit(worker_exit_device_lost);
    if (word == "hang") return hang();
    if (word == "spin") return spin();
    if (word == "begin_20_blocks") begin_blocks(20);
    if (word == "begin_blocks_without_end") begin_blocks(std::numeric_limits<int>::max());
    if (word == "eat_memory") return eat_memory();
    if (word == "start_threads") return start_threads();
    // Somebody else kills it, the first time alone.
    if (word == "be_killed" && cases_before > 0) raise(SIGKILL);
    if (word == "die_if_damaged" && damaged) die_of(SIGABRT);
    if (word == "hang_if_tainted" && is_tainted) return hang();
    if (word == "die_if_tainted" && is_tainted) die_of(SIGABRT);
    if (word == "die_of_taint_or_harm" && is_tainted) die_of(SIGABRT);
    if (word == "die_if_harmed" && is_harmed) die_of(SIGABRT);
    if (word == "die_of_taint_later" && is_tainted && cases_before > 2) die_of(SIGABRT);
    if (word == "die_in_company" && cases_before > 0) die_of(SIGABRT);
    if (word == "speak_and_fail") std::fprintf(stderr, "\x1b[31mwrong\n");
    if (word == "speak_and_abort") {
        std::fprintf(stderr, "free(): invalid\n  pointer\n");
        die_of(SIGABRT);
    }
    if (word == "tell_file_and_abort") {
        std::fprintf(stderr, "%s/k.cu:7: lost\n", std::filesystem::current_path().c_str());
        die_of(SIGABRT);
    }
    if (word == "fork_and_crash") {
        const pid_t child = fork();
        if (child == 0) hang();
        std::fprintf(stderr, "%d", child);
        die_of(SIGSEGV);
    }
    if (word == "lose_device") {
        write_to_answers(answer_line(Outcome::failed("sticky")));
        _exit(worker_exit_device_lost);
    }
    if (word == "garbage_as_answer") {
        write_to_answers("this is no answer\n");
        return hang();
    }
    if (word == "close_pipe") {
        close(worker_answer_fd);
        return hang();
    }
    return std::nullopt;
}

/// What compute-sanitizer would write while a case runs.
void write_finding(const std::string& word) {
    const char* log = std::getenv("GRADVERIFY_SANITIZER_LOG");
    if (!log) return;
    std::ofstream file(log, std::ios::app);
    if (word == "sanitizer_finds")
        file
            << "========= Invalid __shared__ write of size 8 bytes\n=========     at k in k.cu:3\n";
    if (word == "sanitizer_unfit") file << "========= Error: Device not supported.\n";
}

Outcome obey(std::string_view text) {
    const std::string word = behaviour_of(text);
    const std::int64_t index = index_of(text);
    if (word == "crash_outside") die_of(SIGSEGV);
    if (word == "borrow" && !is_distrusted("bad_partner")) {
        note_partner("bad_partner");
        const NotedLaunch launch;
        die_of(SIGSEGV);
    }
    if (word == "borrow_and_lose" && !is_distrusted("bad_partner")) {
        note_partner("bad_partner");
        end_without_device("bad_partner lost the device");
    }
    if (word == "no_device") throw EnvironmentError("device cuda: gone");
    // A client leaves this to a worker that uses the device itself.
    if (word.starts_with("use_device")) device_named("cpu").large_memory();
    std::optional<Outcome> left;
    {
        const NotedLaunch launch;
        left = leave(word);
    }
    ++cases_before;
    if (left) return *left;
    if (word == "damage") return damage();
    if (word == "stay" && std::atexit([] { hang(); }) == 0) return Outcome::passed();
    if (word == "taint") is_tainted = true;
    if (word == "die_of_taint_or_harm") is_harmed = true;
    if (word == "fail_if_tainted" && is_tainted) return Outcome::failed("taint");
    if (word == "fail_behind_any" && cases_before > 1) return Outcome::failed("stale");
    if (word == "fail_at_its_third" && ++counted == 3) return Outcome::failed("third");
    if (word == "fail_from_its_eighth" && ++counted >= 8) return Outcome::failed("eighth");
    if (word == "fail_by_chance" && ++counted == 1 && cases_before == 3)
        return Outcome::failed("chance");
    if (word == "hang_at_1" && index == 1) return hang();
    if (word == "fail_telling_place")
        return Outcome::failed(std::to_string(cases_before - 1) + " before");
    if (word == "fail_by_turns" && is_turn_to_fail()) return Outcome::failed("by turns");
    write_finding(word);
    if (word == "no_memory") throw std::bad_alloc();
    if (word == "throw") throw std::runtime_error("thrown");
    if (word == "garbage_on_stdout") {
        std::printf("ready\n{\"verdict\":\"failed\"}\n");
        std::fflush(stdout);
    }
    if (word == "spin_100") spin_ms(100);
    if (word == "sleep_20") sleep_ms(20);
    if (word == "steal") {
        sleep_ms(200);
        std::array<char, 7> taken{};
        if (read(worker_request_fd, taken.data(), taken.size()) < 0) std::perror("test worker");
    }
    if (word == "sleep_300" || word == "use_device_300") sleep_ms(300);
    const bool errs = word == "err_at_2_fail_at_4" && index == 2;
    // The case that ends a row is slow, so that the answers behind it overtake it.
    if (errs || (word == "fail_from_3" && index == 3)) sleep_ms(50);
    if (errs) return Outcome::errored("no memory");
    // Only a client's device has no unmapped edges.
    if (word == "fail_for_client" && !device_named("cpu").has_unmapped_edges())
        return Outcome::failed("not alone");
    if (fails(word, index)) return Outcome::failed("case " + std::to_string(index));
    if (word == "pass_if_redrawn" && index < 1000) return {.verdict = Verdict::vacuous};
    if (word == "pass_at_1" && index != 1) return {.verdict = Verdict::vacuous};
    if (word == "skip_most" && index % 3 != 0) return Outcome::skipped("too coarse");
    if (word == "skip_most") return Outcome::skipped("no partner");
    if (word == "refuse_9_of_10" && index % 10 != 0) return Outcome::refused("refused: no plan");
    Outcome outcome = Outcome::passed();
    if (word == "vacuous") outcome.verdict = Verdict::vacuous;
    if (word == "skip") outcome = Outcome::skipped("no partner");
    if (word == "error") outcome = Outcome::errored("no memory");
    if (word == "echo") outcome.message = text;
    if (word == "pid" || word.starts_with("use_device")) outcome.message = std::to_string(getpid());
    outcome.error_over_bound = 0.25;
    outcome.multiply_adds = 7.0;
    outcome.seconds_total = outcome.seconds_cpu = word == "sleep_20" ? 0.02 : 0x1p-10;
    return outcome;
}

class Obedient : public CaseServer {
  public:
    Outcome run(std::string_view printed_case) const override { return obey(printed_case); }
    Outcome measure(const MeasureRequest&) const override {
        return Outcome::errored("no bench here");
    }
};

/// Plays a device's owner that ends in the first call of its first client, after so long a start.
/// It has the second client's in hand as well, until it makes those of a dead owner alone.
int die_in_first_call(double start_seconds) {
    serve_forks();
    std::string request;
    for (char byte = 0; read(worker_request_fd, &byte, 1) == 1 && byte != '\n';) request += byte;
    const auto asked = std::get<ServeClients>(decode_request(request.substr(2)));
    const Exchange exchange(worker_exchange_fd, asked.slots);
    while (usage_of(::getpid())->cpu_seconds < start_seconds) continue;
    ++exchange.head().rounds;
    const bool has_another = asked.slots > 1 && exchange.slot(1).is_asked();
    exchange.head().in_hand =
        has_another && !exchange.slot(0).is_suspect ? ExchangeHead::several : 1;
    _exit(3);
}

}  // namespace

std::vector<std::string> test_worker_command() { return {"/proc/self/exe", "test-worker"}; }

std::vector<std::string> dying_owner_command(double start_seconds) {
    return {"/proc/self/exe", "test-worker", "dying-owner", std::to_string(start_seconds)};
}

std::optional<int> run_as_test_worker(int argc, char** argv) {
    if (argc < 2 || std::string_view(argv[1]) != "test-worker") return std::nullopt;
    if (argc > 2 && std::string_view(argv[2]) == "dying-owner")
        return die_in_first_call(std::stod(argv[3]));
    const Obedient server;
    if (argc < 5) return worker_main(server);
    const SanitizerOptions sanitizer{argv[2], argv[3], argv[4]};
    enter_compute_sanitizer(sanitizer, argv);
    return worker_main(WatchedServer(server, sanitizer));
}

}  // namespace gradverify
