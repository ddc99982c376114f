// SPDX-License-Identifier: Apache-2.0
// wgmma (PTX ISA, 9.7.15): its four warps meet at each instruction, and the last thread to come
// acts for all. The race detector hears of a product when it is issued and when it has been waited
// for.
#include "harness/simt/ptx/wgmma.hpp"

#include <algorithm>
#include <cstring>

#include "gradverify_simt/runtime_types.hpp"
#include "harness/simt/runtime/mapping.hpp"

namespace gradverify::simt {
namespace {

using ptx::WarpgroupCall;
constexpr std::uint32_t unwritten = ~0u;

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
    end_block();
    order_ = schedule.threads;
    random_ = Random(Random(schedule.seed + launch + 1).next());
}

void WarpgroupProducts::end_block() {
    if (!has_products_) return;
    for (Warpgroup& group : warpgroups_) {
        if (watching != nullptr)
            for (const Product& one : group.products) watching->end_product(one.in_flight);
        group = {};
    }
    has_products_ = false;
}

void WarpgroupProducts::call(const WarpgroupCall& part) {
    const unsigned rank = unit::state.thread.rank;
    warpgroups_[rank / ptx::warpgroup_threads].parts[rank % ptx::warpgroup_threads] = &part;
    Executor::of_this_thread().meet_in_warpgroup(&act, {part.file, part.line});
}

void WarpgroupProducts::act(unsigned warpgroup) { of_this_thread().act_together(warpgroup); }

void WarpgroupProducts::act_together(unsigned number) {
    Warpgroup& group = warpgroups_[number];
    const WarpgroupCall& first = *group.parts[0];
    for (const WarpgroupCall* part : group.parts)
        if (!are_alike(first, *part))
            Executor::of_this_thread().trap(
                cudaErrorIllegalInstruction,
                {"the threads of a warpgroup give different wgmma instructions, or different "
                 "descriptors"},
                {part->file, part->line});
    if (first.kind == WarpgroupCall::Kind::commit) {
        ++group.open_group;
    } else if (first.kind == WarpgroupCall::Kind::product) {
        issue(group, number * ptx::warpgroup_threads);
    } else if (first.kind == WarpgroupCall::Kind::fence) {
        if (watching != nullptr) watching->fence_registers(number);
    } else if (group.open_group > first.groups) {
        complete_before(group, group.open_group - first.groups);
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
    has_products_ = true;
    if (product.is_done) {
        perform(product);
    } else if (!std::exchange(sums->is_late, true)) {
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
    std::ranges::transform(sums.places, std::back_inserter(product->sums),
                           [](const void* place) { return number(place); });
    if (what.form.a_in_registers)
        for (const WarpgroupCall* part : group.parts)
            for (int i = 0; i < 4; ++i)
                if (part->a[i].place != nullptr)
                    product->factors.push_back(number(part->a[i].place));
    watching->begin_product(product);
    return product;
}

void WarpgroupProducts::perform(Product& product) {
    Accumulator& sums = *product.sums;
    multiply(product.what, sums.values);
    product.is_done = true;
    if (sums.is_late) return;
    for (std::size_t i = 0; i < sums.places.size(); ++i)
        std::memcpy(sums.places[i], &sums.values[i], sizeof sums.values[i]);
}

void WarpgroupProducts::complete_before(Warpgroup& group, unsigned group_number) {
    const auto left = std::ranges::find_if(
        group.products, [&](const Product& one) { return one.group >= group_number; });
    for (auto one = group.products.begin(); one != left; ++one)
        if (!one->is_done) perform(*one);
    std::vector<Product> completed(std::move_iterator(group.products.begin()),
                                   std::move_iterator(left));
    group.products.erase(group.products.begin(), left);
    if (watching != nullptr) {
        std::vector<std::shared_ptr<const AsyncProduct>> ended;
        ended.reserve(completed.size());
        for (const Product& one : completed) ended.push_back(one.in_flight);
        watching->end_products(ended);
    }
    for (const Product& one : completed) {
        Accumulator& sums = *one.sums;
        const bool is_used = std::ranges::any_of(
            group.products, [&](const Product& other) { return other.sums == one.sums; });
        if (is_used || !std::exchange(sums.is_late, false)) continue;
        // A variable that other code has written since is no longer the product's.
        for (std::size_t i = 0; i < sums.places.size(); ++i)
            if (load(sums.places[i]) == unwritten)
                std::memcpy(sums.places[i], &sums.values[i], sizeof sums.values[i]);
    }
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
