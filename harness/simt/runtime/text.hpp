// SPDX-License-Identifier: Apache-2.0
// Lines, indices and numbers, as messages have them.
#pragma once

#include <cstdint>
#include <string>

#include "gradverify_simt/state.hpp"

namespace gradverify::simt {

/// "file.cu:12"
std::string line_of(std::uint64_t return_address);
std::string line_of(unit::Place place);
std::string text_of(const dim3& index);
/// "0x1ff"
std::string hex_text(std::uint64_t value);

}  // namespace gradverify::simt
