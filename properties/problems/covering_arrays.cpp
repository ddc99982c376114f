// SPDX-License-Identifier: Apache-2.0
#include "properties/problems/covering_arrays.hpp"

#include <cstdint>
#include <sstream>

namespace gradverify {
namespace {

/// What kernels share an array that agree in it.
std::string key_of(const SupportedProblems& problems, const PassSpec& pass) {
    const KernelDeclaration& kernel = problems.kernel();
    const LaunchCost& cost = kernel.launch_cost;
    std::ostringstream key;
    key << problems.op().name << '.' << pass.name << ' ' << cost.threads_per_output << ' '
        << cost.barriers_per_thread << ' ' << reinterpret_cast<std::uintptr_t>(cost.threads) << ' '
        << kernel.accepts_empty << ' ' << reinterpret_cast<std::uintptr_t>(kernel.predicate);
    if (kernel.ranks) key << ' ' << kernel.ranks->least << ' ' << kernel.ranks->most;
    for (const Constraint& constraint : kernel.constraints) key << '\n' << constraint.print();
    return key.str();
}

/// The pass whose outputs the cost of a problem follows: the forward one, unless the kernel's
/// threads or barriers matter.
const PassSpec& pass_that_matters(const SupportedProblems& problems) {
    const LaunchCost& cost = problems.kernel().launch_cost;
    const bool is_plain =
        cost.threads_per_output <= 1 && cost.barriers_per_thread == 0 && !cost.threads;
    return is_plain ? problems.op().forward() : problems.pass();
}

KernelDeclaration what_matters_of(const KernelDeclaration& kernel) {
    KernelDeclaration copy;
    copy.constraints = kernel.constraints;
    copy.ranks = kernel.ranks;
    copy.predicate = kernel.predicate;
    copy.accepts_empty = kernel.accepts_empty;
    copy.launch_cost = kernel.launch_cost;
    return copy;
}

}  // namespace

CoveringArrays::Entry::Entry(const Operator& op, const PassSpec& pass,
                             const KernelDeclaration& kernel)
    : kernel_(what_matters_of(kernel)), problems_(op, pass, kernel_), array_(problems_) {}

const CoveringArray& CoveringArrays::of(const SupportedProblems& problems) {
    const PassSpec& pass = pass_that_matters(problems);
    return entries_.try_emplace(key_of(problems, pass), problems.op(), pass, problems.kernel())
        .first->second.array();
}

}  // namespace gradverify
