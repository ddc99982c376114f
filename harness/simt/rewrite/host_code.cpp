// SPDX-License-Identifier: Apache-2.0
// What is the host's, in code that runs on a device alone. A name is refused where every
// declaration that it may mean is an unmarked function or variable of the host; templates with `if
// constexpr`, calls of members and what needs overload resolution are left to the first statement
// that each function of the host is given, which ends a kernel that reaches it.
#include <algorithm>
#include <map>
#include <set>

#include "harness/simt/rewrite/declarations.hpp"
#include "harness/simt/rewrite/rewrite.hpp"

namespace gradverify::simt::rewrite {
namespace {

using Names = std::set<std::string_view>;

bool is_identifier(const Token& token) { return token.kind == TokenKind::identifier; }

/// Words behind which an expression goes on.
bool begins_expression(const Token& token) {
    return token.is_any({"return", "else", "case", "throw", "co_return", "co_yield", "and", "or",
                         "not", "do", "goto", "sizeof", "new", "delete"});
}

bool is_built_in_type(const Token& token) {
    return token.is_any({"auto", "bool", "char", "short", "int", "long", "float", "double",
                         "signed", "unsigned", "void", "const"});
}

/// Of the host without a declaration that the text would show: a library's.
const Names host_names_of_libraries = {"rand",  "srand",  "getenv", "exit",
                                       "fopen", "fclose", "fprintf"};
const Names host_names_of_std = {"cout",  "cerr",  "clog",   "cin",      "rand",
                                 "srand", "mutex", "thread", "function", "random_device"};
/// Which a device has, and a file may overload for the host.
const Names device_names = {"min",  "max",   "abs",   "clamp", "lerp", "pow",   "exp",  "log",
                            "sqrt", "rsqrt", "floor", "ceil",  "fma",  "round", "swap", "sin",
                            "cos",  "tanh",  "erf",   "isnan", "fabs", "printf"};

struct Function {
    Range range{};
    std::size_t open = 0;  ///< of its body; 0: it has none
    std::string path;      ///< of the namespaces and classes around it, with `::` behind
    bool on_host = false, on_device = false;
    bool is_constexpr = false, is_template = false, is_member = false;
    std::string_view name;  ///< "" of operators, constructors and destructors
    std::string label;      ///< the name, or `operator()`; "" of conversions, too
};

class HostCode {
  public:
    HostCode(Stream& stream, const std::vector<std::string>& folders_without_marks)
        : stream_(stream), folders_without_marks_(folders_without_marks) {}

    void run(bool has_all_marks) {
        try {
            walk({0, stream_.size()}, "", false);
        } catch (const RewriteError&) {
            return;  // a bracket is missing, which the other rewrites tell with more words
        }
        for (const Function& function : functions_)
            if (function.label.empty() && !function.on_device) add_called(function.range);
        for (const Range head : kernel_heads_) add_called(head);
        for (const Function& function : functions_) {
            if (function.open == 0) continue;
            const Range body{function.open + 1, stream_.matching(function.open)};
            if (function.on_device) lend_heap(body);
            if (!has_all_marks) continue;
            if (function.on_device && !function.on_host) {
                const bool selects = function.is_template && holds(body, "if", "constexpr");
                if (!selects) check(function, body);
            } else if (!function.on_device) {
                check_device_lambdas(function, body);
                guard(function, body);
            }
        }
    }

  private:
    bool is_users(std::size_t i) const {
        const Token& token = stream_.at(i);
        return !token.in_system_header &&
               std::ranges::none_of(folders_without_marks_, [&](const std::string& folder) {
                   return token.file.starts_with(folder);
               });
    }

    bool holds(Range range, std::string_view word, std::string_view next) const {
        for (std::size_t i = range.begin; i < range.end; ++i)
            if (stream_.is(i, word) && (next.empty() || stream_.is(i + 1, next))) return true;
        return false;
    }
    bool holds_any(Range range, std::initializer_list<std::string_view> words) const {
        for (std::size_t i = range.begin; i < range.end; ++i)
            if (stream_.at(i).is_any(words)) return true;
        return false;
    }
    void add_all(Names& names, Range range) const {
        for (std::size_t i = range.begin; i < range.end; ++i)
            if (is_identifier(stream_.at(i))) names.insert(stream_.at(i).text);
    }

    // What is declared.

