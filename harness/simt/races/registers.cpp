// SPDX-License-Identifier: Apache-2.0
// The variables that stand for the registers of a warpgroup's products: which may be touched before
// a product has been waited for, and which were written without a wgmma.fence before a product.
#include <algorithm>

#include "harness/simt/execute/executor.hpp"
#include "harness/simt/races/detector.hpp"

namespace gradverify::simt {
namespace {

/// What `forbidden` holds in a thread's own memory.
constexpr unsigned sum_in_flight = 1, factor_in_flight = 2;

std::uint64_t bits_of(const void* pc) {
    return reinterpret_cast<std::uintptr_t>(pc) & 0xffffffffffffu;
}

}  // namespace

void Detector::fence_registers(unsigned warpgroup) {
    watches_registers_ = true;
    register_fences_[unit::state.cluster_rank].at[warpgroup] = ++register_time_;
}

void Detector::mark_registers(const std::vector<std::uintptr_t>& places, unsigned mark, bool set) {
    for (const std::uintptr_t place : places) {
        auto& marks = shadow_.page_of(place).forbidden[Shadow::cell_index(place)];
        marks = static_cast<std::uint8_t>(set ? marks | mark : marks & ~mark);
    }
}

void Detector::begin_product(const std::shared_ptr<const AsyncProduct>& product) {
    resolve_pending();
    for (const AsyncProduct::Read& read : product->reads)
        access_by_operation({.address = read.begin,
                             .bytes = read.end - read.begin,
                             .pc = product->pc,
                             .reads = true,
                             .writes = false,
                             .operation = product->operation,
                             .warp = static_cast<int>(read.rank / warp_lanes)});
    check_registers(*product);
    products_.push_back(product);
    mark_registers(product->sums, sum_in_flight, true);
    mark_registers(product->factors, factor_in_flight, true);
}

void Detector::end_product(const std::shared_ptr<const AsyncProduct>& product) {
    // Those of an abandoned launch have been forgotten.
    if (std::erase(products_, product) == 0) return;
    mark_registers(product->sums, sum_in_flight, false);
    mark_registers(product->factors, factor_in_flight, false);
    // What else is in flight there stays so.
    for (const auto& other : products_) {
        if (other->first_rank != product->first_rank) continue;
        mark_registers(other->sums, sum_in_flight, true);
        mark_registers(other->factors, factor_in_flight, true);
    }
}

void Detector::end_products(const std::vector<std::shared_ptr<const AsyncProduct>>& products) {
    if (products.empty()) return;
    resolve_pending();
    const unsigned seen = operations_.see_by(products[0]->first_rank, warpgroup_threads);
    for (const auto& product : products) {
        operations_.complete(product->operation, seen);
        end_product(product);
    }
}

void Detector::forget_products() {
    while (!products_.empty()) end_product(std::shared_ptr(products_.back()));
}

void Detector::check_registers(const AsyncProduct& product) {
    const std::string there = line_of(bits_of(product.pc));
    const RegisterFences& fences = register_fences_[unit::state.cluster_rank];
    const std::uint32_t fenced_at = fences.at[product.first_rank / 128];
    if (!watches_registers_ || fenced_at == fences.block_began_at) {
        watches_registers_ = true;
        findings_.add({FindingKind::race, there, ""}, [&] {
            return "a warpgroup's first product, at " + there + ", has no wgmma.fence before it" +
                   where();
        });
    }
    for (const auto* places : {&product.sums, &product.factors})
        for (const std::uintptr_t place : *places) {
            const ShadowPage& page = shadow_.page_of(place);
            if (page.register_writes.empty()) continue;
            const RegisterWrite& write = page.register_writes[Shadow::cell_index(place)];
            if (write.time < fenced_at || write.pc == 0) continue;
            const std::string here = line_of(write.pc);
            findings_.add({FindingKind::race, here, there}, [&] {
                return "a register that is written at " + here + " is used by the product of " +
                       there + ", with no wgmma.fence between them" + where();
            });
        }
}

void Detector::access_registers(ShadowPage& page, const Request& request) {
    for_each_cell(request.address, request.end(), [&](std::uintptr_t cell, unsigned) {
        const std::size_t index = Shadow::cell_index(cell);
        const unsigned marks = page.forbidden[index];
        if ((marks & sum_in_flight) != 0 || (request.writes && (marks & factor_in_flight) != 0))
            report_register_in_flight(cell, request);
        if (!request.writes) return;
        if (page.register_writes.empty()) page.register_writes.resize(cells_per_page);
        page.register_writes[index] = {bits_of(request.pc), register_time_};
    });
}

void Detector::report_register_in_flight(std::uintptr_t cell, const Request& request) {
    const auto has = [&](const std::vector<std::uintptr_t>& places) {
        return std::ranges::find(places, cell) != places.end();
    };
    const auto product = std::ranges::find_if(
        products_, [&](const auto& one) { return has(one->sums) || has(one->factors); });
    if (product == products_.end()) return;
    const bool is_sum = has((*product)->sums);
    const std::string here = line_of(bits_of(request.pc)), there = line_of(bits_of((*product)->pc));
    findings_.add({FindingKind::race, here, there}, [&] {
        return thread_text(unit::state.thread.rank) + (request.writes ? " writes" : " reads") +
               (is_sum ? " an accumulator's register at " : " a register of a factor at ") + here +
               ", while the product of " + there +
               (is_sum ? " may still write it" : " may still read it") +
               ": its warpgroup has not waited for the product's group" + where();
    });
}

}  // namespace gradverify::simt
