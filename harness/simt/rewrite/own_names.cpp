// SPDX-License-Identifier: Apache-2.0
// `using Scan = Scan<T, 32>;` in a class: nvcc takes the template outside of it, g++ says that the
// name changes its meaning. The template is named with its namespace instead.
#include <map>

#include "harness/simt/rewrite/stream.hpp"

namespace gradverify::simt::rewrite {
namespace {

/// What the brace `open` begins: the name of a namespace, with `::` behind; nothing for one without
/// a name, or for `extern "C"`; `{` for whatever else.
std::string scope_of(const Stream& stream, std::size_t open) {
    if (open == 0 || stream.at(open - 1).kind == TokenKind::text) return "";
    std::size_t begin = open;
    while (begin > 0 &&
           (stream.at(begin - 1).kind == TokenKind::identifier ||
            stream.at(begin - 1).is_any({"::", ":"})) &&
           !stream.is(begin - 1, "namespace"))
        --begin;
    if (begin == 0 || !stream.is(begin - 1, "namespace")) return "{";
    std::string name;
    for (std::size_t i = begin; i < open; ++i) name += stream.at(i).text;
    return name.empty() ? name : name + "::";
}

}  // namespace

void rewrite_own_names(Stream& stream) {
    std::map<std::string_view, std::string> outside;  ///< templates of namespaces, with their path
    std::vector<std::string> scopes{""};  ///< the path through namespaces; `{` within others
    for (std::size_t i = 0; i < stream.size(); ++i) {
        if (stream.is(i, "{")) {
            const std::string scope = scope_of(stream, i);
            const bool is_inner = scopes.back() == "{" || scope == "{";
            scopes.push_back(is_inner ? "{" : scopes.back() + scope);
        } else if (stream.is(i, "}") && scopes.size() > 1) {
            scopes.pop_back();
        } else if (scopes.back() != "{") {
            if (stream.at(i).is_any({"struct", "class"}))
                outside[stream.at(i + 1).text] = scopes.back();
        } else if (stream.is(i, "using") && stream.is(i + 2, "=") && stream.is(i + 4, "<") &&
                   stream.at(i + 1).text == stream.at(i + 3).text) {
            const auto found = outside.find(stream.at(i + 3).text);
            if (found == outside.end()) continue;
            const std::string name(found->first);
            stream.replace({{i + 3, i + 4}, "::" + found->second + name});
        }
    }
}

}  // namespace gradverify::simt::rewrite
