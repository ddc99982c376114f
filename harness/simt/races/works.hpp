// SPDX-License-Identifier: Apache-2.0
// Which works of a call (launches, copies, releases of memory) happen before which others, by its
// streams, and what copies touch. A work is known by the segments of its accesses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/simt/races/findings.hpp"
#include "harness/simt/races/happens_before.hpp"
#include "harness/simt/races/shadow.hpp"
#include "harness/simt/runtime/streams.hpp"

namespace gradverify::simt {

class Works {
  public:
    Works(Shadow& shadow, HappensBefore& order, Findings& findings)
        : shadow_(shadow), order_(order), findings_(findings) {}

    /// Compares what copies and releases of memory have touched since the last launch; the last
    /// work is the one that begins.
    void before_launch();
    void begin_launch();
    void end_call();
    /// The accesses that the shadow knew are no longer known.
    void forget() { segments_.assign(segments_.size(), 0); }

    /// The running launch goes on, and what it did before counts no more.
    void resume_launch();

    /// The first segment that the running launch may not be behind.
    std::uint32_t first_unordered() const { return first_unordered_; }
    /// Never where the call's works are in one order.
    bool may_be_beside(const Access& earlier) const {
        return earlier.segment - first_unordered_ < segments_unordered_;
    }
    /// Whether an access of an earlier launch, or of a copy, may be at the same time as this
    /// launch.
    bool is_beside(const Access& earlier) const {
        return may_be_beside(earlier) &&
               (!streams_.log().back().is_after(log_of(earlier.segment)) || may_go_on(earlier));
    }
    /// Whether it is of a launch that goes on, as far as the running thread knows.
    bool may_go_on(const Access& earlier) const;

    // griddepcontrol, of the running thread.
    void launch_dependents() const;
    void wait_for_grids();
    /// `their.cu:5: launch of f on the given stream writes it at their.cu:3`
    std::string text(const Access& access, bool writes) const;
    /// The same of what no launch touches.
    std::string text(const LoggedTouch& touch) const;

  private:
    void catch_up(std::size_t works);
    const LoggedWork& log_of(std::uint32_t segment) const;
    bool is_behind(const LoggedTouch& touch, const LoggedWork& earlier) const {
        return streams_.log()[touch.work].is_after(earlier);
    }
    void compare_with_touches(const LoggedTouch& touch);
    void compare_with_launches(const LoggedTouch& touch);
    void allocate(const LoggedTouch& touch);
    void note_in_shadow(const LoggedTouch& touch);
    void report(std::uintptr_t address, const LoggedTouch& touch, const std::string& earlier);

    std::size_t number_of(std::uint32_t segment) const;
    bool has_waited() const;

    static constexpr std::uint64_t no_call = ~std::uint64_t{0};

    Shadow& shadow_;
    HappensBefore& order_;
    Findings& findings_;
    Streams& streams_ = *OfCall<Streams>();
    std::uint64_t call_ = no_call;
    std::vector<std::uint32_t> segments_;  ///< the first of each work
    std::vector<LoggedTouch> touches_;     ///< of memory that has not been given again since
    std::size_t touches_seen_ = 0;
    /// Threads of the running launch, where they had waited for what it depends on.
    std::vector<Access> waits_;
    std::array<std::uint32_t, 1024> waited_in_{};  ///< by rank, the block of the last one
    bool has_resumed_ = false;                     ///< and what came before is not known any more
    std::uint32_t first_unordered_ = 0, segments_unordered_ = 0;
};

}  // namespace gradverify::simt
