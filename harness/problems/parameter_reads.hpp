// SPDX-License-Identifier: Apache-2.0
// Which parameters a function of a problem has read; Problem's accessors report them.
#pragma once

#include <functional>
#include <set>
#include <string>

namespace gradverify {

/// Notes the names of the parameters that this thread reads until the end of the scope.
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
