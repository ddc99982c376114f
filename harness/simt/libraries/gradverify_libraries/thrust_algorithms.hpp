// SPDX-License-Identifier: Apache-2.0
// Thrust's common algorithms: on the host where they are given the host's memory, or thrust::host,
// and else as a kernel of one thread, on the policy's stream.
#pragma once
#pragma GCC system_header

#include <algorithm>
#include <functional>
#include <numeric>

#include "gradverify_libraries/algorithms.hpp"
#include "gradverify_libraries/thrust_iterators.hpp"
#include "gradverify_simt/each.hpp"

namespace thrust {

struct execution_policy {
    bool on_host = false, waits = true;
    cudaStream_t stream = nullptr;

    constexpr execution_policy on(cudaStream_t on_stream) const {
        return {on_host, waits, on_stream};
    }
    template <class Allocator>
    constexpr execution_policy operator()(const Allocator&) const {
        return *this;
    }
};
constexpr execution_policy device, host{true}, seq{true};
namespace cuda {
constexpr execution_policy par, par_nosync{false, false};
}

namespace gradverify_detail {

namespace unit = ::gradverify::simt::unit;

template <class T>
struct DeviceResult {
    T* at = nullptr;
    DeviceResult() { cudaMalloc(reinterpret_cast<void**>(&at), sizeof(T)); }
    ~DeviceResult() { cudaFree(at); }
    DeviceResult(const DeviceResult&) = delete;
    DeviceResult& operator=(const DeviceResult&) = delete;
};

template <class Algorithm, class... Args>
auto run(const char* name, unit::Place place, execution_policy policy, Algorithm algorithm,
         Args... args) {
    using T = decltype(algorithm(args...));
    if (policy.on_host || unit::state.in_kernel) return algorithm(args...);
    if constexpr (std::is_void_v<T>) {
        unit::run_on_device(name, policy.stream, place, [=] { algorithm(args...); });
        if (policy.waits) cudaStreamSynchronize(policy.stream);
    } else {
        const DeviceResult<T> result;
        T* const at = result.at;
        unit::run_on_device(name, policy.stream, place, [=] { new (at) T(algorithm(args...)); });
        alignas(T) unsigned char bytes[sizeof(T)];
        cudaMemcpyAsync(bytes, at, sizeof(T), cudaMemcpyDeviceToHost, policy.stream);
        cudaStreamSynchronize(policy.stream);
        return T(*reinterpret_cast<T*>(bytes));
    }
}

/// Without a policy the arguments decide. A copy between both sides is the host's.
template <class... Args>
execution_policy policy_of() {
    constexpr Side side = (Side{} | ... | SideOf<Args>::value);
    if (side.host && side.device) cudaDeviceSynchronize();
    return {side.host};
}
template <class Algorithm, class First, class... Rest>
auto dispatch(const char* name, unit::Place place, Algorithm algorithm, First first, Rest... rest) {
    if constexpr (std::is_same_v<First, execution_policy>) {
        return run(name, place, first, algorithm, rest...);
    } else {
        return run(name, place, policy_of<First, Rest...>(), algorithm, first, rest...);
    }
}

template <class It>
std::size_t count_of(It first, It last) {
    return static_cast<std::size_t>(last - first);
}

}  // namespace gradverify_detail

// Declares NAME of 2 to 8 arguments, the policy included; its algorithm has the others.
#define GRADVERIFY_SIMT_THRUST(NAME, ...)                                                          \
    namespace gradverify_detail {                                                                  \
    struct NAME##_algorithm {                                                                      \
        __VA_ARGS__                                                                                \
    };                                                                                             \
    }                                                                                              \
    GRADVERIFY_SIMT_THRUST_OF(NAME, (auto a, auto b), a, b)                                        \
    GRADVERIFY_SIMT_THRUST_OF(NAME, (auto a, auto b, auto c), a, b, c)                             \
    GRADVERIFY_SIMT_THRUST_OF(NAME, (auto a, auto b, auto c, auto d), a, b, c, d)                  \
    GRADVERIFY_SIMT_THRUST_OF(NAME, (auto a, auto b, auto c, auto d, auto e), a, b, c, d, e)       \
    GRADVERIFY_SIMT_THRUST_OF(NAME, (auto a, auto b, auto c, auto d, auto e, auto f), a, b, c, d,  \
                              e, f)                                                                \
    GRADVERIFY_SIMT_THRUST_OF(NAME, (auto a, auto b, auto c, auto d, auto e, auto f, auto g), a,   \
                              b, c, d, e, f, g)                                                    \
    GRADVERIFY_SIMT_THRUST_OF(NAME,                                                                \
                              (auto a, auto b, auto c, auto d, auto e, auto f, auto g, auto h), a, \
                              b, c, d, e, f, g, h)
