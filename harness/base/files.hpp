// SPDX-License-Identifier: Apache-2.0
// Files that are written as a whole.
#pragma once

#include <fstream>
#include <string>

#include "harness/base/errors.hpp"

namespace gradverify {

/// **Errors** EnvironmentError when the file can't be written.
inline void write_file(const std::string& path, const std::string& text) {
    std::ofstream file(path);
    file << text << std::flush;
    if (!file) throw EnvironmentError("can't write " + path);
}

}  // namespace gradverify
