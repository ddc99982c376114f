// SPDX-License-Identifier: Apache-2.0
// libcu++'s atomics, as those of atomics.hpp: a plain access between calls of the executor. An
// order that releases, or acquires, is a fence before, or after. Their scopes are the device's.
#pragma once
#pragma GCC system_header

#include <atomic>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "gradverify_simt/forced.hpp"

namespace cuda {

enum thread_scope {
    thread_scope_system,
    thread_scope_device,
    thread_scope_block,
    thread_scope_thread
};
using std::memory_order, std::memory_order_acq_rel, std::memory_order_acquire,
    std::memory_order_consume, std::memory_order_relaxed, std::memory_order_release,
    std::memory_order_seq_cst;

GRADVERIFY_SIMT_ACCESS void atomic_thread_fence(memory_order order,
                                                thread_scope scope = thread_scope_system) {
    if (order != memory_order_relaxed) gradverify::simt::unit::fence(scope == thread_scope_block);
}

namespace gradverify_detail {

namespace unit = ::gradverify::simt::unit;

GRADVERIFY_SIMT_ACCESS void before(memory_order order) {
    if (order >= memory_order_release) __threadfence();
}
GRADVERIFY_SIMT_ACCESS void after(memory_order order) {
    if (order != memory_order_relaxed && order != memory_order_release) __threadfence();
}

template <class T, class Next>
GRADVERIFY_SIMT_ACCESS T update(T* address, memory_order order, Next next) {
    before(order);
    const T old = unit::update(address, next);
    after(order);
    return old;
}

/// Integers wrap.
template <class T, class By>
T sum(T value, By by) {
    if constexpr (std::is_integral_v<T>) {
        using Unsigned = std::make_unsigned_t<T>;
        return static_cast<T>(static_cast<Unsigned>(value) + static_cast<Unsigned>(by));
    } else {
        return value + by;
    }
}

/// What atomic and atomic_ref do at `Self::address()`.
template <class Self, class T>
class Operations {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8,
                  "gradverify: cuda::atomic takes trivially copyable types of up to 8 bytes");
    T* at() const { return static_cast<const Self*>(this)->address(); }
    using By = std::conditional_t<std::is_pointer_v<T>, std::ptrdiff_t, T>;

  public:
    using value_type = T;
    static constexpr bool is_always_lock_free = true;
    bool is_lock_free() const { return true; }

    GRADVERIFY_SIMT_ACCESS T load(memory_order order = memory_order_seq_cst) const {
        unit::yield_point();
        T value;
        __atomic_load(at(), &value, __ATOMIC_RELAXED);
        after(order);
        return value;
    }
    GRADVERIFY_SIMT_ACCESS void store(T value, memory_order order = memory_order_seq_cst) const {
        before(order);
        unit::yield_point();
        __atomic_store(at(), &value, __ATOMIC_RELAXED);
    }
    GRADVERIFY_SIMT_ACCESS T exchange(T value, memory_order order = memory_order_seq_cst) const {
        return update(at(), order, [&](T) { return value; });
    }
    GRADVERIFY_SIMT_ACCESS bool compare_exchange_strong(T& expected, T value,
                                                        memory_order order = memory_order_seq_cst,
                                                        memory_order = memory_order_seq_cst) const {
        bool is_equal = false;
        const T wanted = expected;
        const T old = update(at(), order, [&](T old_value) {
            is_equal = std::memcmp(&old_value, &wanted, sizeof(T)) == 0;
            return is_equal ? value : old_value;
        });
        if (!is_equal) expected = old;
        return is_equal;
    }
    GRADVERIFY_SIMT_ACCESS bool compare_exchange_weak(T& expected, T value,
                                                      memory_order order = memory_order_seq_cst,
                                                      memory_order = memory_order_seq_cst) const {
        return compare_exchange_strong(expected, value, order);
    }
#define GRADVERIFY_SIMT_FETCH(NAME, TYPE, NEXT)                                               \
    GRADVERIFY_SIMT_ACCESS T NAME(TYPE by, memory_order order = memory_order_seq_cst) const { \
        return update(at(), order, [&](T old) -> T { return NEXT; });                         \
    }
    GRADVERIFY_SIMT_FETCH(fetch_add, By, sum(old, by))
    GRADVERIFY_SIMT_FETCH(fetch_sub, By, sum(old, static_cast<By>(-by)))
    GRADVERIFY_SIMT_FETCH(fetch_and, By, old& by)
    GRADVERIFY_SIMT_FETCH(fetch_or, By, old | by)
    GRADVERIFY_SIMT_FETCH(fetch_xor, By, old ^ by)
    GRADVERIFY_SIMT_FETCH(fetch_min, By, by < old ? by : old)
    GRADVERIFY_SIMT_FETCH(fetch_max, By, old < by ? by : old)
#undef GRADVERIFY_SIMT_FETCH

    /// Returns once the value is another.
    GRADVERIFY_SIMT_ACCESS void wait(T old, memory_order order = memory_order_seq_cst) const {
        for (T value = load(order); std::memcmp(&value, &old, sizeof(T)) == 0; value = load(order))
            unit::gradverify_simt_yield();
    }
    void notify_one() const {}
    void notify_all() const {}

    GRADVERIFY_SIMT_ACCESS operator T() const { return load(); }
    GRADVERIFY_SIMT_ACCESS T operator++() const { return sum(fetch_add(1), By(1)); }
    GRADVERIFY_SIMT_ACCESS T operator--() const { return sum(fetch_sub(1), static_cast<By>(-1)); }
    GRADVERIFY_SIMT_ACCESS T operator++(int) const { return fetch_add(1); }
    GRADVERIFY_SIMT_ACCESS T operator--(int) const { return fetch_sub(1); }
    GRADVERIFY_SIMT_ACCESS T operator+=(By by) const { return sum(fetch_add(by), by); }
    GRADVERIFY_SIMT_ACCESS T operator-=(By by) const {
        return sum(fetch_sub(by), static_cast<By>(-by));
    }
    GRADVERIFY_SIMT_ACCESS T operator&=(By by) const { return fetch_and(by) & by; }
    GRADVERIFY_SIMT_ACCESS T operator|=(By by) const { return fetch_or(by) | by; }
    GRADVERIFY_SIMT_ACCESS T operator^=(By by) const { return fetch_xor(by) ^ by; }
};

}  // namespace gradverify_detail

template <class T, thread_scope scope = thread_scope_system>
class atomic : public gradverify_detail::Operations<atomic<T, scope>, T> {
  public:
    atomic() = default;
    constexpr atomic(T value) : value_(value) {}
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;
    GRADVERIFY_SIMT_ACCESS T operator=(T value) {
        this->store(value);
        return value;
    }
    T* address() const { return const_cast<T*>(&value_); }

  private:
    T value_;
};

template <class T, thread_scope scope = thread_scope_system>
class atomic_ref : public gradverify_detail::Operations<atomic_ref<T, scope>, T> {
  public:
    explicit atomic_ref(T& value) : value_(&value) {}
    GRADVERIFY_SIMT_ACCESS T operator=(T value) const {
        this->store(value);
        return value;
    }
    T* address() const { return value_; }

  private:
    T* value_;
};

}  // namespace cuda
