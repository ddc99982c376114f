// SPDX-License-Identifier: Apache-2.0
// Whether this device's code has products of warpgroups.
#pragma once

#include "harness/simt/tests/async.hpp"
#include "harness/simt/tests/construct.hpp"

namespace {

__global__ void ask_for_wgmma(int* has) { WGMMA("mov.u32 %0, 1;" : "=r"(*has)); }
bool has_wgmma() {
    Array<int> has(1);
    ask_for_wgmma<<<1, 1>>>(has);
    return has.host()[0] != 0;
}

}  // namespace
