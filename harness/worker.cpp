// SPDX-License-Identifier: Apache-2.0
#include "harness/worker.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>

#include "harness/device.hpp"
#include "harness/launch.hpp"

namespace gradverify {

namespace {

bool write_line(std::string line) {
    line += '\n';
    std::size_t done = 0;
    while (done < line.size()) {
        const ssize_t count = write(worker_answer_fd, line.data() + done, line.size() - done);
        if (count <= 0) return false;
        done += static_cast<std::size_t>(count);
    }
    return true;
}

/// One line without its end; false when there is no more.
bool read_line(FILE* from, std::string& line) {
    line.clear();
    for (int c = std::fgetc(from); c != EOF; c = std::fgetc(from)) {
        if (c == '\n') return true;
        line += static_cast<char>(c);
    }
    return false;
}

std::string answer(const Suite& suite, const std::string& request) {
    if (!request.starts_with(worker_probe)) return run_guarded(suite, request).to_json();
    std::string why;
    try {
        why = why_unavailable(request.substr(std::string(worker_probe).size()));
    } catch (const std::exception& wrong) {
        why = wrong.what();
    }
    std::ranges::replace(why, '\n', ' ');  // an answer is one line
    return why;
}

}  // namespace

Outcome run_guarded(const Suite& suite, const std::string& printed_case) {
    try {
        return suite.run(printed_case);
    } catch (const std::exception& wrong) {
        return Outcome::errored(wrong.what());
    }
}

int worker_main(const Suite& suite) {
    // No worker outlives its driver; Ctrl-C is for the driver, which ends its workers itself.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::signal(SIGINT, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
    // What a kernel prints must not be taken for an answer, nor for a result of the driver's.
    dup2(STDERR_FILENO, STDOUT_FILENO);
    fcntl(worker_request_fd, F_SETFD, FD_CLOEXEC);
    fcntl(worker_answer_fd, F_SETFD, FD_CLOEXEC);
    FILE* requests = fdopen(worker_request_fd, "r");
    if (!requests) {
        std::fprintf(stderr, "gradverify: `worker` is started by gradverify itself\n");
        return 2;
    }
    if (!write_line(worker_greeting)) return 0;
    std::string request;
    while (read_line(requests, request)) {
        if (!write_line(answer(suite, request))) return 0;
        if (device_was_lost()) {
            // Destructors would talk to the lost device.
            _exit(worker_exit_device_lost);
        }
    }
    return 0;
}

}  // namespace gradverify
