// SPDX-License-Identifier: Apache-2.0
// The operations of the asynchronous proxy in one launch, copies and products of warpgroups, and
// who has waited for them. An access of one happens before what a thread does that has seen the
// operation's completion.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "harness/simt/races/happens_before.hpp"

namespace gradverify::simt {

class AsyncOperations {
  public:
    explicit AsyncOperations(const HappensBefore& happens_before)
        : happens_before_(happens_before) {}

    void begin_launch();
    /// Forgets who saw what in the cluster before, but for one thread each.
    void begin_cluster();

    /// Its number; 0 when there were so many that one more is taken to be right.
    /// What knows that it has ended, knows so of `earlier`.
    unsigned begin(unsigned earlier = 0);
    /// The same for a product of a warpgroup, which reads shared memory alone.
    unsigned begin_product();
    static bool is_product(unsigned operation) { return operation >= first_product; }
    /// A phase of an mbarrier: what completes in it is seen by those who wait for it.
    void complete_in_phase(unsigned operation, std::uintptr_t mbarrier);
    void end_phase(std::uintptr_t mbarrier);
    void forget_phases(std::uintptr_t mbarrier) { phases_.erase(mbarrier); }
    /// The thread has waited for the mbarrier's last phase that has ended.
    void wait_for_phase(std::uintptr_t mbarrier, unsigned rank);
    /// The thread has waited for the operation itself, or only until it has read its source.
    void wait_for(unsigned operation, unsigned rank, bool reads_only);
    /// The same of a warp for products, each of which its other warps wait for with the same
    /// others.
    void wait_for_products(const std::vector<unsigned>& operations, unsigned first_rank);

    /// Whether the operation's reads, or writes, happen before what the thread does next.
    bool is_before(unsigned operation, bool writes, unsigned rank);
    /// Whether any thread has waited for its reads.
    bool is_waited_for(unsigned operation) const;

  private:
    struct Operation {
        unsigned read = 0, written = 0;  ///< completions; 0: none yet
        unsigned later = 0;              ///< an operation whose end means this one's
    };
    struct Completion {
        unsigned next = 0;  ///< of a later phase of the same mbarrier
        std::vector<Access> seen;
        std::vector<std::uint64_t> known_to;  ///< threads of the cluster, a bit each
        bool is_known_to(std::size_t thread) const {
            return thread / 64 < known_to.size() && (known_to[thread / 64] >> thread % 64 & 1) != 0;
        }
        void add(std::size_t thread) {
            if (thread / 64 >= known_to.size()) known_to.resize(thread / 64 + 1);
            known_to[thread / 64] |= std::uint64_t{1} << thread % 64;
        }
    };
    /// A thread that was not found to be ordered after a completion.
    struct Miss {
        unsigned completion = 0;
        std::size_t thread = 0, seen = 0;
        std::uint64_t version = 0;
        bool operator==(const Miss&) const = default;
    };
    struct Phases {
        unsigned current = 0, last = 0;  ///< completions; 0: nothing completed in it
    };
    static constexpr unsigned first_product = Access::last_operation / 2 + 1;
    Operation& at(unsigned operation) {
        return is_product(operation) ? products_[operation - first_product]
                                     : operations_[operation];
    }
    std::size_t thread_of(unsigned rank) const;
    unsigned new_completion();
    void see(Completion& completion, unsigned rank) const;
    bool is_any_seen(unsigned first_completion, unsigned rank);
    bool is_seen_before(unsigned completion, unsigned rank);

    const HappensBefore& happens_before_;
    std::vector<Operation> operations_;
    std::vector<Operation> products_;  ///< of the cluster
    std::vector<Completion> completions_;
    std::size_t first_of_cluster_ = 1;
    std::array<Miss, 1024> misses_;  ///< the last of each remainder, as many cells ask for one
    std::unordered_map<std::uintptr_t, Phases> phases_;
};

}  // namespace gradverify::simt
