// SPDX-License-Identifier: Apache-2.0
// Decides how failing cases lie in a folder, to be run first the next time: a small text file each,
// named by its content, so that folders of two branches can be put together.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/cases/case.hpp"

namespace gradverify {

class Corpus {
  public:
    /// Reads each `*.case` in the folder, of which the last line that is no comment is a case.
    /// A folder that isn't there is empty. **Errors** UsageError where it can't be read.
    /// `why_not`: why a case can't be run, though its kernel is there.
    Corpus(std::string folder, const Registry& registry,
           const std::function<std::optional<std::string>(const Case&)>& why_not = {});

    const std::vector<Case>& cases() const { return cases_; }
    /// Files whose case can't be run any more, each with the reason.
    const std::vector<std::string>& stale() const { return stale_; }

    /// Adds a failing case, unless it is there.
    /// **Errors** EnvironmentError where it can't be written.
    void keep(const Case& found, const std::string& message);
    /// Files that were written.
    std::size_t kept() const { return kept_; }

  private:
    void read(const std::string& path, const Registry& registry,
              const std::function<std::optional<std::string>(const Case&)>& why_not);

    std::string folder_;
    std::vector<Case> cases_;
    std::vector<std::string> stale_;
    std::size_t kept_ = 0;
};

}  // namespace gradverify