#define GRADVERIFY_SIMT_THRUST_OF(NAME, PARAMETERS, ...)                                        \
    auto NAME(GRADVERIFY_SIMT_OPENED PARAMETERS, GRADVERIFY_SIMT_PLACE) {                       \
        return gradverify_detail::dispatch("thrust::" #NAME, {file, line},                      \
                                           gradverify_detail::NAME##_algorithm(), __VA_ARGS__); \
    }

// The standard library's, which need no memory.
#define GRADVERIFY_SIMT_THRUST_STD(NAME, ...)                        \
    GRADVERIFY_SIMT_THRUST(                                          \
        NAME, template <class... Args> auto operator()(Args... args) \
                  const { return std::NAME(args...); })
GRADVERIFY_SIMT_EACH(GRADVERIFY_SIMT_THRUST_STD, (), adjacent_difference, all_of, any_of,
                     binary_search, copy, copy_n, count, count_if, equal, fill, fill_n, find,
                     find_if, generate, inner_product, is_sorted, lower_bound, max_element,
                     min_element, none_of, remove, remove_if, replace, replace_if, reverse,
                     swap_ranges, transform, unique, unique_copy, upper_bound)
#undef GRADVERIFY_SIMT_THRUST_STD

GRADVERIFY_SIMT_THRUST(
    copy_if,
    template <class In, class Out, class Is> Out operator()(In first, In last, Out out, Is is)
        const {
            return std::copy_if(first, last, out, is);
        } template <class In, class Stencil, class Out, class Is>
        Out operator()(In first, In last, Stencil stencil, Out out, Is is) const {
            for (; first != last; ++first, ++stencil) {
                if (is(*stencil)) *out = *first, ++out;
            }
            return out;
        })
GRADVERIFY_SIMT_THRUST(
    for_each, template <class It, class F> It operator()(It first, It last, F f) const {
        for (; first != last; ++first) f(*first);
        return last;
    })
GRADVERIFY_SIMT_THRUST(
    for_each_n, template <class It, class N, class F> It operator()(It first, N count, F f) const {
        for (N i = 0; i < count; ++i, ++first) f(*first);
        return first;
    })
GRADVERIFY_SIMT_THRUST(
    gather, template <class Map, class In, class Out> Out operator()(Map first, Map last, In in,
                                                                     Out out) const {
        for (; first != last; ++first, ++out) *out = in[*first];
        return out;
    })
GRADVERIFY_SIMT_THRUST(
    scatter, template <class In, class Map, class Out> void operator()(In first, In last, Map map,
                                                                       Out out) const {
        for (; first != last; ++first, ++map) out[*map] = *first;
    })
GRADVERIFY_SIMT_THRUST(
    sequence,
    template <class It> void operator()(It first, It last) const {
        (*this)(first, last, value_of<It>(0), value_of<It>(1));
    } template <class It, class T>
    void operator()(It first, It last, T init)
        const { (*this)(first, last, init, T(1)); } template <class It, class T>
        void operator()(It first, It last, T init, T step) const {
            for (std::ptrdiff_t i = 0; first != last; ++first, ++i)
                *first = value_of<It>(init + step * T(i));
        })
GRADVERIFY_SIMT_THRUST(
    tabulate, template <class It, class F> void operator()(It first, It last, F f) const {
        for (std::ptrdiff_t i = 0; first != last; ++first, ++i) *first = f(i);
    })
GRADVERIFY_SIMT_THRUST(
    reduce,
    template <class It> value_of<It> operator()(It first, It last) const {
        return (*this)(first, last, value_of<It>{}, std::plus<>());
    } template <class It, class T>
    T operator()(It first, It last, T init) const {
        return (*this)(first, last, init, std::plus<>());
    } template <class It, class T, class Op>
    T operator()(It first, It last, T init, Op op)
        const { return unit::reduce(first, count_of(first, last), init, op); })
GRADVERIFY_SIMT_THRUST(
    transform_reduce,
    template <class It, class F, class T, class Op> T operator()(It first, It last, F f, T init,
                                                                 Op op) const {
        for (; first != last; ++first) init = op(init, f(*first));
        return init;
    })
GRADVERIFY_SIMT_THRUST(
    reduce_by_key,
    template <class K, class V, class OutK, class OutV> auto operator()(K first, K last, V values,
                                                                        OutK out_keys,
                                                                        OutV out_values) const {
        return (*this)(first, last, values, out_keys, out_values, std::equal_to<>(), std::plus<>());
    } template <class K, class V, class OutK, class OutV, class Equal>
    auto operator()(K first, K last, V values, OutK out_keys, OutV out_values, Equal equal) const {
        return (*this)(first, last, values, out_keys, out_values, equal, std::plus<>());
    } template <class K, class V, class OutK, class OutV, class Equal, class Op>
    std::pair<OutK, OutV> operator()(K first, K last, V values, OutK out_keys, OutV out_values,
                                     Equal equal, Op op) const {
        const auto runs = static_cast<std::ptrdiff_t>(unit::reduce_runs(
            first, count_of(first, last), values, out_keys, out_values, equal, op));
        return {out_keys + runs, out_values + runs};
    })
GRADVERIFY_SIMT_THRUST(
    inclusive_scan,
    template <class In, class Out> Out operator()(In first, In last, Out out) const {
        return (*this)(first, last, out, std::plus<>());
    } template <class In, class Out, class Op>
    Out operator()(In first, In last, Out out, Op op) const {
        unit::inclusive_scan<unit::value_of<In>>(first, out, count_of(first, last), op);
        return out + (last - first);
    })
GRADVERIFY_SIMT_THRUST(
    exclusive_scan,
    template <class In, class Out> Out operator()(In first, In last, Out out) const {
        return (*this)(first, last, out, value_of<In>{}, std::plus<>());
    } template <class In, class Out, class T>
    Out operator()(In first, In last, Out out, T init) const {
        return (*this)(first, last, out, init, std::plus<>());
    } template <class In, class Out, class T, class Op>
    Out operator()(In first, In last, Out out, T init, Op op) const {
        unit::exclusive_scan<T>(first, out, count_of(first, last), init, op);
        return out + (last - first);
    })
#define GRADVERIFY_SIMT_THRUST_SORT(NAME)                                                        \
    GRADVERIFY_SIMT_THRUST(                                                                      \
        NAME, template <class It> void operator()(It first, It last)                             \
                  const { (*this)(first, last, std::less<>()); } template <class It, class Less> \
                  void operator()(It first, It last, Less less)                                  \
                      const { unit::stable_sort(first, count_of(first, last), less); })          \
    GRADVERIFY_SIMT_THRUST(                                                                      \
        NAME##_by_key,                                                                           \
        template <class K, class V> void operator()(K first, K last, V values) const {           \
            (*this)(first, last, values, std::less<>());                                         \
        } template <class K, class V, class Less>                                                \
        void operator()(K first, K last, V values, Less less)                                    \
            const { unit::stable_sort_by_key(first, count_of(first, last), values, less); })
GRADVERIFY_SIMT_THRUST_SORT(sort)
GRADVERIFY_SIMT_THRUST_SORT(stable_sort)
#undef GRADVERIFY_SIMT_THRUST_SORT

#undef GRADVERIFY_SIMT_THRUST
#undef GRADVERIFY_SIMT_THRUST_OF

}  // namespace thrust
