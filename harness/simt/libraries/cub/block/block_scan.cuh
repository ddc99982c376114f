// SPDX-License-Identifier: Apache-2.0
// cub::BlockScan: of a value of each thread, or of an array of each. Which reads of the storage
// come behind the last barrier is CUB's: a raking scan, or one with a callback, may follow at once.
#pragma once
#pragma GCC system_header

#include <type_traits>

#include "cub/gradverify_common.cuh"

namespace cub {

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

/// `in` and `out` are values or arrays, and may be the same. `last` is a variable for the
/// aggregate, or a callback: the first warp calls it with the aggregate, and thread 0's result is
/// the prefix.
template <class T, int threads_x, BlockScanAlgorithm algorithm = BLOCK_SCAN_RAKING,
          int threads_y = 1, int threads_z = 1, int = 0>
class BlockScan {
    static constexpr int threads = threads_x * threads_y * threads_z;
    /// A thread finds its result in its own slot; else in the one of the thread before it.
    static constexpr bool is_raking = algorithm != BLOCK_SCAN_WARP_SCANS || threads % 32 != 0;
    template <class Op>
    static constexpr bool is_operator = std::is_invocable_v<Op&, const T&, const T&>;
    template <class Out>
    using In = gradverify::simt::unit::type_identity_t<const Out>;

  public:
    struct alignas(gradverify_detail::storage_alignment) TempStorage {
        gradverify_detail::Values<T, threads> sums;
        gradverify_detail::Values<T, 2> aggregate_and_prefix;
    };
    explicit BlockScan(TempStorage& storage) : storage_(storage) {}

    template <class Out>
    void InclusiveSum(In<Out>& in, Out& out, GRADVERIFY_SIMT_PLACE) {
        scan<true>(array(in), array(out), Sum(), Before(), file, line);
    }
    template <class Out, class Last>
    void InclusiveSum(In<Out>& in, Out& out, Last& last, GRADVERIFY_SIMT_PLACE) {
        InclusiveScan(in, out, Sum(), last, file, line);
    }
    template <class Out>
    void ExclusiveSum(In<Out>& in, Out& out, GRADVERIFY_SIMT_PLACE) {
        ExclusiveScan(in, out, T(), Sum(), file, line);
    }
    template <class Out, class Last>
    void ExclusiveSum(In<Out>& in, Out& out, Last& last, GRADVERIFY_SIMT_PLACE) {
        if constexpr (std::is_same_v<Last, T>) {
            ExclusiveScan(in, out, T(), Sum(), last, file, line);
        } else {
            ExclusiveScan(in, out, Sum(), last, file, line);
        }
    }

    template <class Out, class Op>
    void InclusiveScan(In<Out>& in, Out& out, Op op, GRADVERIFY_SIMT_PLACE) {
        scan<true>(array(in), array(out), op, Before(), file, line);
    }
    template <class Out, class Op, class Last>
    void InclusiveScan(In<Out>& in, Out& out, Op op, Last& last, GRADVERIFY_SIMT_PLACE) {
        scan_with<true>(array(in), array(out), op, last, file, line);
    }
    /// Thread 0's first result is left as it is.
    template <class Out, class Op>
    requires(is_operator<Op>)
    void ExclusiveScan(In<Out>& in, Out& out, Op op, GRADVERIFY_SIMT_PLACE) {
        scan<false>(array(in), array(out), op, Before(), file, line);
    }
    template <class Out, class Op, class Last>
    requires(is_operator<Op>)
    void ExclusiveScan(In<Out>& in, Out& out, Op op, Last& last, GRADVERIFY_SIMT_PLACE) {
        scan_with<false>(array(in), array(out), op, last, file, line);
    }
    template <class Out, class Op>
    requires(is_operator<Op>)
    void ExclusiveScan(In<Out>& in, Out& out, T initial, Op op, GRADVERIFY_SIMT_PLACE) {
        scan<false>(array(in), array(out), op, Before{true, initial}, file, line);
    }
    template <class Out, class Op>
    requires(is_operator<Op>)
    void ExclusiveScan(In<Out>& in, Out& out, T initial, Op op, T& aggregate,
                       GRADVERIFY_SIMT_PLACE) {
        aggregate = scan<false>(array(in), array(out), op, Before{true, initial}, file, line);
    }

  private:
    /// What comes before a thread's values, if anything does.
    struct Before {
        bool is_any = false;
        T value{};
        void add(const T& more, auto& op) {
            value = is_any ? op(value, more) : more;
            is_any = true;
        }
    };

    template <class Value>
    static auto& array(Value& value) {
        if constexpr (std::is_array_v<Value>) {
            return value;
        } else {
            return reinterpret_cast<Value(&)[1]>(value);
        }
    }

    template <bool is_inclusive, int items, class Op, class Last>
    void scan_with(const T (&in)[items], T (&out)[items], Op op, Last& last, const char* file,
                   int line) {
        if constexpr (std::is_same_v<Last, T>) {
            last = scan<is_inclusive>(in, out, op, Before(), file, line);
        } else {
            const T aggregate = sum_up(in, op, file, line);
            Before before = before_own();
            if (gradverify_detail::thread() < 32) {
                const T prefix = last(aggregate);
                if (gradverify_detail::thread() == 0) storage_.aggregate_and_prefix[1] = prefix;
            }
            __syncthreads(file, line);
            const T prefix = storage_.aggregate_and_prefix[1];
            write<is_inclusive>(in, out, op,
                                {true, before.is_any ? op(prefix, before.value) : prefix});
        }
    }
    template <bool is_inclusive, int items>
    T scan(const T (&in)[items], T (&out)[items], auto op, Before before, const char* file,
           int line) {
        const T aggregate = sum_up(in, op, file, line);
        if (const Before own = before_own(); own.is_any) before.add(own.value, op);
        write<is_inclusive>(in, out, op, before);
        return aggregate;
    }
    /// The sum of all values. Each thread's slot has the sum of those before it, or through its
    /// own.
    template <int items>
    T sum_up(const T (&in)[items], auto op, const char* file, int line) {
        Before sum;
        for (const T& value : in) sum.add(value, op);
        const int own = gradverify_detail::thread();
        storage_.sums[own] = sum.value;
        __syncthreads(file, line);
        for (int i = 1; own == 0 && i < threads; ++i) {
            const T before = sum.value;
            sum.add(storage_.sums[i], op);
            storage_.sums[i] = is_raking ? before : sum.value;
        }
        if (own == 0) storage_.aggregate_and_prefix[0] = sum.value;
        __syncthreads(file, line);
        return storage_.aggregate_and_prefix[0];
    }
    Before before_own() {
        const int own = gradverify_detail::thread();
        return own == 0 ? Before{} : Before{true, storage_.sums[is_raking ? own : own - 1]};
    }
    template <bool is_inclusive, int items>
    void write(const T (&in)[items], T (&out)[items], auto op, Before before) {
        for (int i = 0; i < items; ++i) {
            const T value = in[i];
            if (!is_inclusive && before.is_any) out[i] = before.value;
            before.add(value, op);
            if (is_inclusive) out[i] = before.value;
        }
    }
    TempStorage& storage_;
};

}  // namespace cub
