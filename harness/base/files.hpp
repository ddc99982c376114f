// SPDX-License-Identifier: Apache-2.0
// Files that are read or written as a whole.
#pragma once

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>

#include "harness/base/errors.hpp"

namespace gradverify {

/// Of a write that failed just now.
[[noreturn]] inline void refuse_write(const std::string& path) {
    const int why = errno;
    throw EnvironmentError("can't write " + path +
                           (why == 0 ? "" : ": " + std::generic_category().message(why)));
}

/// Nothing for what can't be read, or is a folder.
inline std::optional<std::string> read_file(const std::string& path) {
    std::ifstream file(path);
    if (!file || std::filesystem::is_directory(path)) return std::nullopt;
    std::ostringstream text;
    text << file.rdbuf();
    return std::move(text).str();
}

/// **Errors** EnvironmentError when the file can't be written.
inline void write_file(const std::string& path, const std::string& text) {
    errno = 0;
    std::ofstream file(path);
    file << text << std::flush;
    if (!file) refuse_write(path);
}

}  // namespace gradverify
