// SPDX-License-Identifier: Apache-2.0
// What the algorithms of Thrust and CUB for a whole device share: each is a kernel of one thread,
// whose loops read and write the device's memory. None of them needs memory beside it.
#pragma once
#pragma GCC system_header

#include <cstddef>
#include <iterator>
#include <type_traits>

#include "gradverify_simt/forced.hpp"

namespace gradverify::simt::unit {

template <class It>
using value_of = typename std::iterator_traits<It>::value_type;

/// Runs `body` as a kernel, whose name an error gives.
template <class Body>
cudaError_t run_on_device(const char* name, cudaStream_t stream, Place place, const Body& body) {
    launch(name, LaunchConfig(1, 1, 0, stream, place.file, place.line), body);
    return cudaPeekAtLastError();
}

template <class It>
void swap_elements(It a, It b) {
    const value_of<It> kept = *a;
    *a = *b;
    *b = kept;
}

/// A stable sort in place of what `less(i, j)` compares and `swap(i, j)` swaps.
template <class Less, class Swap>
class StableSort {
  public:
    StableSort(Less less, Swap swap) : less_(less), swap_(swap) {}

    void run(std::size_t begin, std::size_t end) const {
        if (end - begin < 2) return;
        const std::size_t middle = begin + (end - begin) / 2;
        run(begin, middle);
        run(middle, end);
        merge(begin, middle, end);
    }

  private:
    /// Swaps a half of the longer run with what belongs before it of the other, and so on.
    void merge(std::size_t begin, std::size_t middle, std::size_t end) const {
        if (begin == middle || middle == end || !less_(middle, middle - 1)) return;
        if (end - begin == 2) return swap_(begin, middle);
        std::size_t first, second;
        if (middle - begin > end - middle) {
            first = begin + (middle - begin) / 2;
            second = partition_point(middle, end, [&](std::size_t i) { return less_(i, first); });
        } else {
            second = middle + (end - middle) / 2;
            first =
                partition_point(begin, middle, [&](std::size_t i) { return !less_(second, i); });
        }
        reverse(first, middle), reverse(middle, second), reverse(first, second);
        const std::size_t joint = first + (second - middle);
        merge(begin, first, joint);
        merge(joint, second, end);
    }
    template <class Is>
    static std::size_t partition_point(std::size_t begin, std::size_t end, Is is) {
        while (begin < end) {
            const std::size_t middle = begin + (end - begin) / 2;
            if (is(middle))
                begin = middle + 1;
            else
                end = middle;
        }
        return begin;
    }
    void reverse(std::size_t begin, std::size_t end) const {
        for (; begin + 1 < end; ++begin, --end) swap_(begin, end - 1);
    }

    Less less_;
    Swap swap_;
};

template <class Keys, class Less>
void stable_sort(Keys keys, std::size_t count, Less less) {
    const auto before = [&](std::size_t i, std::size_t j) { return less(keys[i], keys[j]); };
    const auto swap = [&](std::size_t i, std::size_t j) { swap_elements(keys + i, keys + j); };
    StableSort<decltype(before), decltype(swap)>(before, swap).run(0, count);
}
template <class Keys, class Values, class Less>
void stable_sort_by_key(Keys keys, std::size_t count, Values values, Less less) {
    const auto before = [&](std::size_t i, std::size_t j) { return less(keys[i], keys[j]); };
    const auto swap = [&](std::size_t i, std::size_t j) {
        swap_elements(keys + i, keys + j);
        swap_elements(values + i, values + j);
    };
    StableSort<decltype(before), decltype(swap)>(before, swap).run(0, count);
}

/// What a sum is kept in, as CUB has it: of bytes it is an int.
template <class In, class T, class Op>
using Accumulator = std::decay_t<std::invoke_result_t<Op, T, value_of<In>>>;

template <class In, class T, class Op>
auto reduce(In in, std::size_t count, T init, Op op) {
    Accumulator<In, T, Op> sum = init;
    for (std::size_t i = 0; i < count; ++i) sum = op(sum, in[i]);
    return sum;
}

/// Sums are kept in a Sum. `out` may be `in`.
template <class Sum, class In, class Out, class T, class Op>
void exclusive_scan(In in, Out out, std::size_t count, T init, Op op) {
    Sum sum = init;
    for (std::size_t i = 0; i < count; ++i) {
        const Sum with_x = op(sum, in[i]);
        out[i] = sum;
        sum = with_x;
    }
}
template <class Sum, class In, class Out, class Op>
void inclusive_scan(In in, Out out, std::size_t count, Op op) {
    if (count == 0) return;
    Sum sum = in[0];
    out[0] = sum;
    for (std::size_t i = 1; i < count; ++i) {
        sum = op(sum, in[i]);
        out[i] = sum;
    }
}

/// For each run of equal keys its key, and its values reduced. Returns the number of runs.
template <class Keys, class Values, class OutKeys, class OutValues, class Equal, class Op>
std::size_t reduce_runs(Keys keys, std::size_t count, Values values, OutKeys out_keys,
                        OutValues out_values, Equal equal, Op op) {
    std::size_t runs = 0;
    for (std::size_t i = 0; i < count;) {
        const value_of<Keys> key = keys[i];
        Accumulator<Values, value_of<Values>, Op> sum = values[i];
        for (++i; i < count && equal(key, keys[i]); ++i) sum = op(sum, values[i]);
        out_keys[runs] = key;
        out_values[runs++] = sum;
    }
    return runs;
}

}  // namespace gradverify::simt::unit
