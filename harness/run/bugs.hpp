// SPDX-License-Identifier: Apache-2.0
// Decides which failures of rows are one bug, and so share a report.
#pragma once

#include <vector>

#include "harness/run/result.hpp"

namespace gradverify {

bool is_of_one_kernel(const Row& a, const Row& b);

/// Whether two failures have one problem or one line of the kernel's source.
bool is_one_bug(const RowResult& a, const RowResult& b);

/// Takes the first failure, and all that are one bug with it or with another that is.
std::vector<const RowResult*> take_bug(std::vector<const RowResult*>& failures);

}  // namespace gradverify
