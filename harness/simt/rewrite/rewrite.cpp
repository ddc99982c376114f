// SPDX-License-Identifier: Apache-2.0
// The order of the rewrites, whose ranges never overlap. The last turns inline PTX into a trap that
// names its line, so that the file's other kernels still run; it leaves alone system headers, asm
// labels, and the empty string (a barrier for the compiler).
#include "harness/simt/rewrite/rewrite.hpp"

#include "harness/simt/rewrite/stream.hpp"

namespace gradverify::simt::rewrite {
namespace {

/// A label, as in `void f() asm("name");`, follows a declarator.
bool is_statement(const Stream& stream, std::size_t word, std::size_t open) {
    if (word == 0 || open != word + 1) return true;
    const Token& before = stream.at(word - 1);
    if (before.is_any({";", "{", "}", ":", "else", "do"})) return true;
    return before.is(")") && stream.at(open + 1).text.find(';') != std::string_view::npos;
}

void rewrite_inline_ptx(Stream& stream) {
    for (std::size_t i = 0; i < stream.size(); ++i) {
        const bool is_asm = stream.at(i).is_any({"asm", "__asm__", "__asm"});
        if (!is_asm || stream.at(i).in_system_header) continue;
        std::size_t open = i + 1;
        while (stream.at(open).is_any({"volatile", "__volatile__", "__volatile", "inline", "goto"}))
            ++open;
        if (!stream.is(open, "(")) continue;
        const std::size_t close = stream.matching(open);
        const std::size_t text = open + 1;
        if (!is_statement(stream, i, open) || stream.at(text).kind != TokenKind::text) continue;
        std::size_t end = text;
        bool is_empty = true;
        for (; stream.at(end).kind == TokenKind::text; ++end) {
            is_empty = is_empty && stream.is(end, "\"\"");
        }
        if (is_empty) continue;
        stream.replace({{i, close + 1},
                        "::gradverify::simt::unit::inline_ptx(" + stream.text({text, end}) + ")"});
        i = close;
    }
}

}  // namespace

std::string rewrite(std::string_view preprocessed) {
    Stream stream(preprocessed);
    rewrite_launches(stream);
    rewrite_shared_variables(stream);
    rewrite_own_names(stream);
    rewrite_inline_ptx(stream);
    return stream.join();
}

}  // namespace gradverify::simt::rewrite
