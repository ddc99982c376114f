// SPDX-License-Identifier: Apache-2.0
// Decides what a process may do that runs code which nobody vouches for. docs/untrusted.md says
// what each measure forbids, and what it needs.
#pragma once

#include <string>
#include <vector>

namespace gradverify {

/// Becomes this program, with these descriptors as 3 and 4 beside its standard ones, and with what
/// it needs of this environment: without privileges, as a user of no files where this one is root,
/// where the kernel can that with no file to write but devices', and with no system calls that
/// reach other processes or the network. Returns, with errno, only where the program can't be run.
void become_confined(const std::string& program, std::vector<std::string> words, int third,
                     int fourth, bool uses_gpu);

/// From now on this process and its threads become no other program.
void forbid_exec();

}  // namespace gradverify
