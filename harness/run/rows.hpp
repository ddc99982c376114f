// SPDX-License-Identifier: Apache-2.0
// Decides which rows a run has.
#pragma once

#include <string>
#include <vector>

#include "harness/cases/suite.hpp"

namespace gradverify {

/// The kernels and properties that the globs select, on these devices. An empty list selects all.
std::vector<Row> select_rows(const Suite& suite, const Registry& registry,
                             const std::vector<std::string>& kernel_globs,
                             const std::string& property_glob,
                             const std::vector<std::string>& devices);

}  // namespace gradverify