    void walk(Range scope, const std::string& path, bool is_class) {
        for (const Declaration& found : declarations_in(stream_, scope)) {
            if (found.kind == DeclarationKind::scope) {
                walk_scope(found, path, is_class);
            } else if (found.parameters != 0) {
                add_function(found, path, is_class);
            } else {
                add_variables(found, path, is_class);
            }
        }
    }

    void walk_scope(const Declaration& scope, const std::string& path, bool is_class) {
        const Range inside{scope.open + 1, stream_.matching(scope.open)};
        if (stream_.is(scope.first, "extern")) return walk(inside, path, is_class);
        std::string name;
        std::size_t i = scope.first + 1;
        for (; i < scope.open && !stream_.at(i).is_any({":", "final"}); ++i) {
            if (stream_.at(i).opens())
                i = stream_.matching(i);
            else if (is_identifier(stream_.at(i)) && stream_.is(i + 1, "::"))
                name += std::string(stream_.at(i++).text) + "::";
            else if (is_identifier(stream_.at(i)) && !stream_.is(i + 1, "("))
                name += std::string(stream_.at(i).text) + "::";
        }
        const bool opens_class = !stream_.is(scope.first, "namespace");
        if (opens_class) {
            add_all(taken_, {scope.first, scope.open});
            add_all(members_, {scope.range.begin, scope.open});
            if (scope.range.begin != scope.first) name = "<";  // static members of a template
        }
        walk(inside, path + name, opens_class);
    }

    void add_function(const Declaration& found, const std::string& path, bool is_class) {
        const Range head{found.range.begin, found.open != 0 ? found.open : found.range.end};
        if (stream_.at(found.first).is_any({"using", "typedef", "friend"}))
            return add_all(taken_, head);
        has_own_new_ |= is_users(found.first) && holds(head, "operator", "new");
        Function function;
        function.range = found.range;
        function.path = path;
        if (found.kind == DeclarationKind::function) function.open = found.open;
        const bool marked_host = holds_any(head, {"__host__"});
        function.on_device = holds_any(head, {"__device__", "__global__"});
        if (holds_any(head, {"__global__"})) kernel_heads_.push_back({found.parameters, head.end});
        function.on_host = marked_host || !function.on_device;
        function.is_constexpr = holds_any(head, {"constexpr", "consteval"});
        function.is_template = stream_.is(head.begin, "template");
        function.is_member = is_class;
        std::size_t name = found.parameters - 1;
        while (name > found.first && stream_.is(name, ">")) name = begin_of_angles(name) - 1;
        if (name > found.first && is_identifier(stream_.at(name)) &&
            !holds_any({found.first, name}, {"operator"}))
            name_function(function, name, found.first);
        function.label = label_of(function, found.parameters);
        const bool is_plain = !function.on_device && !function.is_constexpr;
        if (is_class) members_.insert(stream_.at(name).text);
        if (!function.name.empty() && !is_class) {
            const bool is_hosts = is_plain && is_users(name) && !function.is_member;
            if (is_hosts)
                host_functions_.emplace(function.name, function.path);
            else if (!function.is_member)
                taken_.insert(function.name);
        }
        if (!is_plain) marked_.insert(function.path + function.label);
        if (function.open != 0 && is_users(function.open)) functions_.push_back(function);
    }

    /// Of a return type and a name, as in `T n::f(`; a constructor has no type.
    void name_function(Function& function, std::size_t name, std::size_t first) const {
        std::size_t begin = name;
        while (begin >= first + 2 && stream_.is(begin - 1, "::") &&
               is_identifier(stream_.at(begin - 2)))
            begin -= 2;
        if (begin == first || stream_.at(begin - 1).is_any({"~", "::", "explicit"})) return;
        for (std::size_t i = begin; i < name; i += 2)
            function.path += std::string(stream_.at(i).text) + "::";
        function.is_member |= begin != name;
        function.name = stream_.at(name).text;
    }

    /// Conversions are left out: a launch's arguments are converted where its kernel begins.
    std::string label_of(const Function& function, std::size_t parameters) const {
        if (!function.name.empty()) return std::string(function.name);
        std::size_t i = parameters;
        while (i > function.range.begin && parameters - i < 4 && !stream_.is(i, "operator")) --i;
        if (!stream_.is(i, "operator") || is_identifier(stream_.at(i + 1))) return "";
        return stream_.flat({i, parameters});
    }

