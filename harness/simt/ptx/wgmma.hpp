// SPDX-License-Identifier: Apache-2.0
// The products of the running block's warpgroups that have not been waited for. When each reads
// shared memory and writes its accumulator is drawn from the schedule: at once, or when it is
// waited for. Until then a late product's accumulator holds ones in all bits (a NaN).
#pragma once

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
    /// The running thread's part. Returns when its warpgroup has come, and has done it.
    void call(const ptx::WarpgroupCall& part);
    /// Nothing is written any more.
    void end_block() override;

  private:
    /// The accumulator of products that have not been waited for.
    struct Accumulator {
        std::vector<void*> places;          ///< the user's variables, thread by thread
        std::vector<std::uint32_t> values;  ///< theirs, until they are written
        bool is_late = false;
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
    };

    static void act(unsigned warpgroup);
    void act_together(unsigned number);
    void issue(Warpgroup& group, unsigned first_rank);
    std::shared_ptr<Accumulator> accumulator_of(Warpgroup& group);
    static std::shared_ptr<const AsyncProduct> begin_in_flight(const Warpgroup& group,
                                                               const Accumulator& sums,
                                                               const ptx::WarpgroupProduct& what,
                                                               unsigned first_rank);
    static void perform(Product& product);
    static void complete_before(Warpgroup& group, unsigned group_number);

    std::array<Warpgroup, max_block_threads / ptx::warpgroup_threads> warpgroups_;
    bool has_products_ = false;
    Order order_ = Order::ascending;
    Random random_;
};

}  // namespace gradverify::simt
