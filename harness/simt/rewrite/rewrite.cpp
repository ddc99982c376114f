// SPDX-License-Identifier: Apache-2.0
// The order of the rewrites, whose ranges never overlap.
#include "harness/simt/rewrite/rewrite.hpp"

#include "harness/simt/rewrite/stream.hpp"

namespace gradverify::simt::rewrite {

std::string rewrite(std::string_view preprocessed,
                    const std::vector<std::string>& folders_without_marks) {
    Stream marked(preprocessed, Marks::kept);
    // A file that asks for __NVCC__ may leave all marks out here (cpu_preprocess.sh).
    const bool has_all_marks =
        preprocessed.find("#pragma gradverify no_marks") == std::string_view::npos;
    guard_host_code(marked, folders_without_marks, has_all_marks);
    rewrite_volatile_spins(marked);
    const std::string guarded = marked.join();
    Stream stream(guarded);
    rewrite_launches(stream);
    rewrite_shared_variables(stream);
    rewrite_own_names(stream);
    rewrite_left_locals(stream);
    rewrite_inline_ptx(stream);
    return stream.join();
}

}  // namespace gradverify::simt::rewrite
