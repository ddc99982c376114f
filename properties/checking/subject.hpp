// SPDX-License-Identifier: Apache-2.0
// A case resolved against the registry: what its names stand for.
#pragma once

#include <cstdint>
#include <string_view>

#include "harness/cases/case.hpp"
#include "harness/devices/device.hpp"
#include "properties/data/values.hpp"

namespace gradverify {

/// **Errors** std::invalid_argument when there is no such kernel.
const Kernel& kernel_named(const Registry& registry, std::string_view name);

class Subject {
  public:
    /// **Errors** std::invalid_argument when there is no such kernel, or when the case's problem is
    /// not valid or not supported.
    Subject(const Case& checked, const Registry& registry, ValueKind kind);

    const Case& checked() const { return checked_; }
    const Problem& problem() const { return checked_.problem; }
    const Kernel& kernel() const { return kernel_; }
    const KernelDeclaration& declaration() const { return declaration_; }
    const Operator& op() const { return *kernel_.op; }
    const PassSpec& pass() const { return *kernel_.pass; }
    const Registry& registry() const { return registry_; }
    Device& device() const { return device_; }
    ValueKind kind() const { return kind_; }
    const ElementTypes& types() const { return types_; }
    int exact_bits() const { return types_.exact_bits(); }
    bool asks_for(std::size_t output) const { return checked_.setting.asks_for(output); }
    /// A seed of the case's own for a purpose: from its data seed, or fixed for explicit data.
    std::uint64_t seed_for(std::string_view purpose) const;
    /// Integers in the shape of a tensor, for a purpose; their sums over products stay exact.
    Array<double> direction_for(std::string_view purpose, const Array<double>& like,
                                std::int64_t largest = 64) const;
    /// The largest integer of a tensor's directions, for this kernel and, if given, another one.
    std::int64_t largest_step(std::string_view tensor, const Kernel* other = nullptr) const;
    /// Whether this tensor holds less than what its elements are computed in.
    bool rounds_when_stored(std::string_view tensor) const;
    /// Whether sums of integers that fit the kernel's types have one right result.
    bool sums_integers_exactly() const;

  private:
    bool adds_up_expanded() const;

    const Case& checked_;
    const Registry& registry_;
    const Kernel& kernel_;
    const KernelDeclaration& declaration_;
    const ElementTypes types_{declaration_, op()};
    Device& device_;
    ValueKind kind_;
};

}  // namespace gradverify