    std::size_t begin_of_angles(std::size_t close) const {
        int depth = 0;
        for (std::size_t i = close; i > 0; --i) {
            if (stream_.is(i, ">")) ++depth;
            if (stream_.is(i, "<") && --depth == 0) return i;
        }
        return 1;
    }

    void add_variables(const Declaration& found, const std::string& path, bool is_class) {
        const Range range = found.range;
        const Token& first = stream_.at(found.first);
        if (first.is_any({"using", "typedef", "enum", "struct", "class", "union", "friend",
                          "namespace", "asm"}) ||
            stream_.is(range.begin, "template"))
            return add_all(is_class ? members_ : taken_, range);
        std::size_t last = found.first;
        bool is_value = false;
        std::string lent;
        for (std::size_t i = found.first; i < range.end; ++i) {
            const Token& token = stream_.at(i);
            if (token.opens()) {
                i = stream_.matching(i);
            } else if (token.is("<") && !is_value) {
                i = std::min(stream_.closing_angle(i, range.end), range.end - 1);
            } else if (token.is("=")) {
                is_value = true;
            } else if (token.is_any({",", ";"})) {
                if (last != found.first) add_variable(range.begin, last, path, is_class);
                if (last != found.first && !is_class) lent += lent_variable(range.begin, last);
                is_value = false;
            } else if (is_identifier(token) && !is_value) {
                last = i;
            }
        }
        if (!lent.empty()) stream_.replace({{range.end - 1, range.end}, ";" + lent});
    }

    void add_variable(std::size_t begin, std::size_t name, const std::string& path, bool is_class) {
        std::size_t star = begin;
        for (std::size_t i = begin; i < name; ++i)
            if (stream_.at(i).is_any({"*", "&"})) star = i;
        const bool is_devices = holds_any({begin, name}, {"__device__", "__shared__", "constexpr",
                                                          "operator", "texture", "surface"}) ||
                                holds_any({star, name}, {"const"});
        const bool is_static = !is_class || holds_any({begin, name}, {"static"});
        const std::string_view text = stream_.at(name).text;
        if (stream_.is(name - 1, "::")) return;  // of a class's variable, which has its marks
        if (is_users(name) && !is_devices && is_static && path.find('<') == std::string::npos)
            host_variables_.emplace(text, path);
        else
            (is_class ? members_ : taken_).insert(text);
    }

    /// A launch may be given the address of a device's variable: a statement that says so.
    std::string lent_variable(std::size_t begin, std::size_t name) {
        if (!stream_.at(name + 1).is_any({"=", ";", ",", "[", "{"}) || stream_.is(name - 1, "::") ||
            !holds_any({begin, name}, {"__device__"}) || holds_any({begin, name}, {"extern"}))
            return "";
        return " [[maybe_unused]] static const bool gradverify_lent_" + std::to_string(lent_++) +
               " = ::gradverify::simt::unit::lent_variable(" + std::string(stream_.at(name).text) +
               ");";
    }

    // What is used.

    void check(const Function& function, Range body) const {
        for (std::size_t i = body.begin; i < body.end; ++i) {
            const Token& token = stream_.at(i);
            if (token.is_any({"sizeof", "decltype", "noexcept", "alignof"}) &&
                stream_.is(i + 1, "(")) {
                i = stream_.matching(i + 1);
                continue;
            }
            if (!is_identifier(token) || stream_.at(i - 1).is_any({".", "->"}) || !is_users(i))
                continue;
            const std::string name(token.text);
            if (is_called(i) && names_host(host_functions_, i, function))
                stream_.fail(i, "the host's function `" + name +
                                    "` is called in device code: mark it __device__");
            if (names_host(host_variables_, i, function))
                stream_.fail(i, "the host's variable `" + name +
                                    "` is used in device code: mark it __device__ or __constant__, "
                                    "or pass its value");
            if (is_of_host_library(i, function))
                stream_.fail(i, "`" + name + "` is the host's, and is used in device code");
        }
    }

    bool is_called(std::size_t i) const {
        std::size_t next = i + 1;
        if (stream_.is(next, "<")) next = stream_.closing_angle(next, stream_.size()) + 1;
        return stream_.is(next, "(");
    }

