// SPDX-License-Identifier: Apache-2.0
// Takes the cast off the kernel of `cudaLaunchKernel((void*)k<T>, ...)`: without its type nobody
// would know the kernel's parameters. A cast of anything but a name stays.
#include <array>

#include "harness/simt/rewrite/rewrite.hpp"
#include "harness/simt/rewrite/stream.hpp"

namespace gradverify::simt::rewrite {
namespace {

/// The macros that keep the run-time API apart from the real one have been expanded before.
bool is_launch_call(const Token& token) {
    constexpr std::array<std::string_view, 2> names = {"cudaLaunchKernel",
                                                       "cudaLaunchCooperativeKernel"};
    constexpr std::string_view prefix = "gradverify_simt_";
    std::string_view text = token.text;
    if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
    return text == names[0] || text == names[1];
}

/// Past `void *` with any `const`, or `begin` if something else is there.
std::size_t skip_void_pointer(const Stream& stream, std::size_t begin) {
    std::size_t i = begin;
    bool has_void = false;
    for (; stream.is(i, "const") || stream.is(i, "void"); ++i) has_void |= stream.is(i, "void");
    return has_void && stream.is(i, "*") ? i + 1 : begin;
}

/// The cast that opens the range of an argument; empty if none does.
Range cast_at(const Stream& stream, std::size_t begin) {
    if (stream.is(begin, "(")) {
        const std::size_t end = skip_void_pointer(stream, begin + 1);
        if (end > begin + 1 && stream.is(end, ")")) return {begin, end + 1};
    } else if (stream.is(begin, "reinterpret_cast") || stream.is(begin, "static_cast")) {
        const std::size_t end = skip_void_pointer(stream, begin + 2);
        if (end > begin + 2 && stream.is(end, ">")) return {begin, end + 1};
    }
    return {begin, begin};
}

}  // namespace

void rewrite_launch_calls(Stream& stream) {
    for (std::size_t i = 0; i + 1 < stream.size(); ++i) {
        if (!is_launch_call(stream.at(i)) || !stream.is(i + 1, "(")) continue;
        const Range cast = cast_at(stream, i + 2);
        if (!cast.empty()) stream.replace({cast, ""});
    }
}

}  // namespace gradverify::simt::rewrite
