// SPDX-License-Identifier: Apache-2.0
// CUB's common algorithms for the whole device. A call without temporary storage says how much it
// needs, as on a GPU; here it is a byte, which must be given all the same.
#pragma once
#pragma GCC system_header

#include <cstdint>
#include <limits>

#include "cub/gradverify_common.cuh"
#include "gradverify_libraries/algorithms.hpp"
#include "gradverify_simt/cuda_only.hpp"

namespace cub {

template <class Key, class Value>
struct KeyValuePair {
    Key key;
    Value value;
};
// The two halves of a buffer that a sort swaps.
template <class T>
struct DoubleBuffer {
    T* d_buffers[2] = {};
    int selector = 0;
    DoubleBuffer() = default;
    DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate} {}
    T* Current() { return d_buffers[selector]; }
    T* Alternate() { return d_buffers[selector ^ 1]; }
};

namespace gradverify_detail {

namespace unit = ::gradverify::simt::unit;
using unit::value_of;

/// The two arguments with which a call begins.
struct Storage {
    void* memory;
    std::size_t& bytes;
};

template <class Body>
cudaError_t serve(const char* name, Storage storage, cudaStream_t stream, unit::Place place,
                  const Body& body) {
    if (storage.memory == nullptr) {
        storage.bytes = 1;
        return cudaSuccess;
    }
    if (storage.bytes == 0) return cudaErrorInvalidValue;
    return unit::run_on_device(name, stream, place, body);
}

/// Bits [begin, end) of a key in the order of its values.
template <class Key>
struct RadixLess {
    int begin, end;
    bool descending;

    static std::uint64_t ordered(const Key& key) {
        static_assert(sizeof(Key) <= 8,
                      "gradverify: a radix sort of larger keys runs on cuda only");
        std::uint64_t bits = 0;
        std::memcpy(&bits, &key, sizeof(Key));
        const std::uint64_t sign = std::uint64_t{1} << (8 * sizeof(Key) - 1), all = 2 * sign - 1;
        if (std::is_unsigned_v<Key>) return bits;
        if (std::is_integral_v<Key>) return bits ^ sign;
        if (bits == sign) bits = 0;  // -0
        return (bits & sign) != 0 ? ~bits & all : bits | sign;
    }
    std::uint64_t digits(const Key& key) const {
        const std::uint64_t bits = ordered(key) >> begin;
        return end - begin < 64 ? bits & ((std::uint64_t{1} << (end - begin)) - 1) : bits;
    }
    bool operator()(const Key& a, const Key& b) const {
        return descending ? digits(b) < digits(a) : digits(a) < digits(b);
    }
};

template <class In, class Out>
void copy(In from, Out to, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) to[i] = from[i];
}

template <class Extreme, class In, class Pair>
void arg_of_extreme(In in, Pair* out, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        if (i == 0 || Extreme::is_better(in[i], out->value)) *out = {static_cast<int>(i), in[i]};
    }
}
struct Largest {
    template <class T>
    static T first() {
        return std::numeric_limits<T>::lowest();
    }
    template <class T>
    static bool is_better(const T& a, const T& b) {
        return b < a;
    }
};
struct Smallest {
    template <class T>
    static T first() {
        return std::numeric_limits<T>::max();
    }
    template <class T>
    static bool is_better(const T& a, const T& b) {
        return a < b;
    }
};

/// The type in which a sum begins: the output's, unless that takes anything.
template <class In, class Out>
using SumOf = std::conditional_t<std::is_void_v<typename std::iterator_traits<Out>::value_type>,
                                 value_of<In>, typename std::iterator_traits<Out>::value_type>;

}  // namespace gradverify_detail

#define GRADVERIFY_SIMT_CUB_REFUSED(NAME, ...)                                                 \
    GRADVERIFY_SIMT_CUDA_ONLY("such algorithm of CUB", "cub::" #NAME "::", static cudaError_t, \
                              __VA_ARGS__)
#define GRADVERIFY_SIMT_CUB_BEGIN void *memory, std::size_t &bytes
#define GRADVERIFY_SIMT_CUB_END cudaStream_t stream = nullptr, GRADVERIFY_SIMT_PLACE
#define GRADVERIFY_SIMT_CUB_SERVE(NAME, ...) \
    gradverify_detail::serve(NAME, {memory, bytes}, stream, {file, line}, [=] { __VA_ARGS__; })

