// SPDX-License-Identifier: Apache-2.0
// The products of the running block's warpgroups that have not been waited for. When each reads
// shared memory and writes its accumulator is drawn from the schedule: at once, or when it is
// waited for. Until then a late product's accumulator holds ones in all bits (a NaN). A wait holds
// one warp, and is for its registers alone; at the other instructions the four warps meet.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "harness/simt/execute/block_work.hpp"
#include "harness/simt/execute/executor.hpp"
#include "harness/simt/execute/watcher.hpp"
#include "harness/simt/ptx/wgmma_matrices.hpp"

namespace gradverify::simt {

class WarpgroupProducts : public BlockWork {
  public:
    static constexpr Kind kind = BlockWork::products;
    static WarpgroupProducts& of_this_thread() {
        return of_block<WarpgroupProducts>(unit::state.cluster_rank);
    }

    void begin_launch(const Schedule& schedule, std::uint64_t launch) override;
    /// The running thread's part. Returns when its warpgroup has come, and has done it; of a wait,
    /// when its warp has.
    void call(const ptx::WarpgroupCall& part);
    /// Nothing is written any more.
    void end_block() override;
    /// One warp waits for all committed groups but the last ones.
    void wait(unsigned warp, const ptx::WarpgroupCall& call);

  private:
    /// The accumulator of products that have not been waited for.
    struct Accumulator {
        std::vector<void*> places;          ///< the user's variables, thread by thread
        std::vector<std::uint32_t> values;  ///< theirs, until they are written
        unsigned late_warps = 0;            ///< whose variables are not written yet, a bit each
    };
    struct Product {
        ptx::WarpgroupProduct what;
        std::shared_ptr<Accumulator> sums;
        unsigned group;
        bool is_done;
        std::shared_ptr<const AsyncProduct> in_flight;  ///< null where nothing is checked
    };
    struct Warpgroup {
        std::array<const ptx::WarpgroupCall*, ptx::warpgroup_threads> parts{};
        std::vector<Product> products;
        unsigned open_group = 0;
        /// By warp, the first group that it has not waited for; and the waits since all four met.
        std::array<unsigned, AsyncProduct::warps> waited_before{};
        std::array<std::vector<unsigned>, AsyncProduct::warps> waits;
        unit::Place last_wait{};
        bool waits_are_alike() const {
            return std::ranges::count(waits, waits[0]) == AsyncProduct::warps;
        }
    };

    static void act(unsigned warpgroup);
    void act_together(unsigned number);
    void forget();
    void issue(Warpgroup& group, unsigned first_rank);
    std::shared_ptr<Accumulator> accumulator_of(Warpgroup& group);
    static std::shared_ptr<const AsyncProduct> begin_in_flight(const Warpgroup& group,
                                                               const Accumulator& sums,
                                                               const ptx::WarpgroupProduct& what,
                                                               unsigned first_rank);
    static void perform(Product& product);
    static void give_sums(Accumulator& sums, unsigned warp);

    std::array<Warpgroup, max_block_threads / ptx::warpgroup_threads> warpgroups_;
    bool is_used_ = false;
    Order order_ = Order::ascending;
    Random random_;
};

}  // namespace gradverify::simt