    bool is_of_host_library(std::size_t i, const Function& function) const {
        const std::string_view name = stream_.at(i).text;
        if (stream_.is(i - 1, "::") && !stream_.is(i - 2, "std")) return false;
        if (stream_.is(i - 1, "::")) return host_names_of_std.contains(name);
        return host_names_of_libraries.contains(name) && stream_.is(i + 1, "(") &&
               !taken_.contains(name) && !members_.contains(name) &&
               !is_declared_in(function.range, name);
    }

    using Paths = std::multimap<std::string_view, std::string>;
    bool names_host(const Paths& paths, std::size_t i, const Function& function) const {
        const std::string_view name = stream_.at(i).text;
        const auto [begin, end] = paths.equal_range(name);
        if (begin == end || taken_.contains(name) || device_names.contains(name) ||
            (function.is_member && members_.contains(name)) || stream_.is(i + 1, "::"))
            return false;
        for (auto found = begin; found != end; ++found) {
            const std::string& path = found->second;
            const bool is_seen = stream_.is(i - 1, "::") ? path.ends_with(qualifier(i)) &&
                                                               path.empty() == qualifier(i).empty()
                                                         : function.path.starts_with(path);
            if (is_seen) return !is_declared_in(function.range, name);
        }
        return false;
    }
    std::string qualifier(std::size_t i) const {
        const Token& before = stream_.at(i - 2);
        if (before.is(">")) return ">";
        return is_identifier(before) && !begins_expression(before) ? std::string(before.text) + "::"
                                                                   : "";
    }

    /// Whether a word of these tokens may declare the name: then it is not looked for outside.
    bool is_declared_in(Range range, std::string_view name) const {
        std::vector<std::size_t> open;
        for (std::size_t i = range.begin; i < range.end; ++i) {
            const Token& token = stream_.at(i);
            if (token.opens()) open.push_back(i);
            if (token.closes() && !open.empty()) open.pop_back();
            const std::size_t bracket = open.empty() ? range.begin : open.back();
            if (token.is(name) && may_declare(i, bracket, range)) return true;
        }
        return false;
    }

    bool may_declare(std::size_t i, std::size_t open, Range range) const {
        const Token& before = stream_.at(i - 1);
        const Token& next = stream_.at(i + 1);
        if (is_identifier(before)) return !begins_expression(before);
        if (before.is(".")) return stream_.is(i - 2, ".");  // T... x
        if (before.is(">")) return holds_any({begin_of_statement(i), i}, {"<"});
        if (before.is_any({"*", "&"})) return may_be_type(i - 1, range);
        if (!before.is_any({",", "["})) return false;
        if (stream_.is(open, "["))
            return next.is("=") || stream_.at(open - 1).is_any({"auto", "&", "const"});
        return next.is_any({"=", ";", ",", "[", "{"}) &&
               (stream_.is(open, "{") || stream_.is(open - 1, "for"));
    }

    std::size_t begin_of_statement(std::size_t i) const {
        while (i > 0 && !stream_.at(i - 1).is_any({";", "{", "}"})) --i;
        return i;
    }

    /// Whether a word of these tokens declares a variable, as `x` in `float x`.
    bool is_value(Range range, std::string_view name) const {
        for (std::size_t i = range.begin + 1; i < range.end; ++i) {
            const Token& before = stream_.at(i - 1);
            if (stream_.is(i, name) && is_identifier(before) && !begins_expression(before) &&
                !before.is_any({"typename", "class", "struct", "enum", "union", "using", "const",
                                "volatile", "static", "extern", "inline", "constexpr", "mutable",
                                "operator", "__shared__", "__device__", "__host__"}))
                return true;
        }
        return false;
    }

    /// Whether the `*` and `&` that end at `i` may belong to a type, and multiply nothing.
    bool may_be_type(std::size_t i, Range range) const {
        while (stream_.at(i).is_any({"*", "&"})) --i;
        if (stream_.is(i, ">")) return true;
        if (!is_identifier(stream_.at(i)) || begins_expression(stream_.at(i))) return false;
        if (is_built_in_type(stream_.at(i))) return true;
        if (is_value(range, stream_.at(i).text)) return false;
        while (stream_.is(i - 1, "::")) i -= 2;
        const Token& before = stream_.at(i - 1);
        return before.is_any({"(", ",", ";", "{", "}", "<", ":"}) ||
               (is_identifier(before) && !begins_expression(before));
    }

