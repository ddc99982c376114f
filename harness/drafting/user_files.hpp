// SPDX-License-Identifier: Apache-2.0
// Decides which words of a command line name files to build, as in `gradverify check their.cu
// glue.cu`, and which are the command's own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace gradverify {

/// Files of kernels and operators, and how they are built.
struct UserFiles {
    std::vector<std::string> files;  ///< .cu, or C++
    std::vector<std::string> apart;  ///< those of them whose code nobody vouches for
    std::vector<std::string> includes, definitions, libraries;
    std::string device;  ///< that they are built for alone: cpu, cuda, or nothing for all

    /// As words of a command line to paste.
    std::string print() const;
};

/// Whether its ending is that of a file to compile.
bool is_source(const std::filesystem::path& file);
/// Files of this folder and those below it that may have functions, without hidden ones, in order.
std::vector<std::string> source_files(const std::string& folder);

/// The words of a command, taken apart. `files` is empty for a command that builds nothing.
struct CommandWords {
    /// **Errors** UsageError for a file that does not exist.
    explicit CommandWords(std::vector<std::string> all);

    UserFiles files;
    std::vector<std::string> rest;  ///< without files and their options
};

}  // namespace gradverify
