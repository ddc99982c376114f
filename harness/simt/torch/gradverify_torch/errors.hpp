// SPDX-License-Identifier: Apache-2.0
// PyTorch's checks: each throws a c10::Error with the condition, the words of the caller, and the
// place.
#pragma once
#pragma GCC system_header

#include <exception>
#include <sstream>
#include <string>

#include "gradverify_simt/forced.hpp"

namespace c10 {

class Error : public std::exception {
  public:
    explicit Error(std::string what) : what_(std::move(what)) {}
    const char* what() const noexcept override { return what_.c_str(); }
    const char* what_without_backtrace() const noexcept { return what_.c_str(); }

  private:
    std::string what_;
};
struct IndexError : Error {
    using Error::Error;
};
struct ValueError : Error {
    using Error::Error;
};
struct NotImplementedError : Error {
    using Error::Error;
};

template <class... Parts>
std::string str(const Parts&... parts) {
    std::ostringstream out;
    (out << ... << parts);
    return out.str();
}

namespace gradverify_detail {
template <class E = Error, class... Words>
[[noreturn]] void fail(const char* file, int line, const char* condition, const Words&... words) {
    const std::string said = str(words...);
    throw E(str(file, ":", line, ": ", said.empty() ? str("expected ", condition) : said));
}
}  // namespace gradverify_detail

}  // namespace c10

// No `do ... while`: as with PyTorch's, a semicolon may be missing behind a check.
#define GRADVERIFY_TORCH_CHECK(ERROR, CONDITION, ...)                                 \
    if (!(CONDITION)) [[unlikely]] {                                                  \
        ::c10::gradverify_detail::fail<ERROR>(__FILE__, __LINE__,                     \
                                              #CONDITION __VA_OPT__(, ) __VA_ARGS__); \
    }
#define TORCH_CHECK(CONDITION, ...) \
    GRADVERIFY_TORCH_CHECK(::c10::Error, CONDITION __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_INDEX(CONDITION, ...) \
    GRADVERIFY_TORCH_CHECK(::c10::IndexError, CONDITION __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_VALUE(CONDITION, ...) \
    GRADVERIFY_TORCH_CHECK(::c10::ValueError, CONDITION __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_TYPE TORCH_CHECK_VALUE
#define TORCH_CHECK_NOT_IMPLEMENTED(CONDITION, ...) \
    GRADVERIFY_TORCH_CHECK(::c10::NotImplementedError, CONDITION __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_INTERNAL_ASSERT TORCH_CHECK
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY TORCH_CHECK
#define TORCH_CHECK_WITH(ERROR, CONDITION, ...) \
    GRADVERIFY_TORCH_CHECK(::c10::ERROR, CONDITION __VA_OPT__(, ) __VA_ARGS__)
#define STD_TORCH_CHECK TORCH_CHECK
#define TORCH_CHECK_EQ(A, B) TORCH_CHECK((A) == (B), #A " == " #B)
#define TORCH_CHECK_NE(A, B) TORCH_CHECK((A) != (B), #A " != " #B)
#define TORCH_CHECK_LE(A, B) TORCH_CHECK((A) <= (B), #A " <= " #B)
#define TORCH_CHECK_LT(A, B) TORCH_CHECK((A) < (B), #A " < " #B)
#define TORCH_CHECK_GE(A, B) TORCH_CHECK((A) >= (B), #A " >= " #B)
#define TORCH_CHECK_GT(A, B) TORCH_CHECK((A) > (B), #A " > " #B)
#define AT_ASSERT TORCH_CHECK
#define AT_ASSERTM TORCH_CHECK
#define AT_CHECK TORCH_CHECK
#define AT_ERROR(...) ::c10::gradverify_detail::fail(__FILE__, __LINE__, "", __VA_ARGS__)
#define TORCH_WARN(...) ((void)std::fprintf(stderr, "%s\n", ::c10::str(__VA_ARGS__).c_str()))
#define TORCH_WARN_ONCE TORCH_WARN

#define C10_CUDA_CHECK(CALL)                                                                      \
    do {                                                                                          \
        const cudaError_t gradverify_error = CALL;                                                \
        if (gradverify_error != cudaSuccess) {                                                    \
            (void)cudaGetLastError();                                                             \
            ::c10::gradverify_detail::fail(__FILE__, __LINE__, "",                                \
                                           "CUDA error: ", cudaGetErrorString(gradverify_error)); \
        }                                                                                         \
    } while (false)
#define C10_CUDA_CHECK_WARN(CALL) ((void)(CALL))
#define AT_CUDA_CHECK C10_CUDA_CHECK
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
#define TORCH_CUDABLAS_CHECK(CALL) TORCH_CHECK((CALL) == CUBLAS_STATUS_SUCCESS, #CALL)

#define C10_LIKELY(CONDITION) (__builtin_expect(static_cast<bool>(CONDITION), 1))
#define C10_UNLIKELY(CONDITION) (__builtin_expect(static_cast<bool>(CONDITION), 0))
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#define C10_ALWAYS_INLINE inline __attribute__((always_inline))
#define C10_WARP_SIZE 32
#define C10_LAUNCH_BOUNDS_1(...)
#define C10_LAUNCH_BOUNDS_2(...)
#define C10_UNUSED [[maybe_unused]]
#define TORCH_API
#define C10_EXPORT
