// SPDX-License-Identifier: Apache-2.0
// The run-time switch of the mutants: find_mutants.py writes it into the copies of our sources that
// ./run mutants builds. At most one mutant of a process is on, that of the number in
// GRADVERIFY_MUTANT. If GRADVERIFY_MUTANTS_REACHED names a file, a byte for each mutant, those
// whose code runs are marked in it, by all processes together. No other source includes this.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <initializer_list>

namespace gradverify::mutants {

struct Switch {
    int active = -1;  ///< -1: the environment has not been read; 0: none
    unsigned char* reached = nullptr;
};
inline constinit Switch the_switch;

inline void read_environment() {
    const char* const number = std::getenv("GRADVERIFY_MUTANT");
    the_switch.active = number != nullptr ? std::atoi(number) : 0;
    const char* const path = std::getenv("GRADVERIFY_MUTANTS_REACHED");
    if (path == nullptr) return;
    const int file = open(path, O_RDWR | O_CLOEXEC);
    struct stat status{};
    if (file < 0 || fstat(file, &status) != 0) std::abort();
    void* const bytes = mmap(nullptr, static_cast<std::size_t>(status.st_size),
                             PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (bytes == MAP_FAILED) std::abort();
    the_switch.reached = static_cast<unsigned char*>(bytes);
}

/// Whether this mutant is on. Not constexpr, so that no constant is folded without asking it.
inline bool on(int mutant) {
    if (the_switch.active < 0) read_environment();
    if (the_switch.reached != nullptr) the_switch.reached[mutant] = 1;
    return the_switch.active == mutant;
}

// Operators, by what the first of their mutants makes of them; where there is a second mutant, it
// has the next number.
#define GRADVERIFY_MUTANT_COMPARISON(name, is, becomes, opposite)                 \
    template <class A, class B>                                                   \
    bool name(int mutant, const A& a, const B& b) {                               \
        return on(mutant) ? a becomes b : on(mutant + 1) ? a opposite b : a is b; \
    }
GRADVERIFY_MUTANT_COMPARISON(less, <, <=, >=)
GRADVERIFY_MUTANT_COMPARISON(less_equal, <=, <, >)
GRADVERIFY_MUTANT_COMPARISON(greater, >, >=, <=)
GRADVERIFY_MUTANT_COMPARISON(greater_equal, >=, >, <)
#undef GRADVERIFY_MUTANT_COMPARISON

template <class A, class B>
bool equal(int mutant, const A& a, const B& b) {
    return on(mutant) ? a != b : a == b;
}
template <class A, class B>
bool not_equal(int mutant, const A& a, const B& b) {
    return on(mutant) ? a == b : a != b;
}

/// `a + b`; mutants `a - b`, `a`.
template <class A, class B>
auto plus(int mutant, A a, B b) {
    using Result = decltype(a + b);
    return on(mutant) ? Result(a - b) : on(mutant + 1) ? Result(a) : Result(a + b);
}
/// `a - b`; mutants `a + b`, `a`.
template <class A, class B>
auto minus(int mutant, A a, B b) {
    using Result = decltype(a - b);
    return on(mutant) ? Result(a + b) : on(mutant + 1) ? Result(a) : Result(a - b);
}

#define GRADVERIFY_MUTANT_ARITHMETIC(name, is, becomes)           \
    template <class A, class B>                                   \
    auto name(int mutant, A a, B b) {                             \
        using Result = decltype(a is b);                          \
        return on(mutant) ? Result(a becomes b) : Result(a is b); \
    }
GRADVERIFY_MUTANT_ARITHMETIC(times, *, +)
GRADVERIFY_MUTANT_ARITHMETIC(divided_by, /, *)
GRADVERIFY_MUTANT_ARITHMETIC(modulo, %, /)
GRADVERIFY_MUTANT_ARITHMETIC(shifted_left, <<, >>)
GRADVERIFY_MUTANT_ARITHMETIC(shifted_right, >>, <<)
GRADVERIFY_MUTANT_ARITHMETIC(bit_and, &, |)
GRADVERIFY_MUTANT_ARITHMETIC(bit_or, |, &)
GRADVERIFY_MUTANT_ARITHMETIC(bit_xor, ^, &)
#undef GRADVERIFY_MUTANT_ARITHMETIC

/// `x`; mutant `-x`, which for a truth value is -1.
template <class T>
auto as_is(int mutant, T x) {
    return on(mutant) ? -x : +x;
}
/// `-x`; mutant `x`.
template <class T>
auto negative(int mutant, T x) {
    return on(mutant) ? +x : -x;
}
/// `x`; mutant `x + 1`.
template <class T>
T returned(int mutant, T x) {
    return on(mutant) ? T(x + 1) : x;
}
/// `|x|`; mutant `x`.
template <class T>
T abs(int mutant, T x) {
    return on(mutant) ? x : T(std::abs(x));
}
/// The mutants are `a` and `b`.
template <class T>
T max(int mutant, const T& a, const T& b) {
    return on(mutant) ? a : on(mutant + 1) ? b : std::max(a, b);
}
template <class T>
T min(int mutant, const T& a, const T& b) {
    return on(mutant) ? a : on(mutant + 1) ? b : std::min(a, b);
}
/// The mutants drop the lower and the upper end.
template <class T>
T clamp(int mutant, const T& x, const T& low, const T& high) {
    return on(mutant)       ? std::min(x, high)
           : on(mutant + 1) ? std::max(x, low)
                            : std::clamp(x, low, high);
}

}  // namespace gradverify::mutants

/// In front of a statement that the mutant drops; also between `if` and `else`.
#define GRADVERIFY_MUTANT_DROPS(mutant)      \
    if (::gradverify::mutants::on(mutant)) { \
    } else
