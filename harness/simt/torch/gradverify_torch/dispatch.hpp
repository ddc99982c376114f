// SPDX-License-Identifier: Apache-2.0
// AT_DISPATCH_*: a call of a lambda with `scalar_t` (or `index_t`) as the type of a tensor's
// elements.
#pragma once
#pragma GCC system_header

#include "gradverify_torch/options.hpp"

#define AT_DISPATCH_SWITCH(TYPE, NAME, ...)                                                      \
    [&] {                                                                                        \
        const ::c10::ScalarType gradverify_type = TYPE;                                          \
        switch (gradverify_type) {                                                               \
            __VA_ARGS__                                                                          \
            default:                                                                             \
                AT_ERROR('"', NAME, "\" not implemented for '", toString(gradverify_type), "'"); \
        }                                                                                        \
    }()
#define AT_PRIVATE_CASE_TYPE_USING_HINT(TYPE, NAME, ...)      \
    case TYPE: {                                              \
        using NAME = ::c10::impl::ScalarTypeToCPPTypeT<TYPE>; \
        return __VA_ARGS__();                                 \
    }
#define AT_DISPATCH_CASE(TYPE, ...) AT_PRIVATE_CASE_TYPE_USING_HINT(TYPE, scalar_t, __VA_ARGS__)

#define AT_DISPATCH_CASE_FLOATING_TYPES(...)                 \
    AT_DISPATCH_CASE(::c10::ScalarType::Double, __VA_ARGS__) \
    AT_DISPATCH_CASE(::c10::ScalarType::Float, __VA_ARGS__)
#define AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES(...)       \
    AT_DISPATCH_CASE(::c10::ScalarType::Half, __VA_ARGS__) \
    AT_DISPATCH_CASE(::c10::ScalarType::BFloat16, __VA_ARGS__)
#define AT_DISPATCH_CASE_COMPLEX_TYPES(...)                         \
    AT_DISPATCH_CASE(::c10::ScalarType::ComplexDouble, __VA_ARGS__) \
    AT_DISPATCH_CASE(::c10::ScalarType::ComplexFloat, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...)               \
    AT_DISPATCH_CASE(::c10::ScalarType::Byte, __VA_ARGS__) \
    AT_DISPATCH_CASE(::c10::ScalarType::Char, __VA_ARGS__) \
    AT_DISPATCH_CASE(::c10::ScalarType::Int, __VA_ARGS__)  \
    AT_DISPATCH_CASE(::c10::ScalarType::Long, __VA_ARGS__) \
    AT_DISPATCH_CASE(::c10::ScalarType::Short, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(...) \
    AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)         \
    AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...)          \
    AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) \
    AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(...) \
    AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__)         \
    AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__)

#define GRADVERIFY_TORCH_OF(SET, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_##SET(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES(...) GRADVERIFY_TORCH_OF(FLOATING_TYPES, __VA_ARGS__)
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(...) \
    GRADVERIFY_TORCH_OF(REDUCED_FLOATING_TYPES, __VA_ARGS__)
#define AT_DISPATCH_COMPLEX_TYPES(...) GRADVERIFY_TORCH_OF(COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_INTEGRAL_TYPES(...) GRADVERIFY_TORCH_OF(INTEGRAL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES(...) GRADVERIFY_TORCH_OF(ALL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(...) \
    GRADVERIFY_TORCH_OF(FLOATING_AND_COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX(...) \
    GRADVERIFY_TORCH_OF(ALL_TYPES_AND_COMPLEX, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, ...) \
    AT_DISPATCH_FLOATING_TYPES_AND(::c10::ScalarType::Half, TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_INDEX_TYPES(TYPE, NAME, ...)                                      \
    AT_DISPATCH_SWITCH(                                                               \
        TYPE, NAME,                                                                   \
        AT_PRIVATE_CASE_TYPE_USING_HINT(::c10::ScalarType::Int, index_t, __VA_ARGS__) \
            AT_PRIVATE_CASE_TYPE_USING_HINT(::c10::ScalarType::Long, index_t, __VA_ARGS__))

// With one, two or three types more.
#define GRADVERIFY_TORCH_AND(SET, A, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME,                    \
                       AT_DISPATCH_CASE_##SET(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__))
#define GRADVERIFY_TORCH_AND2(SET, A, B, TYPE, NAME, ...)                                   \
    AT_DISPATCH_SWITCH(TYPE, NAME,                                                          \
                       AT_DISPATCH_CASE_##SET(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__) \
                           AT_DISPATCH_CASE(B, __VA_ARGS__))
#define GRADVERIFY_TORCH_AND3(SET, A, B, C, TYPE, NAME, ...)                                \
    AT_DISPATCH_SWITCH(TYPE, NAME,                                                          \
                       AT_DISPATCH_CASE_##SET(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__) \
                           AT_DISPATCH_CASE(B, __VA_ARGS__) AT_DISPATCH_CASE(C, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND(...) GRADVERIFY_TORCH_AND(FLOATING_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND2(...) GRADVERIFY_TORCH_AND2(FLOATING_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND3(...) GRADVERIFY_TORCH_AND3(FLOATING_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND(...) \
    GRADVERIFY_TORCH_AND(FLOATING_AND_COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND2(...) \
    GRADVERIFY_TORCH_AND2(FLOATING_AND_COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND(...) GRADVERIFY_TORCH_AND(ALL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND2(...) GRADVERIFY_TORCH_AND2(ALL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND3(...) GRADVERIFY_TORCH_AND3(ALL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND(...) \
    GRADVERIFY_TORCH_AND(ALL_TYPES_AND_COMPLEX, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2(...) \
    GRADVERIFY_TORCH_AND2(ALL_TYPES_AND_COMPLEX, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3(...) \
    GRADVERIFY_TORCH_AND3(ALL_TYPES_AND_COMPLEX, __VA_ARGS__)
