// SPDX-License-Identifier: Apache-2.0
// What cp.reduce.async.bulk does to each element of its destination (PTX ISA, 9.7.9.25.4.2).
#pragma once

#include <cstddef>
#include <cstdint>

#include "gradverify_simt/ptx/bulk.hpp"

namespace gradverify::simt {

struct BulkReduction {
    void (*apply)(std::byte* to, const std::byte* from, std::uint32_t bytes);
};
/// Null where the ISA has no such reduction.
const BulkReduction* bulk_reduction(ptx::BulkOperation operation, ptx::BulkType type);

}  // namespace gradverify::simt
