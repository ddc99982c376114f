// SPDX-License-Identifier: Apache-2.0
// A worker process reads requests and answers them in order, on two pipes of its own. Kernels run
// here and nowhere else, so a crash ends a worker and not the run.
#pragma once

#include <string>

#include "harness/cases/suite.hpp"
#include "harness/workers/protocol.hpp"

namespace gradverify {

/// The pipes, as the driver passes them on.
inline constexpr int worker_request_fd = 3;
inline constexpr int worker_answer_fd = 4;
/// Memory shared with the driver; see call_note.hpp.
inline constexpr int worker_note_fd = 5;
/// Memory shared with the owner of a device, where there is one; see exchange.hpp.
inline constexpr int worker_exchange_fd = 6;

/// Serves requests until the pipe closes; returns the exit code.
int worker_main(const CaseServer& server);

/// What a worker writes: the answer behind the request's number, by which the driver notices that a
/// kernel has taken requests, or that a copy of the process answers as well.
std::string answer_line(const Answer& answer);

/// `server.run`, with what it throws as an errored outcome.
/// **Errors** EnvironmentError when the device can't be reached.
Outcome run_guarded(const CaseServer& server, const std::string& printed_case);

}  // namespace gradverify
