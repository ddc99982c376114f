// SPDX-License-Identifier: Apache-2.0
// The source line of an instruction of this process, by the debug information in the executable and
// its libraries. Not for a signal handler: it allocates.
#pragma once

#include <string>

namespace gradverify::simt {

/// The path relative to the current directory if the file lies there, else the path as it is.
std::string short_path(const std::string& file);

/// `kernels/conv/forward.cu:33`: the `short_path` of what the compiler recorded; "" when unknown
/// (no debug information, or no libdw on this machine).
/// Of inlined lines it is the innermost one outside of the CPU device's and the system's headers,
/// such as the line that calls an atomic. For a return address ask for the byte before: the call
/// may be the last instruction of its line. Remembers its answers; may be called from any OS
/// thread.
std::string source_of(const void* pc);

}  // namespace gradverify::simt
