// SPDX-License-Identifier: Apache-2.0
// wgmma (PTX ISA, 9.7.15): its four warps meet at each instruction but a wait, and the last thread
// to come acts for all. The race detector hears of a product when it is issued and when a warp has
// waited for it.
#include "harness/simt/ptx/wgmma.hpp"

#include <algorithm>
#include <cstring>

#include "gradverify_simt/runtime_types.hpp"
#include "harness/simt/runtime/mapping.hpp"
#include "harness/simt/runtime/source_line.hpp"

namespace gradverify::simt {
namespace {

using ptx::WarpgroupCall;
constexpr std::uint32_t unwritten = ~0u;
constexpr unsigned all_warps = (1u << AsyncProduct::warps) - 1;

/// Whether two threads give the same instruction, with the same operands beside registers.
bool are_alike(const WarpgroupCall& a, const WarpgroupCall& b) {
    if (a.kind != b.kind || a.groups != b.groups) return false;
    return a.kind != WarpgroupCall::Kind::product ||
           (*a.form == *b.form && a.descriptor_a == b.descriptor_a &&
            a.descriptor_b == b.descriptor_b && a.adds == b.adds);
}

std::uint32_t load(const void* place) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, place, sizeof bits);
    return bits;
}

/// What each warp reads of the matrices in shared memory: its own rows of A, and all of B. Two
/// warps stand for the four that read B: no thread is of both.
std::vector<AsyncProduct::Read> reads_of(const ptx::WarpgroupProduct& what, unsigned first_rank) {
    std::vector<AsyncProduct::Read> reads;
    const auto add = [&](const ptx::SharedChunk& chunk, unsigned warp) {
        const std::uintptr_t begin = number(chunk.at), end = begin + ptx::chunk_bytes;
        const unsigned rank = first_rank + warp * warp_lanes;
        if (!reads.empty() && reads.back().rank == rank && reads.back().end == begin)
            reads.back().end = end;
        else
            reads.push_back({begin, end, rank});
    };
    if (!what.form.a_in_registers)
        for (const ptx::SharedChunk& chunk : chunks_of(shared_a(what.form, what.descriptor_a)))
            add(chunk, static_cast<unsigned>(chunk.row) / 16);
    const auto of_b = chunks_of(shared_b(what.form, what.descriptor_b));
    for (const unsigned warp : {0u, 1u})
        for (const ptx::SharedChunk& chunk : of_b) add(chunk, warp);
    return reads;
}

}  // namespace

void WarpgroupProducts::begin_launch(const Schedule& schedule, std::uint64_t launch) {
    forget();
    order_ = schedule.threads;
    random_ = Random(Random(schedule.seed + launch + 1).next());
}

void WarpgroupProducts::end_block() {
    if (!is_used_) return;
    for (const Warpgroup& group : warpgroups_)
        if (!group.waits_are_alike())
            Executor::fail(
                cudaErrorIllegalInstruction,
                short_place(group.last_wait.file, group.last_wait.line) +
                    ": a wgmma.wait_group that not all four warps of a warpgroup execute");
    forget();
}

void WarpgroupProducts::forget() {
    if (!is_used_) return;
    for (Warpgroup& group : warpgroups_) {
        if (watching != nullptr)
            for (const Product& one : group.products) watching->end_product(one.in_flight);
        group = {};
    }
    is_used_ = false;
}

void WarpgroupProducts::call(const WarpgroupCall& part) {
    const unsigned rank = unit::state.thread.rank;
    is_used_ = true;
    if (part.kind == WarpgroupCall::Kind::wait) {
        struct OfLane {
            unit::Together together;
            const WarpgroupCall& call;
        } const wait{{[](const std::uint64_t* lanes) {
                         const auto of = [](std::uint64_t lane) -> const WarpgroupCall& {
                             return static_cast<const OfLane*>(pointer_to(lane))->call;
                         };
                         for (unsigned i = 1; i < warp_lanes; ++i)
                             if (!are_alike(of(lanes[0]), of(lanes[i]))) return false;
                         of_this_thread().wait(unit::state.thread.rank / warp_lanes, of(lanes[0]));
                         return true;
                     }},
                     part};
        return ptx::together(&wait,
                             "wgmma.wait_group that not all 32 lanes of a warp reach together",
                             part.file, part.line);
    }
    warpgroups_[rank / ptx::warpgroup_threads].parts[rank % ptx::warpgroup_threads] = &part;
    Executor::of_this_thread().meet_in_warpgroup(&act, {part.file, part.line});
}

void WarpgroupProducts::act(unsigned warpgroup) { of_this_thread().act_together(warpgroup); }

void WarpgroupProducts::act_together(unsigned number) {
    Warpgroup& group = warpgroups_[number];
    const WarpgroupCall& first = *group.parts[0];
    for (const WarpgroupCall* part : group.parts)
        if (!are_alike(first, *part) || !group.waits_are_alike())
            Executor::of_this_thread().trap(
                cudaErrorIllegalInstruction,
                {"the threads of a warpgroup give different wgmma instructions, or different "
                 "descriptors"},
                {part->file, part->line});
    for (std::vector<unsigned>& waits : group.waits) waits.clear();
    if (first.kind == WarpgroupCall::Kind::commit) {
        ++group.open_group;
    } else if (first.kind == WarpgroupCall::Kind::product) {
        issue(group, number * ptx::warpgroup_threads);
    } else if (watching != nullptr) {
        watching->fence_registers(number);
    }
}

