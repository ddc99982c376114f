// SPDX-License-Identifier: Apache-2.0
// Decides how the places of wrong elements are put into words: a period often tells the tile.
#pragma once

#include <string>

#include "harness/cases/outcome.hpp"

namespace gradverify {

/// `every 4th column from 3 on, in the last row`; empty where the places follow no simple rule, or
/// one that the map shows at a glance: all are wrong, or one.
std::string pattern_of(const WrongMap& map);

}  // namespace gradverify
