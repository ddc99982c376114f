// SPDX-License-Identifier: Apache-2.0
// The source line of an instruction of this process, by the debug information in the executable and
// its libraries. Not for a signal handler: it allocates.
#pragma once

#include <string>
#include <string_view>

namespace gradverify::simt {

/// The path, relative to the current directory if the file lies there, a colon and the line.
std::string short_place(const std::string& file, int line);

/// Whether a file is neither of the CPU device nor of the system.
bool is_of_users(std::string_view file);

/// The `short_place` of an instruction of the user's; "" without debug information or libdw. An
/// inlined function of the CPU device's or the system's, such as an atomic, has the line that calls
/// it. For
/// a return address ask for the byte before, as the call may end its line. From any OS thread.
std::string source_of(const void* pc);

}  // namespace gradverify::simt