void WarpgroupProducts::issue(Warpgroup& group, unsigned first_rank) {
    const WarpgroupCall& first = *group.parts[0];
    ptx::WarpgroupProduct what{*first.form, first.descriptor_a, first.descriptor_b, first.adds, {}};
    if (what.form.a_in_registers)
        for (const WarpgroupCall* part : group.parts)
            for (int i = 0; i < 4; ++i) what.a.push_back(part->a[i].bits);
    const std::shared_ptr<Accumulator> sums = accumulator_of(group);
    const bool is_early = is_random(order_) ? random_.below(2) == 0 : order_ == Order::ascending;
    // The products of one accumulator are formed in order.
    const bool waits_for_another = std::ranges::any_of(
        group.products, [&](const Product& one) { return one.sums == sums && !one.is_done; });
    Product product{std::move(what), sums, group.open_group, is_early && !waits_for_another, {}};
    // The detector hears of an access before memory changes.
    if (watching != nullptr)
        product.in_flight = begin_in_flight(group, *sums, product.what, first_rank);
    if (product.is_done) {
        perform(product);
    } else if (std::exchange(sums->late_warps, all_warps) != all_warps) {
        for (void* place : sums->places) std::memcpy(place, &unwritten, sizeof unwritten);
    }
    group.products.push_back(std::move(product));
}

/// The accumulator that these variables are already, or a new one with their values.
std::shared_ptr<WarpgroupProducts::Accumulator> WarpgroupProducts::accumulator_of(
    Warpgroup& group) {
    std::vector<void*> places;
    const int registers = ptx::sum_registers(*group.parts[0]->form);
    for (const WarpgroupCall* part : group.parts)
        places.insert(places.end(), part->sums, part->sums + registers);
    for (const Product& one : group.products)
        if (one.sums->places == places) return one.sums;
    auto sums = std::make_shared<Accumulator>();
    std::ranges::transform(places, std::back_inserter(sums->values), &load);
    sums->places = std::move(places);
    return sums;
}

std::shared_ptr<const AsyncProduct> WarpgroupProducts::begin_in_flight(
    const Warpgroup& group, const Accumulator& sums, const ptx::WarpgroupProduct& what,
    unsigned first_rank) {
    auto product = std::make_shared<AsyncProduct>();
    product->operation = watching->begin_operation_of_product();
    product->pc = group.parts[0]->pc;
    product->first_rank = first_rank;
    product->reads = reads_of(what, first_rank);
    for (std::size_t i = 0; i < sums.places.size(); ++i)
        product->sums[i * AsyncProduct::warps / sums.places.size()].push_back(
            number(sums.places[i]));
    if (what.form.a_in_registers)
        for (std::size_t rank = 0; rank < group.parts.size(); ++rank)
            for (int i = 0; i < 4; ++i)
                if (const void* const place = group.parts[rank]->a[i].place)
                    product->factors[rank / warp_lanes].push_back(number(place));
    watching->begin_product(product);
    return product;
}

void WarpgroupProducts::perform(Product& product) {
    Accumulator& sums = *product.sums;
    multiply(product.what, sums.values);
    product.is_done = true;
    if (sums.late_warps != 0) return;
    for (std::size_t i = 0; i < sums.places.size(); ++i)
        std::memcpy(sums.places[i], &sums.values[i], sizeof sums.values[i]);
}

void WarpgroupProducts::wait(unsigned warp, const WarpgroupCall& call) {
    Warpgroup& group = warpgroups_[warp / AsyncProduct::warps];
    warp %= AsyncProduct::warps;
    group.waits[warp].push_back(call.groups);
    group.last_wait = {call.file, call.line};
    const unsigned from = group.waited_before[warp],
                   before =
                       std::max(from, group.open_group - std::min(call.groups, group.open_group));
    group.waited_before[warp] = before;
    std::vector<std::shared_ptr<const AsyncProduct>> ended;
    for (Product& one : group.products) {
        if (one.group < from || one.group >= before) continue;
        if (!one.is_done) perform(one);
        ended.push_back(one.in_flight);
    }
    if (watching != nullptr) watching->wait_for_products(ended, warp);
    for (const Product& one : group.products) {
        const bool is_used = std::ranges::any_of(group.products, [&](const Product& other) {
            return other.group >= before && other.sums == one.sums;
        });
        if (one.group < before && !is_used) give_sums(*one.sums, warp);
    }
    const unsigned done = std::ranges::min(group.waited_before);
    std::erase_if(group.products, [&](const Product& one) { return one.group < done; });
}

void WarpgroupProducts::give_sums(Accumulator& sums, unsigned warp) {
    if ((sums.late_warps >> warp & 1u) == 0) return;
    sums.late_warps &= ~(1u << warp);
    const std::size_t count = sums.places.size() / AsyncProduct::warps, first = warp * count;
    // A variable that other code has written since is no longer the product's.
    for (std::size_t i = first; i < first + count; ++i)
        if (load(sums.places[i]) == unwritten)
            std::memcpy(sums.places[i], &sums.values[i], sizeof sums.values[i]);
}

}  // namespace gradverify::simt

namespace gradverify::simt::ptx {
extern "C" {

void gradverify_simt_warpgroup(WarpgroupCall& call) {
    call.pc = __builtin_return_address(0);
    WarpgroupProducts::of_this_thread().call(call);
}

}  // extern "C"
}  // namespace gradverify::simt::ptx
