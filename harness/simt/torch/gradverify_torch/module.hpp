// SPDX-License-Identifier: Apache-2.0
// What tells an extension to Python: it is compiled, so that its functions are declared, and
// dropped.
#pragma once
#pragma GCC system_header

namespace pybind11 {
struct gil_scoped_release {};
struct gil_scoped_acquire {};
template <class...>
struct call_guard {};
struct arg {
    explicit constexpr arg(const char*) {}
    template <class T>
    arg& operator=(const T&) {
        return *this;
    }
};
struct none {};
struct module_ {
    template <class... What>
    module_& def(const What&...) {
        return *this;
    }
    template <class... What>
    void attr(const What&...) {}
    const char*& doc() {
        static const char* text = "";
        return text;
    }
};
using module = module_;
namespace literals {
constexpr arg operator""_a(const char* name, decltype(sizeof 0)) { return arg(name); }
}  // namespace literals
}  // namespace pybind11
namespace py = pybind11;

namespace torch {
struct Library {
    template <class... What>
    Library& def(const What&...) {
        return *this;
    }
    template <class... What>
    Library& impl(const What&...) {
        return *this;
    }
};
}  // namespace torch

#ifndef TORCH_EXTENSION_NAME
#define TORCH_EXTENSION_NAME extension
#endif
#define TORCH_VERSION_MAJOR 2
#define TORCH_VERSION_MINOR 8

#define GRADVERIFY_TORCH_JOIN_2(A, B) A##B
#define GRADVERIFY_TORCH_JOIN(A, B) GRADVERIFY_TORCH_JOIN_2(A, B)
#define GRADVERIFY_TORCH_MODULE(TYPE, VARIABLE)         \
    [[maybe_unused]] static void GRADVERIFY_TORCH_JOIN( \
        gradverify_to_python_, __COUNTER__)([[maybe_unused]] TYPE & VARIABLE)
#define PYBIND11_MODULE(NAME, VARIABLE, ...) GRADVERIFY_TORCH_MODULE(::pybind11::module_, VARIABLE)
#define TORCH_LIBRARY(NAME, VARIABLE) GRADVERIFY_TORCH_MODULE(::torch::Library, VARIABLE)
#define TORCH_LIBRARY_FRAGMENT(NAME, VARIABLE) GRADVERIFY_TORCH_MODULE(::torch::Library, VARIABLE)
#define TORCH_LIBRARY_IMPL(NAME, KEY, VARIABLE) GRADVERIFY_TORCH_MODULE(::torch::Library, VARIABLE)
#define TORCH_FN(FUNCTION) FUNCTION
