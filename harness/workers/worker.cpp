// SPDX-License-Identifier: Apache-2.0
#include "harness/workers/worker.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <fstream>
#include <new>
#include <optional>
#include <stdexcept>

#include "harness/base/errors.hpp"
#include "harness/base/text.hpp"
#include "harness/devices/apart/apart_device.hpp"
#include "harness/devices/call_note.hpp"
#include "harness/devices/device.hpp"
#include "harness/devices/launch.hpp"
#include "harness/devices/owner/owner_device.hpp"
#include "harness/workers/fork_server.hpp"

namespace gradverify {

namespace {

std::int64_t number_asked = 0;  ///< of the last request

bool write_answer(FILE* to, const Answer& answer) {
    return std::fputs(answer_line(answer).c_str(), to) >= 0 && std::fflush(to) == 0;
}

/// One line without its end; nothing when there is no more.
std::optional<std::string> read_line(FILE* from) {
    std::string line;
    for (int c = std::fgetc(from); c != EOF; c = std::fgetc(from)) {
        if (c == '\n') return line;
        line += static_cast<char>(c);
    }
    return std::nullopt;
}

/// What it returns, or what it throws as an errored outcome.
Outcome guarded(const auto& call) {
    try {
        Outcome outcome = call();
        const std::string left = take_left();
        if (left.empty() || outcome.verdict == Verdict::failed) return outcome;
        return Outcome::failed("the launcher " + left);
    } catch (const EnvironmentError&) {
        throw;
    } catch (const std::bad_alloc&) {
        return Outcome::errored(
            "out of memory outside of the kernel: the problem, with what its reference needs, is "
            "too large for this machine; give a smaller one, or fewer --jobs");
    } catch (const std::exception& wrong) {
        return Outcome::errored(wrong.what());
    }
}

Outcome answer_probe(const Probe& probe) {
    try {
        const std::string why = why_unavailable(probe.device);
        return why.empty() ? Outcome::passed() : Outcome::skipped(why);
    } catch (const std::exception& wrong) {
        return Outcome::skipped(wrong.what());
    }
}

/// Nothing for what is not answered.
std::optional<Answer> answer(const CaseServer& server, const Request& request) try {
    if (const auto* probe = std::get_if<Probe>(&request)) return answer_probe(*probe);
    if (const auto* distrusted = std::get_if<Distrust>(&request)) {
        distrust(distrusted->kernel);
        return std::nullopt;
    }
    if (const auto* owner = std::get_if<AskOwner>(&request)) {
        become_client(owner->device, worker_exchange_fd, owner->slots, owner->slot);
        return std::nullopt;
    }
    note_case();
    Outcome outcome = guarded([&] {
        const auto* run = std::get_if<RunCase>(&request);
        return run ? server.run(run->printed_case)
                   : server.measure(std::get<MeasureRequest>(request));
    });
    outcome.seconds_cpu += take_owner_seconds();
    const ApartCalls calls = take_apart_calls();
    outcome.seconds_cpu += calls.seconds;
    outcome.calls_apart = calls.completed;
    outcome.calls_without_launch = calls.without_launch;
    return outcome;
} catch (const EnvironmentError& wrong) {
    return Unreachable{wrong.what()};
} catch (const NeedsDeviceItself&) {
    take_owner_seconds();  // of a case that begins anew
    return Elsewhere{};
}

/// Owns a device until it is lost or no longer needed. Returns the exit code.
int serve(const ServeClients& owned, FILE* answers) try {
    const int code = serve_clients(owned.device, worker_exchange_fd, owned.slots);
    // Destructors would talk to the lost device.
    if (code != 0) _exit(code);
    return code;
} catch (const EnvironmentError& wrong) {
    write_answer(answers, Unreachable{wrong.what()});
    _exit(worker_exit_device_lost);
}

/// Keeps a process that runs foreign code from harming the machine.
void keep_modest() {
    // A crash is a result, and is repeated while it is shrunk: no core dumps.
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    setrlimit(RLIMIT_CORE, &none);
    // What a launcher starts and leaves stays below this process, which ends it.
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    // If memory runs out, a worker is killed, and neither the driver nor a neighbour.
    // A hidden process can't write to this file unless it is root's.
    prctl(PR_SET_DUMPABLE, 1);
    std::ofstream("/proc/self/oom_score_adj") << 1000;
}

/// Behind its number. Ends the worker where a kernel has read some of it: another is asked again.
Request intact_request(std::string_view line) try {
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) throw std::invalid_argument("no number");
    number_asked = parse_int(line.substr(0, blank)).value_or(-1);
    return decode_request(line.substr(blank + 1));
} catch (const std::invalid_argument&) {
    _exit(worker_exit_device_lost);
}

bool serves = false;  ///< this process only runs kernels

}  // namespace

/// The leak sanitizer asks this at the end of a process. A kernel's leaks are no verdict, and
/// walking its memory may crash this process.
// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming)
extern "C" __attribute__((visibility("default"))) int __lsan_is_turned_off() {
    return serves ? 1 : 0;
}
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)

std::string answer_line(const Answer& answer) {
    return std::to_string(number_asked) + ' ' + encode(answer) + '\n';
}

Outcome run_guarded(const CaseServer& server, const std::string& printed_case) {
    return guarded([&] { return server.run(printed_case); });
}

int worker_main(const CaseServer& server) {
    const auto hide = [] {
        if (!apart_program().empty()) hide_this_process();
    };
    hide();  // workers that are forked from here as well
    // What a case frees the next one needs: given back, each of its pages would be a fault.
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that it takes
    serve_forks();
    serves = true;
    // No worker outlives its driver. If it has died before this line, the greeting below fails.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::signal(SIGPIPE, SIG_IGN);
    // A kernel's prints go to stderr, line by line, so that a crash does not swallow them.
    dup2(STDERR_FILENO, STDOUT_FILENO);
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    for (const int fd : {worker_request_fd, worker_answer_fd, worker_note_fd, worker_exchange_fd})
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    FILE* const requests = fdopen(worker_request_fd, "r");
    FILE* const answers = fdopen(worker_answer_fd, "w");
    if (!requests || !answers || !share_worker_note(worker_note_fd)) {
        std::fprintf(stderr, "gradverify: `worker` is started by gradverify itself\n");
        return 2;
    }
    keep_modest();
    hide();
    if (!write_answer(answers, Ready{})) return 0;
    while (const auto line = read_line(requests)) {
        const Request request = intact_request(*line);
        if (const auto* owned = std::get_if<ServeClients>(&request)) return serve(*owned, answers);
        const auto said = answer(server, request);
        if (!said) continue;
        if (!write_answer(answers, *said)) return 0;
        // Destructors would talk to the lost device.
        if (device_was_lost() || std::holds_alternative<Unreachable>(*said))
            _exit(worker_exit_device_lost);
    }
    return 0;
}

}  // namespace gradverify
