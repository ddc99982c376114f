// SPDX-License-Identifier: Apache-2.0
// Where the stack of this OS thread lies.
#pragma once

#include <cstdint>

namespace gradverify::simt {

struct AddressRange {
    std::uintptr_t begin = 0, end = 0;
    bool meets(std::uintptr_t other_begin, std::uintptr_t other_end) const {
        return begin < other_end && other_begin < end;
    }
};

inline std::uintptr_t number(const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer);
}

/// Empty where the system does not say.
AddressRange stack_of_os_thread();

}  // namespace gradverify::simt
