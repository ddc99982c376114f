// SPDX-License-Identifier: Apache-2.0
// The verb `new`: a first draft of the file that registers a launcher.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "harness/base/errors.hpp"
#include "harness/base/files.hpp"
#include "harness/base/text.hpp"
#include "harness/cli/verbs.hpp"
#include "harness/drafting/glue.hpp"
#include "harness/drafting/user_files.hpp"
#include "harness/registry/registry.hpp"
#include "harness/run/selection.hpp"

namespace gradverify {

namespace {

namespace fs = std::filesystem;

const Operator& operator_named(const std::string& name) {
    const Registry& registry = Registry::instance();
    if (const Operator* const op = registry.find_operator(name)) return *op;
    const std::vector<std::string> names = registry.operator_names();
    throw UsageError(fmt::format("there is no operator {}; there are {}{}", name, joined(names),
                                 did_you_mean(name, names)));
}

Signature launcher_in(const std::string& file, const std::string& name) {
    const std::optional<std::string> text = read_file(file);
    if (!text) throw UsageError("can't read " + file);
    if (auto signature = signature_of(*text, name)) return *signature;
    const std::vector<std::string> names = launcher_names(*text);
    throw UsageError(fmt::format("{} has no function {}; those that take tensors are {}{}", file,
                                 name, joined_or_none(names), did_you_mean(name, names)));
}

}  // namespace

int run_new(const NewArguments& arguments) {
    const Operator& op = operator_named(arguments.operator_name);
    const Signature launcher = launcher_in(arguments.file, arguments.launcher);
    const GlueMatch match = match_launcher(op, launcher, arguments.pass);
    const std::string path = arguments.output.empty()
                                 ? fs::path(arguments.file).stem().string() + "_glue.cu"
                                 : arguments.output;
    if (fs::exists(path)) throw UsageError(path + " exists; name another file by --output");
    const fs::path folder = fs::absolute(path).parent_path();
    const std::string included = fs::proximate(fs::absolute(arguments.file), folder);
    write_file(path, glue_of(op, launcher, match, included, arguments.launcher));

    fmt::print("written: {}, {} as a kernel of {}.{}\n", path, launcher.name, op.name,
               match.pass->name);
    for (const std::string& note : glue_notes(op, launcher, match)) fmt::print("{}\n", note);
    const char* const operators = std::getenv(files_variable);
    const UserFiles next{.files = {path}, .includes = {}, .definitions = {}, .libraries = {}};
    fmt::print("next: gradverify check {}{}\n", next.print(),
               operators ? std::string(" ") + operators : "");
    return exit_ok;
}

}  // namespace gradverify
