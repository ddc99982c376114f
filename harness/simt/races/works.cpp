// SPDX-License-Identifier: Apache-2.0
// Copies are not watched: what they touch is compared as ranges with each other, and with cells
// once a launch comes that nothing orders with them. A call on one stream compares nothing.
#include "harness/simt/races/works.hpp"

#include <algorithm>

#include "harness/simt/runtime/buffers.hpp"
#include "harness/simt/runtime/text.hpp"

namespace gradverify::simt {
namespace {

bool writes(const LoggedTouch& touch) { return touch.how != Touch::reads; }

bool overlap(const LoggedTouch& a, const LoggedTouch& b) {
    return a.begin < b.end && b.begin < a.end;
}

}  // namespace

void Works::catch_up(std::size_t works) {
    if (call_ != streams_.call()) {
        call_ = streams_.call();
        segments_.clear();
        touches_.clear();
        touches_seen_ = 0;
    }
    while (segments_.size() < works) segments_.push_back(order_.begin_copy());
    for (; touches_seen_ < streams_.touches().size(); ++touches_seen_) {
        const LoggedTouch& touch = streams_.touches()[touches_seen_];
        if (touch.how == Touch::allocates) {
            allocate(touch);
            continue;
        }
        if (!streams_.log()[touch.work].follows_all) {
            compare_with_touches(touch);
            compare_with_launches(touch);
        }
        touches_.push_back(touch);
    }
}

void Works::before_launch() { catch_up(streams_.log().size() - 1); }

void Works::end_call() {
    if (call_ == streams_.call()) catch_up(streams_.log().size());
}

void Works::begin_launch() {
    segments_.push_back(order_.launch_first());
    waits_.clear();
    waited_in_.fill(0);
    has_resumed_ = false;
    first_unordered_ = order_.launch_first();
    segments_unordered_ = 0;
    const LoggedWork& now = streams_.log().back();
    if (now.follows_all && now.may_go_on.empty()) return;
    auto first = static_cast<std::size_t>(
        std::ranges::find_if(streams_.log(),
                             [&](const LoggedWork& work) { return !now.is_after(work); }) -
        streams_.log().begin());
    for (const std::size_t work : now.may_go_on) first = std::min(first, work);
    first_unordered_ = segments_[first];
    segments_unordered_ = order_.launch_first() - first_unordered_;
    for (const LoggedTouch& touch : touches_)
        if (!now.is_after(streams_.log()[touch.work])) note_in_shadow(touch);
}

void Works::resume_launch() {
    has_resumed_ = true;
    if (segments_unordered_ != 0) return;
    first_unordered_ = order_.launch_first();
    segments_unordered_ = 0;
}

std::size_t Works::number_of(std::uint32_t segment) const {
    const auto behind = std::ranges::upper_bound(segments_, segment);
    return static_cast<std::size_t>(behind - segments_.begin()) - 1;
}
const LoggedWork& Works::log_of(std::uint32_t segment) const {
    return streams_.log()[number_of(segment)];
}

bool Works::may_go_on(const Access& earlier) const {
    const std::vector<std::size_t>& works = streams_.log().back().may_go_on;
    return !works.empty() && std::ranges::count(works, number_of(earlier.segment)) > 0 &&
           !has_waited();
}

// Whoever knows of another thread's wait knows what that one does. The last are the likeliest.
bool Works::has_waited() const {
    return has_resumed_ || waited_in_[unit::state.thread.rank] == order_.block_first() ||
           std::any_of(waits_.rbegin(), waits_.rend(), [this](const Access& wait) {
               return order_.is_ordered(wait, unit::state.thread.rank);
           });
}

void Works::launch_dependents() const {
    streams_.launch_dependents(streams_.log().back().may_go_on.empty() || has_waited());
}
void Works::wait_for_grids() {
    if (streams_.log().back().may_go_on.empty()) return;
    waits_.push_back(order_.access_of(unit::state.thread.rank));
    waited_in_[unit::state.thread.rank] = order_.block_first();
}

void Works::compare_with_touches(const LoggedTouch& touch) {
    for (const LoggedTouch& earlier : touches_)
        if (overlap(touch, earlier) && (writes(touch) || writes(earlier)) &&
            !is_behind(touch, streams_.log()[earlier.work]))
            return report(std::max(touch.begin, earlier.begin), touch, text(earlier));
}

void Works::compare_with_launches(const LoggedTouch& touch) {
    bool found = false;
    for_each_cell(touch.begin, touch.end, [&](std::uintptr_t at, unsigned bytes) {
        const ShadowPage* const page = shadow_.known_page(at);
        if (page == nullptr || page->cells == nullptr || page->kind == MemoryKind::shared) return;
        const Cell& cell = page->cells[Shadow::cell_index(at)];
        const auto compare = [&](const Access& access, bool access_writes) {
            if (found || (access.bytes & bytes) == 0 || access.segment < segments_.front() ||
                is_behind(touch, log_of(access.segment)))
                return;
            found = true;
            report(at, touch, text(access, access_writes));
        };
        compare(cell.write, true);
        if (!writes(touch)) return;
        compare(cell.read, false);
        compare(cell.earlier_read, false);
    });
}

/// Memory that was freed in this call and is given again is other memory.
void Works::allocate(const LoggedTouch& touch) {
    const auto is_same = [&](const LoggedTouch& of) { return overlap(of, touch); };
    if (std::ranges::none_of(touches_, is_same)) return;
    std::erase_if(touches_, is_same);
    for_each_cell(touch.begin, touch.end, [&](std::uintptr_t at, unsigned) {
        const ShadowPage* const page = shadow_.known_page(at);
        if (page != nullptr && page->cells != nullptr) page->cells[Shadow::cell_index(at)] = {};
    });
}

void Works::note_in_shadow(const LoggedTouch& touch) {
    if (touch.how == Touch::frees) return;
    Access access;
    access.segment = segments_[touch.work];
    for_each_cell(touch.begin, touch.end, [&](std::uintptr_t at, unsigned bytes) {
        const ShadowPage& page = shadow_.page_of(at);
        if (page.kind != MemoryKind::global) return;
        Cell& cell = page.cells[Shadow::cell_index(at)];
        access.bytes = bytes & 0xfu;
        Access& last = writes(touch) ? cell.write : cell.read;
        if (last.segment >= access.segment) return;
        if (!writes(touch)) cell.earlier_read = cell.read;
        last = access;
    });
}

std::string Works::text(const Access& access, bool access_writes) const {
    const LoggedWork& work = log_of(access.segment);
    const char* const verb = access.is_atomic ? " updates it atomically"
                             : access_writes  ? " writes it"
                                              : " reads it";
    return streams_.print(work.stream, work.name) + verb +
           (access.pc != 0 ? " at " + line_of(std::uint64_t{access.pc}) : "");
}

std::string Works::text(const LoggedTouch& touch) const {
    const LoggedWork& work = streams_.log()[touch.work];
    const char* const verb = touch.how == Touch::frees ? " frees it"
                             : writes(touch)           ? " writes it"
                                                       : " reads it";
    return streams_.print(work.stream, work.name) + verb;
}

void Works::report(std::uintptr_t address, const LoggedTouch& touch, const std::string& earlier) {
    const std::string now = text(touch);
    findings_.add({FindingKind::race, now, earlier}, [&] {
        const std::string name = name_of(named_buffers(), address);
        return "data race on " + (name.empty() ? "device memory" : name) + ": " + now + ", " +
               earlier + "; nothing orders these two works";
    });
}

}  // namespace gradverify::simt
