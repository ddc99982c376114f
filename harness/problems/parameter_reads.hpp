// SPDX-License-Identifier: Apache-2.0
// Decides which parameters a function of a problem has looked at. Problem's accessors report here.
#pragma once

#include <functional>
#include <set>
#include <string>

namespace gradverify {

/// Notes which parameters this thread reads from problems, by name, until the end of the scope.
class ParameterReads {
  public:
    ParameterReads();
    ~ParameterReads();
    ParameterReads(const ParameterReads&) = delete;
    ParameterReads& operator=(const ParameterReads&) = delete;

    const std::set<std::string, std::less<>>& names() const { return names_; }

  private:
    std::set<std::string, std::less<>> names_;
    std::set<std::string, std::less<>>* before_;
};

}  // namespace gradverify