struct DeviceReduce {
    template <class In, class Out, class Op, class T>
    static cudaError_t Reduce(GRADVERIFY_SIMT_CUB_BEGIN, In in, Out out, std::size_t count, Op op,
                              T init, GRADVERIFY_SIMT_CUB_END) {
        return GRADVERIFY_SIMT_CUB_SERVE(
            "cub::DeviceReduce", *out = gradverify_detail::unit::reduce(in, count, init, op));
    }
    template <class In, class Out, class Op, class Transform, class T>
    static cudaError_t TransformReduce(GRADVERIFY_SIMT_CUB_BEGIN, In in, Out out, std::size_t count,
                                       Op op, Transform transform, T init,
                                       GRADVERIFY_SIMT_CUB_END) {
        return GRADVERIFY_SIMT_CUB_SERVE(
            "cub::DeviceReduce", using Sum = std::decay_t<decltype(op(init, transform(in[0])))>;
            Sum sum = init; for (std::size_t i = 0; i < count; ++i) sum = op(sum, transform(in[i]));
            *out = sum);
    }
#define GRADVERIFY_SIMT_CUB_REDUCE(NAME, OP, INIT)                                        \
    template <class In, class Out>                                                        \
    static cudaError_t NAME(GRADVERIFY_SIMT_CUB_BEGIN, In in, Out out, std::size_t count, \
                            GRADVERIFY_SIMT_CUB_END) {                                    \
        using T = gradverify_detail::value_of<In>;                                        \
        return Reduce(memory, bytes, in, out, count, OP(), INIT, stream, file, line);     \
    }
    GRADVERIFY_SIMT_CUB_REDUCE(Sum, cub::Sum, (gradverify_detail::SumOf<In, Out>{}))
    GRADVERIFY_SIMT_CUB_REDUCE(Max, cub::Max, gradverify_detail::Largest::first<T>())
    GRADVERIFY_SIMT_CUB_REDUCE(Min, cub::Min, gradverify_detail::Smallest::first<T>())
#undef GRADVERIFY_SIMT_CUB_REDUCE
#define GRADVERIFY_SIMT_CUB_ARG(NAME, EXTREME)                                              \
    template <class In, class Pair>                                                         \
    static cudaError_t NAME(GRADVERIFY_SIMT_CUB_BEGIN, In in, Pair* out, std::size_t count, \
                            GRADVERIFY_SIMT_CUB_END) {                                      \
        return GRADVERIFY_SIMT_CUB_SERVE(                                                   \
            "cub::DeviceReduce::" #NAME,                                                    \
            gradverify_detail::arg_of_extreme<gradverify_detail::EXTREME>(in, out, count)); \
    }
    GRADVERIFY_SIMT_CUB_ARG(ArgMax, Largest)
    GRADVERIFY_SIMT_CUB_ARG(ArgMin, Smallest)
#undef GRADVERIFY_SIMT_CUB_ARG
    template <class Keys, class OutKeys, class Values, class OutValues, class Count, class Op>
    static cudaError_t ReduceByKey(GRADVERIFY_SIMT_CUB_BEGIN, Keys keys, OutKeys out_keys,
                                   Values values, OutValues out_values, Count runs, Op op,
                                   std::size_t count, GRADVERIFY_SIMT_CUB_END) {
        return GRADVERIFY_SIMT_CUB_SERVE(
            "cub::DeviceReduce::ReduceByKey",
            const auto equal = [](const auto& a, const auto& b) { return a == b; };
            *runs = gradverify_detail::value_of<Count>(gradverify_detail::unit::reduce_runs(
                keys, count, values, out_keys, out_values, equal, op)));
    }
};

struct DeviceScan {
    GRADVERIFY_SIMT_CUB_REFUSED(DeviceScan, ExclusiveScanByKey, ExclusiveSumByKey,
                                InclusiveScanByKey, InclusiveSumByKey)
    template <class In, class Out, class Op, class T>
    static cudaError_t ExclusiveScan(GRADVERIFY_SIMT_CUB_BEGIN, In in, Out out, Op op, T init,
                                     std::size_t count, GRADVERIFY_SIMT_CUB_END) {
        return GRADVERIFY_SIMT_CUB_SERVE(
            "cub::DeviceScan", using Sum = gradverify_detail::unit::Accumulator<In, T, Op>;
            gradverify_detail::unit::exclusive_scan<Sum>(in, out, count, init, op));
    }
    template <class In, class Out, class Op>
    static cudaError_t InclusiveScan(GRADVERIFY_SIMT_CUB_BEGIN, In in, Out out, Op op,
                                     std::size_t count, GRADVERIFY_SIMT_CUB_END) {
        return GRADVERIFY_SIMT_CUB_SERVE(
            "cub::DeviceScan", using T = gradverify_detail::value_of<In>;
            using Sum = gradverify_detail::unit::Accumulator<In, T, Op>;
            gradverify_detail::unit::inclusive_scan<Sum>(in, out, count, op));
    }
    template <class In, class Out>
    static cudaError_t ExclusiveSum(GRADVERIFY_SIMT_CUB_BEGIN, In in, Out out, std::size_t count,
                                    GRADVERIFY_SIMT_CUB_END) {
        return ExclusiveScan(memory, bytes, in, out, cub::Sum(), gradverify_detail::value_of<In>{},
                             count, stream, file, line);
    }
    template <class In, class Out>
    static cudaError_t InclusiveSum(GRADVERIFY_SIMT_CUB_BEGIN, In in, Out out, std::size_t count,
                                    GRADVERIFY_SIMT_CUB_END) {
        return InclusiveScan(memory, bytes, in, out, cub::Sum(), count, stream, file, line);
    }
};

