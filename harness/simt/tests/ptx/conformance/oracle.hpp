// SPDX-License-Identifier: Apache-2.0
// What an instruction gives by the PTX ISA, computed from its opcode alone: floats by MPFR,
// integers in 128 bits, warps and products of matrices by their definition. It shares no code with
// a device.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace conformance {

using Arguments = std::array<std::uint64_t, 4>;
/// Results of whole warps of lanes, which have these operands. Throws where it knows no such
/// opcode.
std::vector<std::uint64_t> results_of(const std::string& opcode,
                                      const std::vector<Arguments>& lanes);
/// Result of a lane that needs no other.
std::uint64_t result_of(const std::string& opcode, const Arguments& operands);

/// Registers of a matrix, of all 32 lanes.
using Fragments = std::vector<std::vector<std::uint64_t>>;
/// D of mma.sync, whose D before is C.
Fragments product_of(const std::string& opcode, const Fragments& a, const Fragments& b,
                     const Fragments& c);

/// What bits of a float type are worth: `f16`.
double number_of(const std::string& type, std::uint64_t bits);
/// How far the ISA lets an approximation be from the result that it gives here.
struct Error {
    double relative, absolute;
};
Error allowed_error(const std::string& opcode, const std::string& type);

}  // namespace conformance
