// SPDX-License-Identifier: Apache-2.0
// cub::BlockRadixSort: sorts the keys of a block, and values with them. Equal keys stay in order.
#pragma once
#pragma GCC system_header

#include <cstdint>
#include <type_traits>

#include "cub/block/block_exchange.cuh"
#include "cub/block/block_scan.cuh"

namespace cub {

namespace gradverify_detail {
/// Unsigned numbers in the order of the keys, by their lower bits. Keys that are no integers have a
/// sign bit; -0 is 0.
template <class Key>
std::uint64_t sortable_bits(const Key& key) {
    constexpr std::uint64_t sign = std::uint64_t{1} << (8 * sizeof(Key) - 1);
    const std::uint64_t bits = gradverify::simt::unit::bits_of(key);
    if constexpr (std::is_integral_v<Key>) return std::is_signed_v<Key> ? bits ^ sign : bits;
    return bits > sign ? ~bits : bits | sign;
}
}  // namespace gradverify_detail

template <class Key, int threads_x, int items, class Value = NullType, int radix_bits = 4,
          bool = true, BlockScanAlgorithm = BLOCK_SCAN_WARP_SCANS, int = 0, int threads_y = 1,
          int threads_z = 1, int = 0>
class BlockRadixSort {
    static constexpr int threads = threads_x * threads_y * threads_z, count = threads * items;
    static_assert(count <= 1 << 16, "ranks have 16 bits here");
    using At = gradverify_detail::Arrangement<threads, items>;
    static constexpr int bits_of_key = 8 * sizeof(Key),
                         bits_of_digit = radix_bits < 4 ? radix_bits : 4,
                         digits = 1 << bits_of_digit;

  public:
    /// No larger than CUB's.
    union alignas(gradverify_detail::storage_alignment) TempStorage {
        gradverify_detail::Values<Key, count> keys;
        gradverify_detail::Values<Value, count> values;
        std::uint16_t counts[digits][threads];
    };
    explicit BlockRadixSort(TempStorage& storage) : storage_(storage) {}

#define GRADVERIFY_SIMT_SORT(NAME, IS_DESCENDING, ARRANGEMENT)                                  \
    void NAME(Key(&keys)[items], int begin = 0, int end = bits_of_key, GRADVERIFY_SIMT_PLACE) { \
        sort(keys, nullptr, begin, end, IS_DESCENDING, At::ARRANGEMENT, file, line);            \
    }                                                                                           \
    void NAME(Key(&keys)[items], Value(&values)[items], int begin = 0, int end = bits_of_key,   \
              GRADVERIFY_SIMT_PLACE) {                                                          \
        sort(keys, values, begin, end, IS_DESCENDING, At::ARRANGEMENT, file, line);             \
    }
    GRADVERIFY_SIMT_SORT(Sort, false, blocked)
    GRADVERIFY_SIMT_SORT(SortDescending, true, blocked)
    GRADVERIFY_SIMT_SORT(SortBlockedToStriped, false, striped)
    GRADVERIFY_SIMT_SORT(SortDescendingBlockedToStriped, true, striped)
#undef GRADVERIFY_SIMT_SORT

  private:
    void sort(Key (&keys)[items], Value* values, int begin, int end, bool is_descending,
              int (*index)(int), const char* file, int line) {
        int ranks[items];
        for (int at = begin; at < end; at += bits_of_digit) {
            if (at > begin) __syncthreads(file, line);
            const int bits = end - at < bits_of_digit ? end - at : bits_of_digit;
            rank(keys, at, (1 << bits) - 1, is_descending, ranks, file, line);
            const bool is_last = at + bits == end;
            exchange(storage_.keys, keys, ranks, is_last ? index : At::blocked, file, line);
            if (values != nullptr)
                exchange(storage_.values, values, ranks, is_last ? index : At::blocked, file, line);
        }
    }
    /// The places of a thread's items in the order of one digit.
    void rank(const Key (&keys)[items], int at, int mask, bool is_descending, int (&ranks)[items],
              const char* file, int line) {
        auto& counts = storage_.counts;
        const int own = gradverify_detail::thread();
        const auto digit = [&](const Key& key) {
            const int bits = static_cast<int>(gradverify_detail::sortable_bits(key) >> at) & mask;
            return is_descending ? mask - bits : bits;
        };
        for (int of = 0; of < digits; ++of) counts[of][own] = 0;
        for (const Key& key : keys) ++counts[digit(key)][own];
        __syncthreads(file, line);
        if (own == 0) {
            int sum = 0;
            for (auto& of_digit : counts)
                for (std::uint16_t& here : of_digit) {
                    const int of_thread = here;
                    here = static_cast<std::uint16_t>(sum);
                    sum += of_thread;
                }
        }
        __syncthreads(file, line);
        for (int i = 0; i < items; ++i) ranks[i] = counts[digit(keys[i])][own]++;
    }
    template <class T>
    static void exchange(gradverify_detail::Values<T, count>& storage, T* both,
                         const int (&ranks)[items], int (*index)(int), const char* file, int line) {
        __syncthreads(file, line);
        for (int i = 0; i < items; ++i) storage[ranks[i]] = both[i];
        __syncthreads(file, line);
        for (int i = 0; i < items; ++i) both[i] = storage[index(i)];
    }
    TempStorage& storage_;
};

}  // namespace cub
