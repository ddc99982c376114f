// SPDX-License-Identifier: Apache-2.0
// Decides whether a kernel is right only for contiguous dy, of which its declaration says nothing.
// harness/report/text/caveats.cpp says so.
#pragma once

#include <string>
#include <vector>

#include "properties/checking/context.hpp"

namespace gradverify {

/// The cotangents of which nothing is declared, that the kernel takes for contiguous: with a gap
/// behind each row its results are others. A launcher that refuses such a tensor is right.
std::string contiguous_alone(CaseContext& context, const std::vector<Array<double>>& inputs,
                             const std::vector<Expected>& expected);

}  // namespace gradverify
