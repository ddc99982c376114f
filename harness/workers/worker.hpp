// SPDX-License-Identifier: Apache-2.0
// Decides what a worker process does: it reads requests, a line each, and answers each with a line,
// in order, on two pipes of its own. The kernel's code runs here and nowhere else, so a crash ends
// a worker and not the run. Starting and watching workers is worker_pool's business.
#pragma once

#include <string>

#include "harness/cases/suite.hpp"

namespace gradverify {

/// The pipes, as the pool passes them on.
inline constexpr int worker_request_fd = 3;
inline constexpr int worker_answer_fd = 4;
/// Memory shared with the pool; see worker_note.hpp.
inline constexpr int worker_note_fd = 5;
/// What a worker says first.
inline constexpr const char* worker_greeting = "ready";
/// A request that is not a case: is this device there? Answered by why not, or an empty line.
inline constexpr const char* worker_probe = "probe ";
/// A request that is not a case: what `bench` asks for, a MeasureRequest. Answered by an outcome.
inline constexpr const char* worker_measure = "measure ";
/// Not answered: a kernel that is not to be called on another's behalf; see worker_note.hpp.
inline constexpr const char* worker_distrust = "distrust ";
/// The answer to a case whose device can't be reached by this process, with why behind it.
inline constexpr const char* worker_unreachable = "unreachable: ";

/// Serves requests until the pipe closes; returns the exit code.
int worker_main(const CaseServer& server);

/// `server.run`, with what it throws as an errored outcome.
///
/// **Errors** EnvironmentError when the device can't be reached.
Outcome run_guarded(const CaseServer& server, const std::string& printed_case);

}  // namespace gradverify
