// SPDX-License-Identifier: Apache-2.0
// Rewrites `k<T><<<grid, block, shared, stream>>>(args)` into a call of the launcher with a lambda
// that calls `k<T>`. Arguments are evaluated once, except literals and `{...}`: a captured NULL or
// 0 would not convert to a pointer. Takes the cast off the kernel of `cudaLaunchKernel((void*)k<T>,
// ...)`. A kernel's `__cluster_dims__` becomes its first statement, since it may be launched by a
// pointer.
#include <map>
#include <string>

#include "harness/simt/rewrite/rewrite.hpp"
#include "harness/simt/rewrite/stream.hpp"

namespace gradverify::simt::rewrite {
namespace {

/// An identifier, but no keyword that may stand before an expression.
bool is_name(const Token& token) {
    return token.kind == TokenKind::identifier &&
           !token.is_any(
               {"return", "else", "do", "case", "throw", "co_return", "and", "or", "not", "if"});
}

/// The `<` that opens the template arguments closed by `close`.
std::size_t open_angle(const Stream& stream, std::size_t close) {
    int depth = 0;
    for (std::size_t i = close; i + 1 > 0; --i) {
        if (stream.is(i, ">")) ++depth;
        if (stream.is(i, "<") && --depth == 0) return i;
        if (stream.at(i).closes()) {
            i = stream.matching(i);
        } else if (stream.at(i).is_any({";", "(", "{"})) {
            break;
        }
    }
    stream.fail(close, "no `<` for this `>` before a kernel launch");
}

/// Where the postfix expression before `end` begins. The token before the first one is empty.
std::size_t begin_of_callee(const Stream& stream, std::size_t end) {
    std::size_t i = end;
    for (;;) {
        if (stream.is(i - 1, ">")) i = open_angle(stream, i - 1);
        const Token& last = stream.at(i - 1);
        if (last.is_any({")", "]"})) {
            i = stream.matching(i - 1);
            const Token& before = stream.at(i - 1);
            const bool called = is_name(before) || before.is_any({"]", ">"});
            if (!called || before.is_any({"while", "for", "switch"})) return i;
            continue;
        }
        if (!is_name(last)) break;
        --i;
        if (stream.is(i - 1, "template")) --i;
        const Token& before = stream.at(i - 1);
        if (!before.is_any({".", "->", "::"})) return i;
        --i;
        if (before.is("::") && !is_name(stream.at(i - 1)) && !stream.is(i - 1, ">")) return i;
    }
    if (i == end) stream.fail(end, "no kernel name before `<<<`");
    return i;
}

std::size_t find_triple_close(const Stream& stream, std::size_t from) {
    for (std::size_t i = from; i < stream.size(); ++i) {
        if (stream.is_triple(i, '>')) return i;
        const Token& token = stream.at(i);
        if (token.is(";") || token.closes()) break;
        if (token.opens()) i = stream.matching(i);
    }
    stream.fail(from - 1, "no `>>>` for this `<<<`");
}

/// The end of the template arguments, as in `f<A, B>(x)`, that open at `angle`; or `angle` itself.
std::size_t skip_template_arguments(const Stream& stream, std::size_t angle, std::size_t end) {
    if (stream.at(angle - 1).kind != TokenKind::identifier) return angle;
    const std::size_t close = stream.closing_angle(angle, end);
    if (close == end) return angle;
    const bool named = close + 1 == end || stream.at(close + 1).is_any({"(", "::", "{", ","});
    return named ? close : angle;
}

std::vector<Range> split_arguments(const Stream& stream, Range all) {
    std::vector<Range> arguments;
    std::size_t begin = all.begin;
    for (std::size_t i = all.begin; i < all.end; ++i) {
        if (stream.at(i).opens()) {
            i = stream.matching(i);
        } else if (stream.is(i, "<")) {
            i = skip_template_arguments(stream, i, all.end);
        } else if (stream.is(i, ",")) {
            arguments.push_back({begin, i});
            begin = i + 1;
        }
    }
    if (!all.empty()) arguments.push_back({begin, all.end});
    return arguments;
}

bool stays_in_call(const Stream& stream, Range argument) {
    if (argument.empty()) return true;
    const Token& first = stream.at(argument.begin);
    if (first.is("{")) return true;
    if (argument.end - argument.begin != 1) return false;
    // The host's memory is told of a string literal's address, too.
    const bool is_string = first.kind == TokenKind::text && first.text.ends_with('"');
    return first.kind == TokenKind::number || (first.kind == TokenKind::text && !is_string) ||
           first.is_any({"__null", "nullptr", "true", "false"});
}

std::string literal_of(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += c;
    }
    return result + '"';
}

struct Launch {
    Range callee, config, arguments;
    std::size_t close;  ///< the `)` after the arguments
};

Launch parse(const Stream& stream, std::size_t angles) {
    Launch launch{};
    launch.callee = {begin_of_callee(stream, angles), angles};
    const std::size_t close_angles = find_triple_close(stream, angles + 3);
    launch.config = {angles + 3, close_angles};
    if (!stream.is(close_angles + 3, "(")) {
        stream.fail(close_angles, "expected `(` after `>>>`");
    }
    launch.close = stream.matching(close_angles + 3);
    launch.arguments = {close_angles + 4, launch.close};
    if (split_arguments(stream, launch.config).size() < 2) {
        stream.fail(angles, "a launch needs at least a grid and a block: <<<grid, block>>>");
    }
    return launch;
}

/// The clusters of kernels that are only declared with them, by name.
using Clusters = std::map<std::string, std::string, std::less<>>;

/// `__cluster_dims__(2, 1, 1)` stands before the kernel's name. The launch begins again where a
/// kernel says that it is in other clusters.
Clusters take_clusters(Stream& stream) {
    Clusters clusters;
    for (std::size_t i = 0; i + 1 < stream.size(); ++i) {
        if (!stream.is(i, "__cluster_dims__") || !stream.is(i + 1, "(")) continue;
        const std::size_t close = stream.matching(i + 1);
        std::size_t name = close + 1;
        while (name + 1 < stream.size() && !(is_name(stream.at(name)) && stream.is(name + 1, "(")))
            name += stream.at(name).opens() ? stream.matching(name) - name + 1 : 1;
        const std::string cluster = stream.flat({i + 2, close});
        const std::size_t body = stream.is(name + 1, "(") ? stream.matching(name + 1) + 1 : name;
        if (stream.is(body, "{"))
            stream.replace({{body, body + 1},
                            "{ ::gradverify::simt::unit::needs_clusters(dim3(" + cluster + ")); "});
        else
            clusters[std::string(stream.at(name).text)] = cluster;
        stream.replace({{i, close + 1}, ""});
        i = close;
    }
    return clusters;
}

std::string config_of(const Stream& stream, const Launch& launch, const std::string& text,
                      const Clusters& clusters) {
    const std::string unit = "::gradverify::simt::unit::";
    std::string config = unit + "LaunchConfig(" + text + ")";
    for (std::size_t i = launch.callee.begin; i < launch.callee.end; ++i) {
        if (i > launch.callee.begin && !stream.is(i - 1, "::")) continue;
        const auto found = clusters.find(stream.at(i).text);
        if (found != clusters.end())
            return unit + "in_clusters(" + config + ", dim3(" + found->second + "))";
    }
    return config;
}

std::string rewritten(const Stream& stream, const Launch& launch, std::size_t number,
                      const Clusters& clusters) {
    const Range whole{launch.callee.begin, launch.close + 1};
    const bool one_line = stream.on_one_line(whole);
    const auto piece = [&](Range range) {
        return (one_line || range.empty() ? "" : stream.marker(range.begin)) + stream.text(range);
    };
    const std::string unit = "::gradverify::simt::unit::";
    std::string captures = "&", call;
    std::size_t count = 0;
    bool in_call = stream.at(launch.callee.end - 1).is_any({")", "]"});
    for (Range argument : split_arguments(stream, launch.arguments)) {
        if (!call.empty()) call += ", ";
        if (stays_in_call(stream, argument)) {
            in_call |= stream.is(argument.begin, "{");
            call += piece(argument);
            continue;
        }
        const std::string dots = stream.is(argument.end - 1, ".") ? "..." : "";
        argument.end -= dots.size();
        const std::string name =
            "gradverify_argument_" + std::to_string(number) + "_" + std::to_string(count++);
        captures += ", " + dots + name + " = " + unit + "argument((" + piece(argument) + "))";
        call += unit + "give(" + name + ")" + dots;
    }
    if (in_call) captures += ", gradverify_in_call = " + unit + "InCall()";
    return unit + "launch(" + literal_of(stream.flat(launch.callee)) + ", " +
           config_of(stream, launch, piece(launch.config), clusters) + ", [" + captures + "] { " +
           piece(launch.callee) + "(" + call + "); })";
}

/// The place behind `void *` with any `const`, or `begin` if something else is there.
std::size_t skip_void_pointer(const Stream& stream, std::size_t begin) {
    std::size_t i = begin;
    bool has_void = false;
    for (; stream.is(i, "const") || stream.is(i, "void"); ++i) has_void |= stream.is(i, "void");
    return has_void && stream.is(i, "*") ? i + 1 : begin;
}

/// The cast with which an argument begins; empty if there is none.
Range cast_at(const Stream& stream, std::size_t begin) {
    const bool is_named = stream.at(begin).is_any({"reinterpret_cast", "static_cast"});
    if (!is_named && !stream.is(begin, "(")) return {begin, begin};
    const std::size_t type = begin + (is_named ? 2 : 1), end = skip_void_pointer(stream, type);
    return end > type && stream.is(end, is_named ? ">" : ")") ? Range{begin, end + 1}
                                                              : Range{begin, begin};
}

}  // namespace

void rewrite_launches(Stream& stream) {
    const Clusters clusters = take_clusters(stream);
    std::size_t number = 0;
    for (std::size_t i = 0; i + 2 < stream.size(); ++i) {
        if (!stream.is_triple(i, '<')) continue;
        if (stream.is(i - 1, "operator")) {
            i += 2;
            continue;
        }
        const Launch launch = parse(stream, i);
        stream.replace({{launch.callee.begin, launch.close + 1},
                        rewritten(stream, launch, number++, clusters)});
        i = launch.close;
    }
    for (std::size_t i = 0; i + 1 < stream.size(); ++i) {
        const bool is_launch =
            stream.at(i).is_any({"cudaLaunchKernel", "cudaLaunchCooperativeKernel"});
        if (!is_launch || !stream.is(i + 1, "(")) continue;
        const Range cast = cast_at(stream, i + 2);
        if (!cast.empty()) stream.replace({cast, ""});
    }
}

}  // namespace gradverify::simt::rewrite
