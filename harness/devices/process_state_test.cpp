// SPDX-License-Identifier: Apache-2.0
#include "harness/devices/process_state.hpp"

#include <doctest/doctest.h>

using namespace gradverify;

TEST_CASE("rounding, locale and signal mask are what they were") {
    const std::string locale = std::setlocale(LC_ALL, nullptr);
    const int rounding = std::fegetround();
    {
        const ScopedProcessState state;
        std::fesetround(FE_UPWARD);
        CHECK(std::fegetround() != rounding);
        REQUIRE(std::setlocale(LC_ALL, "C.UTF-8"));
        CHECK(std::setlocale(LC_ALL, nullptr) != locale);
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, nullptr);
    }
    CHECK(std::fegetround() == rounding);
    CHECK(std::setlocale(LC_ALL, nullptr) == locale);
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, nullptr, &now);
    CHECK(sigismember(&now, SIGTERM) == 0);
}

#ifdef __SSE2__
#include <xmmintrin.h>

TEST_CASE("subnormal numbers are flushed to zero no longer than the launcher wants it") {
    volatile float tiny = 1e-38f;
    {
        const ScopedProcessState state;
        _mm_setcsr(_mm_getcsr() | 0x8040u);
        CHECK(tiny * 0.5f == 0.0f);
    }
    CHECK(tiny * 0.5f > 0.0f);
}
#endif
