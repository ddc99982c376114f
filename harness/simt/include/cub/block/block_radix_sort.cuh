// SPDX-License-Identifier: Apache-2.0
// cub::BlockRadixSort: sorts the keys of a block, and values with them. Equal keys stay in order.
#pragma once
#pragma GCC system_header

#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "cub/block/block_exchange.cuh"
#include "cub/block/block_scan.cuh"

namespace cub {

namespace gradverify_detail {
template <std::size_t bytes>
struct BitsOf;
template <>
struct BitsOf<1> {
    using Type = std::uint8_t;
};
template <>
struct BitsOf<2> {
    using Type = std::uint16_t;
};
template <>
struct BitsOf<4> {
    using Type = std::uint32_t;
};
template <>
struct BitsOf<8> {
    using Type = std::uint64_t;
};

/// Unsigned numbers in the order of the keys: those of floating point are no integers, and have a
/// sign. Both zeros are one.
template <class Key>
auto sortable_bits(const Key& key) {
    using Bits = typename BitsOf<sizeof(Key)>::Type;
    constexpr Bits sign = Bits(Bits(1) << (8 * sizeof(Key) - 1));
    Bits bits;
    __builtin_memcpy(&bits, &key, sizeof bits);
    if constexpr (std::is_integral_v<Key>) {
        return std::is_signed_v<Key> ? Bits(bits ^ sign) : bits;
    } else {
        if (bits == sign) bits = 0;
        return (bits & sign) != 0 ? Bits(~bits) : Bits(bits | sign);
    }
}
}  // namespace gradverify_detail

template <class Key, int threads_x, int items, class Value = NullType, int = 4, bool = true,
          BlockScanAlgorithm = BLOCK_SCAN_WARP_SCANS, int = 0, int threads_y = 1, int threads_z = 1,
          int = 0>
class BlockRadixSort {
    static constexpr int threads = threads_x * threads_y * threads_z, count = threads * items;
    static_assert(count <= 1 << 16, "ranks have 16 bits here");
    using At = gradverify_detail::Arrangement<threads, items>;
    static constexpr int bits_of_key = 8 * sizeof(Key);

  public:
    struct TempStorage {
        union {
            gradverify_detail::Values<Key, count> keys;
            gradverify_detail::Values<Value, count> values;
        };
        std::uint16_t order[2][count];
    };
    explicit BlockRadixSort(TempStorage& storage) : storage_(storage) {}

    void Sort(Key (&keys)[items], int begin = 0, int end = bits_of_key, GRADVERIFY_SIMT_PLACE) {
        sort(keys, nullptr, begin, end, false, At::blocked, file, line);
    }
    void Sort(Key (&keys)[items], Value (&values)[items], int begin = 0, int end = bits_of_key,
              GRADVERIFY_SIMT_PLACE) {
        sort(keys, values, begin, end, false, At::blocked, file, line);
    }
    void SortDescending(Key (&keys)[items], int begin = 0, int end = bits_of_key,
                        GRADVERIFY_SIMT_PLACE) {
        sort(keys, nullptr, begin, end, true, At::blocked, file, line);
    }
    void SortDescending(Key (&keys)[items], Value (&values)[items], int begin = 0,
                        int end = bits_of_key, GRADVERIFY_SIMT_PLACE) {
        sort(keys, values, begin, end, true, At::blocked, file, line);
    }
    void SortBlockedToStriped(Key (&keys)[items], int begin = 0, int end = bits_of_key,
                              GRADVERIFY_SIMT_PLACE) {
        sort(keys, nullptr, begin, end, false, At::striped, file, line);
    }
    void SortBlockedToStriped(Key (&keys)[items], Value (&values)[items], int begin = 0,
                              int end = bits_of_key, GRADVERIFY_SIMT_PLACE) {
        sort(keys, values, begin, end, false, At::striped, file, line);
    }
    void SortDescendingBlockedToStriped(Key (&keys)[items], int begin = 0, int end = bits_of_key,
                                        GRADVERIFY_SIMT_PLACE) {
        sort(keys, nullptr, begin, end, true, At::striped, file, line);
    }
    void SortDescendingBlockedToStriped(Key (&keys)[items], Value (&values)[items], int begin = 0,
                                        int end = bits_of_key, GRADVERIFY_SIMT_PLACE) {
        sort(keys, values, begin, end, true, At::striped, file, line);
    }

  private:
    void sort(Key (&keys)[items], Value* values, int begin, int end, bool is_descending,
              int (*index)(int), const char* file, int line) {
        for (int i = 0; i < items; ++i) storage_.keys[At::blocked(i)] = keys[i];
        __syncthreads(file, line);
        if (gradverify_detail::thread() == 0) order_keys(begin, end, is_descending);
        __syncthreads(file, line);
        const int of = (end - begin) % 2;  // the order that was written last
        for (int i = 0; i < items; ++i) keys[i] = storage_.keys[storage_.order[of][index(i)]];
        if (values == nullptr) return;
        __syncthreads(file, line);
        for (int i = 0; i < items; ++i) storage_.values[At::blocked(i)] = values[i];
        __syncthreads(file, line);
        for (int i = 0; i < items; ++i) values[i] = storage_.values[storage_.order[of][index(i)]];
    }
    /// Bit by bit, from the lowest on, each time from one order to the other.
    void order_keys(int begin, int end, bool is_descending) {
        for (int i = 0; i < count; ++i) storage_.order[0][i] = static_cast<std::uint16_t>(i);
        for (int bit = begin; bit < end; ++bit) {
            const auto& from = storage_.order[(bit - begin) % 2];
            auto& to = storage_.order[(bit - begin + 1) % 2];
            int at = 0;
            for (const bool taken : {is_descending, !is_descending})
                for (int i = 0; i < count; ++i) {
                    const auto bits = gradverify_detail::sortable_bits(storage_.keys[from[i]]);
                    if ((bits >> bit & 1u) == taken) to[at++] = from[i];
                }
        }
    }
    TempStorage& storage_;
};

}  // namespace cub
