// SPDX-License-Identifier: Apache-2.0
// Which memory is the host's alone: its stack, its variables, its heap. A launch's pointers to it
// become others, with one bit flipped, where nothing is mapped: so a kernel may be given such a
// pointer, but a use of it is a fault, and costs an access nothing.
#pragma once

#include <cstdint>
#include <string>

namespace gradverify::simt {

/// Whether reading the page would end the process.
bool is_unreadable(std::uintptr_t page_begin);

/// Whether `lend_to_kernels` was given any of these bytes.
bool is_lent(std::uintptr_t begin, std::uintptr_t end);

/// `host memory (a host pointer to the stack)` for an address that a kernel was given in place of
/// one of host memory; "" for others.
std::string host_memory_text(std::uintptr_t address);

}  // namespace gradverify::simt
