// SPDX-License-Identifier: Apache-2.0
// What rewritten code calls. The compiler inlines the kernel into the loop over threads.
#pragma once
#pragma GCC system_header

#include <cstring>
#include <new>
#include <type_traits>

#include "gradverify_simt/state.hpp"

namespace gradverify::simt::unit {

/// Moves on to the next thread of the block; false when this fiber has none left to start.
GRADVERIFY_SIMT_UNREPORTED inline bool next_thread() {
    if (state.next < state.fast_end) [[likely]] {
        state.thread = *state.next++;
        thread_has_changed();
        return true;
    }
    return gradverify_simt_thread_returned();
}

template <class Body>
void run_threads(const void* body) {
    const Body& thread = *static_cast<const Body*>(body);
    do {
        thread();
    } while (next_thread());
}

/// A kernel's `__cluster_dims__`, before it does anything: its launch begins again in these
/// clusters where it has none.
GRADVERIFY_SIMT_UNREPORTED inline void needs_clusters(dim3 cluster) {
    const dim3& has = state.cluster_dim;
    if (has.x != cluster.x || has.y != cluster.y || has.z != cluster.z) [[unlikely]]
        gradverify_simt_begin_in_clusters(cluster);
}

/// A kernel gets no address of host memory: to use one is a fault at the access.
template <class T>
inline void hide_host_memory(T& value) {
    constexpr bool is_pointer =
        std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>;
    constexpr bool may_hold = (std::is_class_v<T> || std::is_union_v<T>) &&
                              std::is_trivially_copyable_v<T> && alignof(T) >= alignof(void*);
    if constexpr (is_pointer || may_hold)
        gradverify_simt_hide_host_memory(&value, sizeof value, !is_pointer);
}

/// The first statement of a function that is the host's alone.
constexpr void of_host(const char* error, const char* file = __builtin_FILE(),
                       int line = __builtin_LINE()) {
    constexpr int invalid_device_function = 98;
    if (on_device_thread() && !state.converts_on_host) [[unlikely]]
        gradverify_simt_trap(invalid_device_function, error, file, line);
}

/// A launch's argument while its threads run: a copy, or a reference to what cannot be copied (a
/// class that owns its memory and converts to a pointer).
template <class T>
struct Lent {
    T& value;
    ~Lent() {}
};
/// What is captured where a part of the call is evaluated by each thread.
struct InCall {
    ~InCall() {}
};
template <class T>
inline auto argument(T&& value) {
    using Copy = std::decay_t<T>;
    if constexpr (!std::is_constructible_v<Copy, T&&>) {
        return Lent<std::remove_reference_t<T>>{value};
    } else if constexpr (std::is_trivially_copyable_v<Copy> && std::is_move_constructible_v<Copy>) {
        Copy copy(static_cast<T&&>(value));
        hide_host_memory(copy);
        return copy;
    } else {
        return Copy(static_cast<T&&>(value));
    }
}
template <class T>
__attribute__((always_inline)) inline const T& give(const T& value) {
    return value;
}
template <class T>
__attribute__((always_inline)) inline T& give(const Lent<T>& lent) {
    return lent.value;
}

template <class Body>
void launch(const char* kernel, const LaunchConfig& config, const Body& body) {
    state.converts_on_host =
        !(std::is_trivially_copy_constructible_v<Body> && std::is_trivially_destructible_v<Body>);
    gradverify_simt_launch(config, kernel, &run_threads<Body>, &body, sizeof body, is_checked);
    state.converts_on_host = false;
}

/// Launches may be given the address of a device's variable.
template <class T>
bool lent_variable(T& variable) {
    gradverify_simt_lend(
        const_cast<void*>(static_cast<const volatile void*>(__builtin_addressof(variable))),
        sizeof variable);
    return true;
}

// The heap of device code, which later launches may be given.
struct DeviceHeap {};
inline void* lent_if_devices(void* memory, std::size_t bytes) {
    if (on_device_thread()) gradverify_simt_lend(memory, bytes);
    return memory;
}
inline void* device_malloc(std::size_t bytes) {
    return lent_if_devices(__builtin_malloc(bytes), bytes);
}
inline void device_free(void* memory) {
    lent_if_devices(memory, 0);
    __builtin_free(memory);
}

/// What a function returns for the address of its local variable: that of a copy, which lives on.
template <class T>
constexpr T* left_local(T* local) {
    if constexpr (std::is_trivially_copyable_v<T>) {
        if (!on_device_thread()) return local;
        void* const copy = gradverify_simt_place_left_local(sizeof(T));
        return static_cast<T*>(std::memcpy(copy, local, sizeof(T)));
    }
    return local;
}

/// A static shared variable. `Tag` is local to the declaration and carries the declared alignment.
template <class T, class Tag>
GRADVERIFY_SIMT_UNREPORTED inline T& shared() {
    static GRADVERIFY_SIMT_CONSTINIT thread_local SharedSlot slot;
    if (slot.launch != state.shared_launch) [[unlikely]] {
        constexpr std::size_t alignment = alignof(T) > alignof(Tag) ? alignof(T) : alignof(Tag);
        gradverify_simt_place_shared(slot, sizeof(T), alignment);
        if constexpr (is_checked) {
            gradverify_simt_shared_is_placed(
                slot.address, sizeof(T), sizeof(std::remove_all_extents_t<T>), __PRETTY_FUNCTION__);
        }
    }
    return *static_cast<T*>(slot.address);
}

template <class T>
inline T& dynamic_shared() {
    return *static_cast<T*>(state.dynamic_shared);
}

/// Stands for `extern __shared__ T x[];` at namespace scope, where no reference can be bound.
template <class Array>
struct DynamicShared {
    using T = std::remove_extent_t<Array>;
    operator T*() const { return static_cast<T*>(state.dynamic_shared); }
    template <class U>
    explicit operator U*() const {
        return static_cast<U*>(state.dynamic_shared);
    }
};

[[noreturn]] inline void inline_ptx(const char* text, const char* file = __builtin_FILE(),
                                    int line = __builtin_LINE()) {
    gradverify_simt_trap(0, text, file, line);
}

}  // namespace gradverify::simt::unit

// `new` in device code.
inline void* operator new(std::size_t bytes, gradverify::simt::unit::DeviceHeap) {
    return gradverify::simt::unit::lent_if_devices(::operator new(bytes), bytes);
}
inline void* operator new[](std::size_t bytes, gradverify::simt::unit::DeviceHeap) {
    return gradverify::simt::unit::lent_if_devices(::operator new[](bytes), bytes);
}
inline void* operator new(std::size_t bytes, std::align_val_t alignment,
                          gradverify::simt::unit::DeviceHeap) {
    return gradverify::simt::unit::lent_if_devices(::operator new(bytes, alignment), bytes);
}
inline void* operator new[](std::size_t bytes, std::align_val_t alignment,
                            gradverify::simt::unit::DeviceHeap) {
    return gradverify::simt::unit::lent_if_devices(::operator new[](bytes, alignment), bytes);
}
