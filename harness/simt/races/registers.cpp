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
    products_.push_back({product, (1u << AsyncProduct::warps) - 1});
    for (unsigned warp = 0; warp < AsyncProduct::warps; ++warp) {
        mark_registers(product->sums[warp], sum_in_flight, true);
        mark_registers(product->factors[warp], factor_in_flight, true);
    }
}

void Detector::release_registers(const AsyncProduct& product, unsigned warp) {
    mark_registers(product.sums[warp], sum_in_flight, false);
    mark_registers(product.factors[warp], factor_in_flight, false);
    // What else is in flight there stays so.
    for (const auto& [other, warps] : products_) {
        if (other->first_rank != product.first_rank || (warps >> warp & 1u) == 0) continue;
        mark_registers(other->sums[warp], sum_in_flight, true);
        mark_registers(other->factors[warp], factor_in_flight, true);
    }
}

void Detector::end_product(const std::shared_ptr<const AsyncProduct>& product) {
    // Those of an abandoned launch have been forgotten.
    if (std::erase_if(products_, [&](const auto& one) { return one.product == product; }) == 0)
        return;
    for (unsigned warp = 0; warp < AsyncProduct::warps; ++warp) release_registers(*product, warp);
}

void Detector::wait_for_products(const std::vector<std::shared_ptr<const AsyncProduct>>& products,
                                 unsigned warp) {
    if (products.empty()) return;
    resolve_pending();
    std::vector<unsigned> operations;
    for (const auto& product : products) {
        operations.push_back(product->operation);
        for (auto& [in_flight, warps] : products_)
            if (in_flight == product) warps &= ~(1u << warp);
        release_registers(*product, warp);
    }
    std::erase_if(products_, [](const auto& one) { return one.warps == 0; });
    operations_.wait_for_products(operations, products[0]->first_rank + warp * warp_lanes);
}

void Detector::forget_products() {
    while (!products_.empty()) end_product(std::shared_ptr(products_.back().product));
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
    const auto check = [&](std::uintptr_t place) {
        const ShadowPage& page = shadow_.page_of(place);
        if (page.register_writes.empty()) return;
        const RegisterWrite& write = page.register_writes[Shadow::cell_index(place)];
        if (write.time < fenced_at || write.pc == 0) return;
        const std::string here = line_of(write.pc);
        findings_.add({FindingKind::race, here, there}, [&] {
            return "a register that is written at " + here + " is used by the product of " + there +
                   ", with no wgmma.fence between them" + where();
        });
    };
    for (unsigned warp = 0; warp < AsyncProduct::warps; ++warp) {
        std::ranges::for_each(product.sums[warp], check);
        std::ranges::for_each(product.factors[warp], check);
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
    const auto has = [&](const auto& of_warps) {
        return std::ranges::any_of(of_warps, [&](const std::vector<std::uintptr_t>& places) {
            return std::ranges::find(places, cell) != places.end();
        });
    };
    const auto found = std::ranges::find_if(products_, [&](const ProductInFlight& one) {
        return has(one.product->sums) || has(one.product->factors);
    });
    if (found == products_.end()) return;
    const AsyncProduct& product = *found->product;
    const bool is_sum = has(product.sums);
    const std::string here = line_of(bits_of(request.pc)), there = line_of(bits_of(product.pc));
    findings_.add({FindingKind::race, here, there}, [&] {
        return thread_text(unit::state.thread.rank) + (request.writes ? " writes" : " reads") +
               (is_sum ? " an accumulator's register at " : " a register of a factor at ") + here +
               ", while the product of " + there +
               (is_sum ? " may still write it" : " may still read it") +
               ": its warp has not waited for the product's group" + where();
    });
}

}  // namespace gradverify::simt
