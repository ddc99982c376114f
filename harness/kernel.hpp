// SPDX-License-Identifier: Apache-2.0
// Kernel files include this: the registration macro, and the words that declarations use.
//
//   static void launch(const gradverify::conv::GradBias& call) { ...<<<...>>>(...); }
//
//   GRADVERIFY_KERNEL(gradverify::conv::GradBias, "naive", launch)
//       .where("stride", gradverify::equals(1));
//
// Registration touches no device. Every kernel file pays for this header several times, so it has
// few includes and no code that could stand elsewhere.
#pragma once

// This comes first, so that the compiler says it first.
static_assert(__cplusplus >= 202002L,
              "gradverify: kernel files need C++20; pass -std=c++20 to nvcc (CMake 3.25 drops it "
              "silently: use gradverify_add_kernels)");

#include <concepts>
#include <type_traits>

#include "harness/registry/kernel_declaration.hpp"
#include "harness/registry/not_supported.hpp"
#include "harness/registry/pass_call.hpp"

namespace gradverify::detail {

/// A pass struct names its pass and can be made from a PassCall.
template <class Pass>
concept PassStruct = requires {
    { Pass::operator_name } -> std::convertible_to<const char*>;
    { Pass::pass_name } -> std::convertible_to<const char*>;
} && std::constructible_from<Pass, const PassCall&>;

/// Lives while a launcher runs; harness/torch.hpp has one of its own.
template <class Pass>
struct CallScope {
    explicit CallScope(const Launch&) {}
};

/// Where a kernel was registered, under which names, and how it is called.
struct Registration {
    const char *operator_name, *pass_name, *variant, *device, *file;
    int line;
    const char* unit_flags;
    void (*thunk)(const PassCall&);
};

/// Enters a kernel into the registry of this process.
KernelDeclaration& add_kernel(const Registration& registration);

template <class Pass, auto launcher>
KernelDeclaration& register_kernel(const char* variant, const char* device, const char* file,
                                   int line, const char* unit_flags) {
    static_assert(PassStruct<Pass>,
                  "gradverify: the first argument of GRADVERIFY_KERNEL must be a pass of an "
                  "operator, such as gradverify::conv::GradWeight");
    if constexpr (PassStruct<Pass>) {
        constexpr bool takes_pass = std::is_invocable_r_v<void, decltype(launcher), const Pass&>;
        static_assert(takes_pass,
                      "gradverify: wrong launcher signature; the third argument of "
                      "GRADVERIFY_KERNEL must be a function `void launch(const PASS& call)`, "
                      "where PASS is the first argument");
        if constexpr (takes_pass) {
            return add_kernel({Pass::operator_name, Pass::pass_name, variant, device, file, line,
                               unit_flags, [](const PassCall& call) {
                                   [[maybe_unused]] const CallScope<Pass> scope(call.launch);
                                   launcher(Pass(call));
                               }});
        }
    }
}
/// The same for the name of a template, or of overloads, which the pass decides. Where the compiler
/// can take both functions, it takes the one above, whose `line` fits better.
template <class Pass, void (*launcher)(const Pass&)>
KernelDeclaration& register_kernel(const char* variant, const char* device, const char* file,
                                   long line, const char* unit_flags) {
    return register_kernel<Pass, launcher>(variant, device, file, static_cast<int>(line),
                                           unit_flags);
}

}  // namespace gradverify::detail

// The build tells a unit which device it is compiled for, and which file says with what; see
// gradverify_add_kernels.
#ifndef GRADVERIFY_UNIT_DEVICE
#define GRADVERIFY_UNIT_DEVICE "cpu"
#endif
#ifndef GRADVERIFY_UNIT_FLAGS
#define GRADVERIFY_UNIT_FLAGS ""
#endif

/// Registers a kernel: a pass of an operator, the variant's name, and the launcher, which may be a
/// template, or an instance such as `launch<float, 16>`. The setters of KernelDeclaration follow.
#define GRADVERIFY_KERNEL(PASS, VARIANT, ...)                                        \
    [[maybe_unused]] static ::gradverify::KernelDeclaration& GRADVERIFY_DETAIL_JOIN( \
        gradverify_kernel_, __COUNTER__) =                                           \
        ::gradverify::detail::register_kernel<PASS, __VA_ARGS__>(                    \
            VARIANT, GRADVERIFY_UNIT_DEVICE, __FILE__, __LINE__, GRADVERIFY_UNIT_FLAGS)
