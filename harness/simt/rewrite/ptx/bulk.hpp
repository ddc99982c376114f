// SPDX-License-Identifier: Apache-2.0
// What bulk copies and tensor copies share.
#pragma once

#include "harness/simt/rewrite/ptx/ptx.hpp"

namespace gradverify::simt::rewrite {

/// The modifiers and operands that all bulk copies have.
struct Bulk {
    std::string to, from, operation, type;
    bool has_mbarrier = false, is_im2col = false, is_multicast = false, has_policy = false;
    std::size_t dimensions = 0;  ///< of a tensor; 0: of none
    bool loads() const { return to.starts_with("shared"); }
};

/// How many operands a mask of blocks and a policy are.
std::size_t hints(const Bulk& bulk);
/// The blocks of the cluster that a copy goes to.
std::string mask_of(const PtxStatement& statement, const Bulk& bulk);
std::string operation_of(const Bulk& bulk);
/// tensor.cpp's part: cp{.reduce}.async.bulk.tensor.
std::string copy_tensor(const PtxStatement& statement, const Bulk& bulk, bool reduces);

}  // namespace gradverify::simt::rewrite
