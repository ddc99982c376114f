// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/races/shadow.hpp"

#include <algorithm>

#include "harness/simt/runtime/mapping.hpp"

namespace gradverify::simt {

void set_forbidden_in(ShadowPage& page, const void* from, const void* to, bool forbidden) {
    const std::uintptr_t page_begin = page.number << shadow_page_bits;
    const std::uintptr_t end = std::min(number(to), page_begin + shadow_page_bytes);
    for_each_cell(std::max(number(from), page_begin), end, [&](std::uintptr_t at, unsigned bytes) {
        std::uint8_t& cell = page.forbidden[Shadow::cell_index(at)];
        cell = static_cast<std::uint8_t>(forbidden ? cell | bytes : cell & ~bytes);
    });
}

void Shadow::set_forbidden(const void* begin, const void* end, bool forbidden) {
    for (std::uintptr_t at = number(begin); at < number(end);
         at = (at >> shadow_page_bits << shadow_page_bits) + shadow_page_bytes) {
        set_forbidden_in(page_of(at), begin, end, forbidden);
    }
}

ShadowPage& Shadow::find(std::uintptr_t number) {
    std::unique_ptr<ShadowPage>& page = pages_[number];
    if (!page) page = std::make_unique<ShadowPage>();
    // Stacks and a program's own data keep their kind; a host pointer's page may become anything.
    if (page->kind == MemoryKind::unknown ||
        (page->generation != generation_ && page->kind != MemoryKind::private_to)) {
        page->number = number;
        page->generation = generation_;
        page->kind = MemoryKind::unknown;
        page->forbidden.fill(0);
        classify_(*page);
        if (page->is_checked() && !page->cells) {
            page->cells = std::make_unique<Cell[]>(cells_per_page);
        }
    }
    if (page->kind != MemoryKind::unknown) recent_[number % recent_.size()] = page.get();
    return *page;
}

void Shadow::forget_kinds() {
    ++generation_;
    recent_.fill(nullptr);
}

void Shadow::clear() {
    forget_kinds();
    pages_.clear();
}

}  // namespace gradverify::simt
