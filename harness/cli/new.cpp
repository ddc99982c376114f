// SPDX-License-Identifier: Apache-2.0
// The verb `new`: a first draft of the file that registers a launcher, or the launchers that there
// are, and what each could be.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "harness/base/errors.hpp"
#include "harness/base/files.hpp"
#include "harness/base/text.hpp"
#include "harness/cli/verbs.hpp"
#include "harness/drafting/glue.hpp"
#include "harness/drafting/user_files.hpp"
#include "harness/operators/tensor_text.hpp"
#include "harness/registry/registry.hpp"
#include "harness/run/selection.hpp"

namespace gradverify {

namespace {

namespace fs = std::filesystem;

/// Those that a launcher is looked for among: the one of this name, or all that are no gradient of
/// another's and no chain.
std::vector<const Operator*> operators_named(const std::string& name) {
    const Registry& registry = Registry::instance();
    const std::vector<std::string> names = registry.operator_names();
    std::vector<const Operator*> operators;
    for (const std::string& known : names) {
        const Operator* const op = registry.find_operator(known);
        if (name.empty() ? known.find('.') == std::string::npos && !op->is_chain() : known == name)
            operators.push_back(op);
    }
    if (!operators.empty()) return operators;
    const std::string near = did_you_mean(name, names);
    throw UsageError(fmt::format("there is no operator {}{}", name,
                                 near.empty() ? "; there are " + joined(names) : near));
}

std::string text_of(const std::string& file) {
    if (fs::is_directory(file))
        throw UsageError(
            fmt::format("can't read {0}: it is a folder; `gradverify new {0}` lists "
                        "its launchers",
                        file));
    if (auto text = read_file(file)) return std::move(*text);
    throw UsageError("can't read " + file);
}

Signature launcher_in(const std::string& file, const std::string& name) {
    const std::string text = text_of(file);
    if (auto signature = signature_of(text, name)) return *signature;
    const std::vector<std::string> names = names_of(launchers_of(text));
    throw UsageError(fmt::format("{} has no function {}; those that take tensors are {}{}", file,
                                 name, joined_or_none(names), did_you_mean(name, names)));
}

/// The command that drafts a launcher of this file.
std::string command_of(const std::string& file, const Signature& launcher,
                       const LikelyOperator& candidate) {
    const char* const operators = std::getenv(files_variable);
    const UserFiles own{
        .files = {file}, .apart = {}, .includes = {}, .definitions = {}, .libraries = {}};
    std::string text = fmt::format("gradverify new {}{}{} --launcher {} --operator {}", own.print(),
                                   operators ? " " : "", operators ? operators : "",
                                   launcher.scope + launcher.name, candidate.op->name);
    if (!tells_pass(candidate.matches)) text += " --pass " + candidate.matches.front().pass->name;
    return text;
}

const Operator& operator_of(const NewArguments& arguments, const Signature& launcher) {
    const std::vector<const Operator*> operators = operators_named(arguments.operator_name);
    if (operators.size() == 1) return *operators.front();
    const std::vector<LikelyOperator> candidates = candidates_for(launcher, operators);
    if (const Operator* const op = evident_operator(candidates)) return *op;
    std::vector<std::string> near;
    for (const LikelyOperator& candidate : candidates)
        if (near.size() < 3) near.push_back(candidate.op->name);
    throw UsageError(
        fmt::format("which operator {} computes can't be told: name it by --operator{}",
                    launcher.name, near.empty() ? "" : "; it could be " + joined(near, " or ")));
}

int list_launchers(const NewArguments& arguments) {
    const std::vector<const Operator*> operators = operators_named(arguments.operator_name);
    const bool is_folder = fs::is_directory(arguments.file);
    int count = 0;
    for (const std::string& file :
         is_folder ? source_files(arguments.file) : std::vector{arguments.file}) {
        const std::string text = text_of(file);
        // A draft registers a launcher; it has none.
        if (text.find("GRADVERIFY_KERNEL") != std::string::npos) continue;
        for (const Signature& launcher : launchers_of(text)) {
            std::vector<LikelyOperator> candidates = candidates_for(launcher, operators);
            if (evident_operator(candidates)) candidates.resize(1);
            if (candidates.size() > 3) candidates.resize(3);
            ++count;
            fmt::print("{}:{}: {}({})\n", file, launcher.line, launcher.scope + launcher.name,
                       joined(names_of(launcher.parameters)));
            for (const LikelyOperator& candidate : candidates)
                fmt::print("  {}.{}{}: {}\n", candidate.op->name,
                           print_pass(*candidate.matches.front().pass),
                           candidate.matches.front().is_whole() ? "" : ", in part",
                           command_of(file, launcher, candidate));
            if (candidates.empty())
                fmt::print(
                    "  of no operator here by its name or by what it takes: declare one in a "
                    "C++ file, and name both\n");
        }
    }
    if (count == 0)
        throw UsageError(arguments.file +
                         " has no function of the host that takes pointers or tensors");
    return exit_ok;
}

}  // namespace

int run_new(const NewArguments& arguments) {
    if (arguments.launcher.empty()) return list_launchers(arguments);
    const Signature launcher = launcher_in(arguments.file, arguments.launcher);
    const Operator& op = operator_of(arguments, launcher);
    const GlueMatch match = match_launcher(op, launcher, arguments.pass);
    const std::string path = arguments.output.empty()
                                 ? fs::path(arguments.file).stem().string() + "_glue.cu"
                                 : arguments.output;
    const fs::path folder = fs::absolute(path).parent_path();
    const std::string included = fs::proximate(fs::absolute(arguments.file), folder);
    const std::string before = read_file(path).value_or("");
    if (fs::exists(path) && !may_add_to(before, launcher, included))
        throw UsageError(path + " exists; name another file by --output");
    write_file(path, glue_of(op, launcher, match, included, before));

    fmt::print("{}: {}, {} as a kernel of {}.{}\n", before.empty() ? "written" : "added to", path,
               launcher.name, op.name, match.pass->name);
    for (const std::string& note : glue_notes(op, launcher, match)) fmt::print("{}\n", note);
    const char* const operators = std::getenv(files_variable);
    const UserFiles next{.files = {path}, .includes = {}, .definitions = {}, .libraries = {}};
    fmt::print("next: gradverify check {}{}\n", next.print(),
               operators ? std::string(" ") + operators : "");
    return exit_ok;
}

}  // namespace gradverify
