// SPDX-License-Identifier: Apache-2.0
// Decides what travels between a driver and its workers: requests and answers, a line of text each.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "harness/cases/outcome.hpp"

namespace gradverify {

/// Answered by an Outcome, as a MeasureRequest and a Probe are.
struct RunCase {
    std::string printed_case;
};

/// Asks whether this device is there: if not, the outcome is skipped, and says why.
struct Probe {
    std::string device;
};

/// A kernel that must not be called on another's behalf (see call_note.hpp); not answered.
struct Distrust {
    std::string kernel;
};

/// The worker is to own this device, and to make the calls that these slots of the exchange ask
/// for, until it is told to end there.
struct ServeClients {
    std::string device;
    int slots = 0;
};

/// Calls on this device are made by its owner, asked in this slot; not answered.
struct AskOwner {
    std::string device;
    int slots = 0, slot = 0;
};

using Request = std::variant<RunCase, MeasureRequest, Probe, Distrust, ServeClients, AskOwner>;

/// What a worker says first.
struct Ready {};

/// Instead of an Outcome: this process can't reach the device, and ends.
struct Unreachable {
    std::string why;
};

/// The same: the case is to be run by a worker that uses the device itself.
struct Elsewhere {};

using Answer = std::variant<Ready, Outcome, Unreachable, Elsewhere>;

/// The line, without its end. A line break in a text becomes a blank.
std::string encode(const Request& request);
std::string encode(const Answer& answer);

/// **Errors** std::invalid_argument for a line that is none, here and below.
Request decode_request(std::string_view line);
Answer decode_answer(std::string_view line);

}  // namespace gradverify
