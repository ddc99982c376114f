// SPDX-License-Identifier: Apache-2.0
// A folder for files of a test, which goes with it.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

#include "harness/base/errors.hpp"
#include "harness/base/files.hpp"

namespace gradverify::testing {

class TemporaryFolder {
  public:
    TemporaryFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "gradverify-XXXXXX").string();
        if (!mkdtemp(name.data())) throw EnvironmentError("there is no folder for temporary files");
        path_ = name;
    }
    ~TemporaryFolder() { std::filesystem::remove_all(path_); }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    /// Writes a file, and gives its path.
    std::string write(const std::string& name, const std::string& bytes) const {
        write_file((path_ / name).string(), bytes);
        return (path_ / name).string();
    }

  private:
    std::filesystem::path path_;
};

}  // namespace gradverify::testing
