// SPDX-License-Identifier: Apache-2.0
// Decides which share of a run is this process's, from words or from what starts many processes.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "harness/run/exhaustive.hpp"

namespace gradverify {

/// A variable of the environment; nothing where it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment this_environment();

/// What `--shard` says: `2/8`, `auto` for what the environment tells, or nothing for all.
/// **Errors** UsageError that says what is accepted.
Shard parse_shard(const std::string& text, const Environment& environment = this_environment());

}  // namespace gradverify
