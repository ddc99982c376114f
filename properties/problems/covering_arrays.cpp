// SPDX-License-Identifier: Apache-2.0
#include "properties/problems/covering_arrays.hpp"

#include <csignal>
#include <cstdint>
#include <exception>
#include <sstream>

namespace gradverify {
namespace {

/// No signal is delivered to threads that are started meanwhile: an interrupt is the main thread's,
/// which waits for answers and must be woken.
class NoSignals {
  public:
    NoSignals() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    NoSignals(const NoSignals&) = delete;
    NoSignals& operator=(const NoSignals&) = delete;
    ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  private:
    sigset_t before_{};
};

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

}  // namespace

CoveringArrays::Entry::Entry(const Operator& op, const PassSpec& pass,
                             const KernelDeclaration& kernel)
    : op_(op), pass_(pass) {
    kernel_.constraints = kernel.constraints;
    kernel_.ranks = kernel.ranks;
    kernel_.predicate = kernel.predicate;
    kernel_.accepts_empty = kernel.accepts_empty;
    kernel_.launch_cost = kernel.launch_cost;
}

const CoveringArray& CoveringArrays::Entry::array() {
    const std::lock_guard lock(making_);
    if (!array_) {
        problems_.emplace(op_, pass_, kernel_);
        array_.emplace(*problems_);
    }
    return *array_;
}

CoveringArrays::Entry& CoveringArrays::entry_of(const SupportedProblems& problems) {
    const PassSpec& pass = pass_that_matters(problems);
    const std::lock_guard lock(mutex_);
    return entries_.try_emplace(key_of(problems, pass), problems.op(), pass, problems.kernel())
        .first->second;
}

const CoveringArray& CoveringArrays::of(const SupportedProblems& problems) {
    return entry_of(problems).array();
}

void CoveringArrays::make_ahead(const SupportedProblems& problems) {
    Entry& entry = entry_of(problems);
    {
        const std::lock_guard lock(mutex_);
        ahead_.push_back(&entry);
    }
    if (!maker_.joinable()) {
        const NoSignals none;
        maker_ = std::jthread([this](const std::stop_token& stopped) { make_all(stopped); });
    }
    wake_.notify_one();
}

void CoveringArrays::make_all(const std::stop_token& stopped) {
    while (true) {
        Entry* next = nullptr;
        {
            std::unique_lock lock(mutex_);
            if (!wake_.wait(lock, stopped, [&] { return !ahead_.empty(); })) return;
            if (stopped.stop_requested()) return;
            next = ahead_.front();
            ahead_.pop_front();
        }
        try {
            next->array();
        } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): `of` meets it again
        }
    }
}

}  // namespace gradverify
