// SPDX-License-Identifier: Apache-2.0
// bar.sync and bar.arrive of numbered barriers (PTX ISA, 9.7.13.1), which may be for some of the
// block's warps.
#include "gradverify_simt/ptx/warps.hpp"
#include "harness/simt/execute/executor.hpp"

namespace gradverify::simt {

namespace ptx {
extern "C" void gradverify_simt_named_barrier(unsigned id, unsigned count, bool waits,
                                              const char* file, int line) {
    Executor::of_this_thread().named_barrier(id, count, waits, {file, line});
}
}  // namespace ptx

}  // namespace gradverify::simt