struct DeviceRadixSort {
#define GRADVERIFY_SIMT_CUB_SORT(SUFFIX, DESCENDING)                                             \
    template <class K>                                                                           \
    static cudaError_t SortKeys##SUFFIX(GRADVERIFY_SIMT_CUB_BEGIN, const K* in, K* out,          \
                                        std::size_t count, int begin_bit = 0,                    \
                                        int end_bit = 8 * sizeof(K), GRADVERIFY_SIMT_CUB_END) {  \
        return GRADVERIFY_SIMT_CUB_SERVE(                                                        \
            "cub::DeviceRadixSort", gradverify_detail::copy(in, out, count);                     \
            gradverify_detail::unit::stable_sort(                                                \
                out, count, gradverify_detail::RadixLess<K>{begin_bit, end_bit, DESCENDING}));   \
    }                                                                                            \
    template <class K, class V>                                                                  \
    static cudaError_t SortPairs##SUFFIX(GRADVERIFY_SIMT_CUB_BEGIN, const K* in, K* out,         \
                                         const V* values, V* out_values, std::size_t count,      \
                                         int begin_bit = 0, int end_bit = 8 * sizeof(K),         \
                                         GRADVERIFY_SIMT_CUB_END) {                              \
        return GRADVERIFY_SIMT_CUB_SERVE(                                                        \
            "cub::DeviceRadixSort", gradverify_detail::copy(in, out, count);                     \
            gradverify_detail::copy(values, out_values, count);                                  \
            gradverify_detail::unit::stable_sort_by_key(                                         \
                out, count, out_values,                                                          \
                gradverify_detail::RadixLess<K>{begin_bit, end_bit, DESCENDING}));               \
    }                                                                                            \
    template <class K>                                                                           \
    static cudaError_t SortKeys##SUFFIX(GRADVERIFY_SIMT_CUB_BEGIN, DoubleBuffer<K>& keys,        \
                                        std::size_t count, int begin_bit = 0,                    \
                                        int end_bit = 8 * sizeof(K), GRADVERIFY_SIMT_CUB_END) {  \
        K *const in = keys.Current(), *const out = keys.Alternate();                             \
        if (memory != nullptr) keys.selector ^= 1;                                               \
        return SortKeys##SUFFIX(memory, bytes, in, out, count, begin_bit, end_bit, stream, file, \
                                line);                                                           \
    }                                                                                            \
    template <class K, class V>                                                                  \
    static cudaError_t SortPairs##SUFFIX(GRADVERIFY_SIMT_CUB_BEGIN, DoubleBuffer<K>& keys,       \
                                         DoubleBuffer<V>& values, std::size_t count,             \
                                         int begin_bit = 0, int end_bit = 8 * sizeof(K),         \
                                         GRADVERIFY_SIMT_CUB_END) {                              \
        K *const in = keys.Current(), *const out = keys.Alternate();                             \
        V *const from = values.Current(), *const to = values.Alternate();                        \
        if (memory != nullptr) keys.selector ^= 1, values.selector ^= 1;                         \
        return SortPairs##SUFFIX(memory, bytes, in, out, from, to, count, begin_bit, end_bit,    \
                                 stream, file, line);                                            \
    }
    GRADVERIFY_SIMT_CUB_SORT(, false)
    GRADVERIFY_SIMT_CUB_SORT(Descending, true)
#undef GRADVERIFY_SIMT_CUB_SORT
};

struct DeviceMergeSort {
    GRADVERIFY_SIMT_CUB_REFUSED(DeviceMergeSort, SortKeysCopy, SortPairsCopy)
    template <class Keys, class Less>
    static cudaError_t StableSortKeys(GRADVERIFY_SIMT_CUB_BEGIN, Keys keys, std::size_t count,
                                      Less less, GRADVERIFY_SIMT_CUB_END) {
        return GRADVERIFY_SIMT_CUB_SERVE("cub::DeviceMergeSort",
                                         gradverify_detail::unit::stable_sort(keys, count, less));
    }
    template <class Keys, class Values, class Less>
    static cudaError_t StableSortPairs(GRADVERIFY_SIMT_CUB_BEGIN, Keys keys, Values values,
                                       std::size_t count, Less less, GRADVERIFY_SIMT_CUB_END) {
        return GRADVERIFY_SIMT_CUB_SERVE(
            "cub::DeviceMergeSort",
            gradverify_detail::unit::stable_sort_by_key(keys, count, values, less));
    }
    template <class Keys, class Less>
    static cudaError_t SortKeys(GRADVERIFY_SIMT_CUB_BEGIN, Keys keys, std::size_t count, Less less,
                                GRADVERIFY_SIMT_CUB_END) {
        return StableSortKeys(memory, bytes, keys, count, less, stream, file, line);
    }
    template <class Keys, class Values, class Less>
    static cudaError_t SortPairs(GRADVERIFY_SIMT_CUB_BEGIN, Keys keys, Values values,
                                 std::size_t count, Less less, GRADVERIFY_SIMT_CUB_END) {
        return StableSortPairs(memory, bytes, keys, values, count, less, stream, file, line);
    }
};

