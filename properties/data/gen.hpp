// SPDX-License-Identifier: Apache-2.0
// The rapidcheck generators of data, settings and whole cases. They shrink in the order of
// shrinking/: the problem, on its dense cases; then the data; then the setting. Pulls in
// rapidcheck.
#pragma once

#include <rapidcheck/Gen.h>

#include <optional>

#include "harness/cases/suite.hpp"
#include "properties/data/values.hpp"

namespace gradverify {

/// A seed, short so that a printed case is. Shrinks to explicit data.
rc::Gen<Data> data_gen(const Kernel& kernel, const Problem& problem, ValueKind kind);

rc::Gen<Setting> setting_gen(const Kernel& kernel, const Problem& problem);

/// The call before a case in the same process: none, or one in four times one of these problems.
rc::Gen<std::optional<Problem>> call_before_gen(rc::Gen<Problem> problems);

/// Cases of a row on such problems, each after such a call, which shrinks first.
rc::Gen<Case> case_gen(const Row& row, ValueKind kind, rc::Gen<Problem> problems,
                       rc::Gen<std::optional<Problem>> before);

}  // namespace gradverify