    /// Later launches may be given what device code allocates.
    void lend_heap(Range body) {
        for (std::size_t i = body.begin; i < body.end; ++i) {
            const Token& before = stream_.at(i - 1);
            if (stream_.is(i, "new") && !before.is("operator") && !stream_.is(i + 1, "(") &&
                !has_own_new_)
                stream_.replace({{i, i + 1}, "new (::gradverify::simt::unit::DeviceHeap())"});
            if (!stream_.at(i).is_any({"malloc", "free"}) || !stream_.is(i + 1, "(") ||
                before.is_any({".", "->"}) || members_.contains(stream_.at(i).text) ||
                (is_identifier(before) && !begins_expression(before)))
                continue;
            std::size_t begin = i;
            if (before.is("::")) begin = stream_.is(i - 2, "std") ? i - 2 : i - 1;
            if (begin == i - 1 && !qualifier(i).empty()) continue;
            stream_.replace(
                {{begin, i + 1},
                 "::gradverify::simt::unit::device_" + std::string(stream_.at(i).text)});
        }
    }

    // Functions of the host.

    /// What constructors, destructors, conversions and a kernel's default arguments call, each
    /// thread may call for a launch's arguments.
    void add_called(Range range) {
        for (std::size_t i = range.begin; i < range.end; ++i) {
            const std::string_view name = stream_.at(i).text;
            if (!is_identifier(stream_.at(i)) || !is_called(i) || !called_.insert(name).second)
                continue;
            for (const Function& function : functions_)
                if (function.name == name && !function.on_device) add_called(function.range);
        }
    }

    void check_device_lambdas(const Function& function, Range body) {
        for (std::size_t i = body.begin; i < body.end; ++i) {
            if (!stream_.is(i, "]") || !is_mark(stream_.at(i + 1))) continue;
            const std::size_t open = body_of_lambda(i + 1, body.end);
            if (open == body.end) return;
            const bool on_host = holds_any({i, open}, {"__host__"});
            i = stream_.matching(open);
            lend_heap({open + 1, i});
            if (!on_host) check(function, {open + 1, i});
        }
    }

    std::size_t body_of_lambda(std::size_t i, std::size_t end) const {
        for (; i < end && !stream_.is(i, "{"); ++i) {
            if (stream_.at(i).opens())
                i = stream_.matching(i);
            else if (stream_.at(i).is_any({";", ",", ")", "]", "}", "="}))
                return end;
        }
        return i;
    }

    /// The function, and the lambdas in it, end a kernel that calls them.
    void guard(const Function& function, Range body) {
        if (function.is_constexpr || function.label.empty() || called_.contains(function.name) ||
            marked_.contains(function.path + function.label) ||
            stream_.is(function.open - 1, "try"))
            return;
        guard_at(function.open, function.label);
        for (std::size_t i = body.begin; i < body.end; ++i) {
            const Token& before = stream_.at(i - 1);
            if (!stream_.is(i, "[") || stream_.is(i + 1, "[") || before.is_any({")", "]", "["}) ||
                (is_identifier(before) && !begins_expression(before)))
                continue;
            const std::size_t end = stream_.matching(i) + 1;
            const std::size_t open = body_of_lambda(end, body.end);
            if (open == body.end || holds_any({end, open}, {"constexpr"})) continue;
            if (is_mark(stream_.at(end)))
                i = stream_.matching(open);
            else
                guard_at(open, "a lambda of " + function.label), i = open;
        }
    }

    void guard_at(std::size_t open, const std::string& name) {
        stream_.replace({{open, open + 1},
                         "{ ::gradverify::simt::unit::of_host(\"the host's function `" + name +
                             "` is called in device code: mark it __device__\");"});
    }

    Stream& stream_;
    const std::vector<std::string>& folders_without_marks_;
    std::vector<Function> functions_;
    Paths host_functions_, host_variables_;  ///< the paths of those of a name
    std::vector<Range> kernel_heads_;
    bool has_own_new_ = false;      ///< some class has
    std::size_t lent_ = 0;          ///< variables
    Names called_;                  ///< for a launch's arguments, it may be
    Names taken_;                   ///< names of which something else is declared in a namespace
    Names members_;                 ///< of classes
    std::set<std::string> marked_;  ///< functions that run on a device, with their paths
};

}  // namespace

void guard_host_code(Stream& stream, const std::vector<std::string>& folders_without_marks,
                     bool has_all_marks) {
    HostCode(stream, folders_without_marks).run(has_all_marks);
}

}  // namespace gradverify::simt::rewrite
