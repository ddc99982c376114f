// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/races/async_operations.hpp"

#include <algorithm>
#include <utility>

#include "harness/simt/runtime/device_limits.hpp"

namespace gradverify::simt {

void AsyncOperations::begin_launch() {
    operations_.assign(1, {});
    completions_.assign(1, {});
    first_of_cluster_ = 1;
    begin_cluster();
}

void AsyncOperations::begin_cluster() {
    phases_.clear();
    products_.clear();
    for (; first_of_cluster_ < completions_.size(); ++first_of_cluster_) {
        Completion& completion = completions_[first_of_cluster_];
        completion.known_to = {};
        completion.seen.resize(std::min<std::size_t>(completion.seen.size(), 1));
        completion.seen.shrink_to_fit();
    }
}

unsigned AsyncOperations::begin(unsigned earlier) {
    if (operations_.size() >= first_product) return 0;
    operations_.emplace_back();
    const auto operation = static_cast<unsigned>(operations_.size() - 1);
    if (earlier != 0) operations_[earlier].later = operation;
    return operation;
}

unsigned AsyncOperations::begin_product() {
    if (first_product + products_.size() > Access::last_operation) return 0;
    products_.emplace_back();
    return static_cast<unsigned>(first_product + products_.size() - 1);
}

unsigned AsyncOperations::new_completion() {
    completions_.emplace_back();
    return static_cast<unsigned>(completions_.size() - 1);
}

std::size_t AsyncOperations::thread_of(unsigned rank) const {
    return std::size_t{happens_before_.access_of(rank).block} * 1024 + rank;
}

void AsyncOperations::complete_in_phase(unsigned operation, std::uintptr_t mbarrier) {
    if (operation == 0) return;
    Phases& phases = phases_[mbarrier];
    if (phases.current == 0) phases.current = new_completion();
    operations_[operation].read = operations_[operation].written = phases.current;
}

void AsyncOperations::wait_for_products(const std::vector<unsigned>& operations,
                                        unsigned first_rank) {
    unsigned made = 0, seen = 0;
    for (const unsigned operation : operations) {
        if (operation == 0) continue;
        unsigned& completion = at(operation).read;
        if (completion == 0) completion = made == 0 ? made = new_completion() : made;
        if (completion == std::exchange(seen, completion)) continue;
        for (unsigned i = 0; i < warp_lanes; ++i) see(completions_[completion], first_rank + i);
    }
}

void AsyncOperations::end_phase(std::uintptr_t mbarrier) {
    const auto found = phases_.find(mbarrier);
    if (found == phases_.end() || found->second.current == 0) return;
    Phases& phases = found->second;
    completions_[phases.last].next = phases.last == 0 ? 0 : phases.current;
    phases = {.current = 0, .last = phases.current};
}

void AsyncOperations::see(Completion& completion, unsigned rank) const {
    if (completion.is_known_to(thread_of(rank))) return;
    completion.add(thread_of(rank));
    completion.seen.push_back(happens_before_.access_of(rank));
}

void AsyncOperations::wait_for_phase(std::uintptr_t mbarrier, unsigned rank) {
    const auto found = phases_.find(mbarrier);
    if (found != phases_.end() && found->second.last != 0)
        see(completions_[found->second.last], rank);
}

void AsyncOperations::wait_for(unsigned operation, unsigned rank, bool reads_only) {
    if (operation == 0) return;
    for (unsigned Operation::* const of : {&Operation::read, &Operation::written}) {
        if (reads_only && of == &Operation::written) return;
        unsigned& completion = operations_[operation].*of;
        if (completion == 0) completion = new_completion();
        see(completions_[completion], rank);
    }
}

bool AsyncOperations::is_before(unsigned operation, bool writes, unsigned rank) {
    if (operation == 0) return true;
    for (; operation != 0; operation = at(operation).later)
        if (is_any_seen(writes ? at(operation).written : at(operation).read, rank)) return true;
    return false;
}

bool AsyncOperations::is_any_seen(unsigned completion, unsigned rank) {
    const std::size_t thread = thread_of(rank);
    for (; completion != 0; completion = completions_[completion].next)
        if (completions_[completion].is_known_to(thread) || is_seen_before(completion, rank))
            return true;
    return false;
}

bool AsyncOperations::is_seen_before(unsigned number, unsigned rank) {
    Completion& completion = completions_[number];
    const std::size_t thread = thread_of(rank);
    const Miss miss{number, thread, completion.seen.size(), happens_before_.version()};
    Miss& last = misses_[(std::size_t{number} * 32 + thread) % misses_.size()];
    if (last == miss) return false;
    const bool is_seen = std::ranges::any_of(completion.seen, [&](const Access& seen) {
        return happens_before_.is_ordered(seen, rank);
    });
    if (is_seen)
        completion.add(thread);
    else
        last = miss;
    return is_seen;
}

bool AsyncOperations::is_waited_for(unsigned operation) const {
    if (operation == 0) return true;
    unsigned i = operations_[operation].read;
    while (i != 0 && completions_[i].seen.empty()) i = completions_[i].next;
    return i != 0;
}

}  // namespace gradverify::simt
