// SPDX-License-Identifier: Apache-2.0
// The order of the rewrites, whose ranges never overlap.
#include "harness/simt/rewrite/rewrite.hpp"

#include "harness/simt/rewrite/stream.hpp"

namespace gradverify::simt::rewrite {

std::string rewrite(std::string_view preprocessed) {
    Stream stream(preprocessed);
    rewrite_launches(stream);
    rewrite_shared_variables(stream);
    rewrite_own_names(stream);
    rewrite_left_locals(stream);
    rewrite_inline_ptx(stream);
    return stream.join();
}

}  // namespace gradverify::simt::rewrite
