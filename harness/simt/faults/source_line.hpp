// SPDX-License-Identifier: Apache-2.0
// Says which source line an instruction of this process was compiled from, by the debug information
// in the executable and its libraries. Knows nothing of launches. Not for a signal handler: it
// allocates.
#pragma once

#include <string>

namespace gradverify::simt {

/// The file relative to the current directory if it lies there, else as it is.
std::string short_path(const std::string& file);

/// `kernels/conv/forward.cu:33`: the `short_path` of what the compiler recorded; "" when unknown
/// (no debug information, or no libdw on this machine).
///
/// Where lines were inlined, it is the innermost one outside of the CPU device's own headers and
/// the system's, so that an atomic is charged to the line that calls it. For a return address ask
/// for the byte before: the call may be the last instruction of its line. Remembered for each
/// address; from any OS thread.
std::string source_of(const void* pc);

}  // namespace gradverify::simt
