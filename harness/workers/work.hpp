// SPDX-License-Identifier: Apache-2.0
// A worker's work, and what the driver must know of it.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "harness/cases/case.hpp"
#include "harness/workers/protocol.hpp"

namespace gradverify {

/// A case's kernel and property on a device.
struct WorkRow {
    const Kernel* kernel = nullptr;
    std::string device, property;
    auto operator<=>(const WorkRow&) const = default;
};

struct Work {
    /// A case is work, so this converts.
    Work(const Case& checked, const Registry& registry = Registry::instance())
        : request(RunCase{checked.print()}),
          drawn(checked),
          kernel(registry.find_kernel(checked.kernel)),
          property(checked.property),
          device(checked.device),
          multiply_adds(kernel ? kernel->pass->multiply_adds(checked.problem) : 0.0),
          is_large(checked.setting.copies.has_value()) {}
    explicit Work(Request asked) : request(std::move(asked)) {}

    WorkRow row() const { return {kernel, device, property}; }
    bool is_probe() const { return std::holds_alternative<Probe>(request); }

    Request request;
    std::optional<Case> drawn;       ///< nothing where the request is none for a case
    const Kernel* kernel = nullptr;  ///< null where the case's kernel is not registered
    std::string property, device;
    double multiply_adds = 0.0;
    bool is_large = false;  ///< a case on a large problem, made of copies
};

/// A trial has a tenth of the time limit: what it finds is confirmed with all of it. A drawn case
/// that takes longer is put off, so that no other waits for it.
enum class Patience { full, trial };

struct Task {
    std::int64_t ticket = 0;
    Work work;
    Patience patience = Patience::full;
    /// It has failed beside other calls, which say nothing of a kernel that shares variables.
    bool has_failed_beside_others = false;
    std::int64_t line = 0;  ///< its number among those that its worker's process was sent
};

}  // namespace gradverify