struct DeviceSelect {
    GRADVERIFY_SIMT_CUB_REFUSED(DeviceSelect, UniqueByKey)
#define GRADVERIFY_SIMT_CUB_SELECT(NAME, IS_SELECTED)                                 \
    GRADVERIFY_SIMT_CUB_SERVE(                                                        \
        "cub::DeviceSelect::" NAME, std::size_t kept = 0;                             \
        for (std::size_t i = 0; i < count; ++i) if (IS_SELECTED) out[kept++] = in[i]; \
        *selected = gradverify_detail::value_of<Count>(kept))
    template <class In, class Out, class Count, class Is>
    static cudaError_t If(GRADVERIFY_SIMT_CUB_BEGIN, In in, Out out, Count selected,
                          std::size_t count, Is is, GRADVERIFY_SIMT_CUB_END) {
        return GRADVERIFY_SIMT_CUB_SELECT("If", is(in[i]));
    }
    template <class In, class Flags, class Out, class Count>
    static cudaError_t Flagged(GRADVERIFY_SIMT_CUB_BEGIN, In in, Flags flags, Out out,
                               Count selected, std::size_t count, GRADVERIFY_SIMT_CUB_END) {
        return GRADVERIFY_SIMT_CUB_SELECT("Flagged", flags[i]);
    }
    template <class In, class Out, class Count>
    static cudaError_t Unique(GRADVERIFY_SIMT_CUB_BEGIN, In in, Out out, Count selected,
                              std::size_t count, GRADVERIFY_SIMT_CUB_END) {
        return GRADVERIFY_SIMT_CUB_SELECT("Unique", i == 0 || !(in[i] == in[i - 1]));
    }
#undef GRADVERIFY_SIMT_CUB_SELECT
};

struct DeviceSegmentedReduce {
    GRADVERIFY_SIMT_CUB_REFUSED(DeviceSegmentedReduce, ArgMax, ArgMin)
    template <class In, class Out, class Begin, class End, class Op, class T>
    static cudaError_t Reduce(GRADVERIFY_SIMT_CUB_BEGIN, In in, Out out, std::size_t segments,
                              Begin begin, End end, Op op, T init, GRADVERIFY_SIMT_CUB_END) {
        return GRADVERIFY_SIMT_CUB_SERVE(
            "cub::DeviceSegmentedReduce",
            for (std::size_t i = 0; i < segments; ++i) out[i] = gradverify_detail::unit::reduce(
                in + begin[i], begin[i] < end[i] ? static_cast<std::size_t>(end[i] - begin[i]) : 0,
                init, op));
    }
#define GRADVERIFY_SIMT_CUB_REDUCE(NAME, OP, INIT)                                            \
    template <class In, class Out, class Begin, class End>                                    \
    static cudaError_t NAME(GRADVERIFY_SIMT_CUB_BEGIN, In in, Out out, std::size_t segments,  \
                            Begin begin, End end, GRADVERIFY_SIMT_CUB_END) {                  \
        using T = gradverify_detail::value_of<In>;                                            \
        return Reduce(memory, bytes, in, out, segments, begin, end, OP(), INIT, stream, file, \
                      line);                                                                  \
    }
    GRADVERIFY_SIMT_CUB_REDUCE(Sum, cub::Sum, (gradverify_detail::SumOf<In, Out>{}))
    GRADVERIFY_SIMT_CUB_REDUCE(Max, cub::Max, gradverify_detail::Largest::first<T>())
    GRADVERIFY_SIMT_CUB_REDUCE(Min, cub::Min, gradverify_detail::Smallest::first<T>())
#undef GRADVERIFY_SIMT_CUB_REDUCE
};

#undef GRADVERIFY_SIMT_CUB_REFUSED
#undef GRADVERIFY_SIMT_CUB_BEGIN
#undef GRADVERIFY_SIMT_CUB_END
#undef GRADVERIFY_SIMT_CUB_SERVE

}  // namespace cub
