// SPDX-License-Identifier: Apache-2.0
// The run-time switch of the mutants, included only by the sources that find_mutants.py writes. The
// mutant of the number in GRADVERIFY_MUTANT is on. If GRADVERIFY_MUTANTS_REACHED names a file, a
// byte for each mutant, all processes mark in it those whose code runs.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>

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

}  // namespace gradverify::mutants

/// In front of a statement that the mutant drops; also between `if` and `else`.
#define GRADVERIFY_MUTANT_DROPS(mutant)      \
    if (::gradverify::mutants::on(mutant)) { \
    } else
