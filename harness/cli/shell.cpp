// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/shell.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "harness/base/errors.hpp"
#include "harness/base/text.hpp"
#include "harness/base/version.hpp"

namespace gradverify {

namespace {

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
    std::vector<const CLI::App*> verbs;
    for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
        if (!verb->get_group().empty()) verbs.push_back(verb);
    return verbs;
}

/// Those that begin with dashes, without their dashes.
std::vector<std::string> names_of(const CLI::Option& option) { return option.get_lnames(); }

template <class Visit>
void for_each_option(const CLI::App& verb, const Visit& visit) {
    for (const CLI::Option* option : verb.get_options())
        for (const std::string& name : names_of(*option)) visit(name, *option);
}

std::string options_of(const CLI::App& verb) {
    std::string words;
    for_each_option(verb, [&](const std::string& name, const CLI::Option&) {
        words += (words.empty() ? "--" : " --") + name;
    });
    return words;
}

/// With each of some characters behind a backslash.
std::string escaped(std::string_view text, std::string_view special) {
    std::string safe;
    for (const char c : text) {
        if (special.find(c) != std::string_view::npos) safe += '\\';
        safe += c;
    }
    return safe;
}

std::string bash_of(const CLI::App& app) {
    std::string names, cases;
    for (const CLI::App* verb : verbs_of(app)) {
        names += (names.empty() ? "" : " ") + verb->get_name();
        cases += fmt::format("        {}) words='{}' ;;\n", verb->get_name(), options_of(*verb));
    }
    return fmt::format(
        "_gradverify() {{\n"
        "    local words='{}'\n"
        "    ((COMP_CWORD == 1)) || case ${{COMP_WORDS[1]}} in\n{}"
        "        *) words='' ;;\n"
        "    esac\n"
        "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"${{COMP_WORDS[COMP_CWORD]}}\")\n"
        "}}\n"
        "complete -o default -F _gradverify gradverify\n",
        names, cases);
}

std::string zsh_of(const CLI::App& app) {
    std::string names, cases;
    for (const CLI::App* verb : verbs_of(app)) {
        names += fmt::format(" {}", shell_quoted(verb->get_name() + ":" + verb->get_description()));
        std::string options;
        for_each_option(*verb, [&](const std::string& name, const CLI::Option& option) {
            options += fmt::format(
                " {}", shell_quoted(fmt::format("--{}[{}]", name,
                                                escaped(option.get_description(), "[]:"))));
        });
        cases +=
            fmt::format("        {}) _arguments -s{} '*: :_files' ;;\n", verb->get_name(), options);
    }
    return fmt::format(
        "#compdef gradverify\n"
        "_gradverify() {{\n"
        "    local -a verbs=({})\n"
        "    if ((CURRENT == 2)); then\n"
        "        _describe command verbs\n"
        "        return\n"
        "    fi\n"
        "    local verb=$words[2]\n"
        "    shift words\n"
        "    ((CURRENT--))\n"
        "    case $verb in\n{}"
        "    esac\n"
        "}}\n"
        // As a file of $fpath it is called with the words to complete, else it is sourced.
        "if [[ $funcstack[1] == _gradverify ]]; then\n"
        "    _gradverify \"$@\"\n"
        "else\n"
        "    compdef _gradverify gradverify\n"
        "fi\n",
        names, cases);
}

std::string fish_of(const CLI::App& app) {
    std::string text;
    for (const CLI::App* verb : verbs_of(app)) {
        text += fmt::format("complete -c gradverify -n __fish_use_subcommand -a {} -d {}\n",
                            verb->get_name(), shell_quoted(verb->get_description()));
        for_each_option(*verb, [&](const std::string& name, const CLI::Option& option) {
            text += fmt::format(
                "complete -c gradverify -n '__fish_seen_subcommand_from {}' -l {} -d {}\n",
                verb->get_name(), name, shell_quoted(option.get_description()));
        });
    }
    return text;
}

/// Text of a man page: lines that begin with a dot, and dashes, mean something to it.
std::string roff(std::string_view text) {
    std::string safe = escaped(text, "-\\");
    for (std::size_t at = 0; (at = safe.find("\n.", at)) != std::string::npos; at += 4)
        safe.insert(at + 1, "\\&");
    return safe;
}

}  // namespace

std::string completion_of(const CLI::App& app, const std::string& shell) {
    if (shell == "bash") return bash_of(app);
    if (shell == "zsh") return zsh_of(app);
    if (shell == "fish") return fish_of(app);
    throw UsageError("there are completions for bash, zsh and fish, not for " + shell);
}

std::string man_page_of(const CLI::App& app) {
    std::string text = fmt::format(
        ".TH GRADVERIFY 1 \"\" \"gradverify {}\"\n.SH NAME\ngradverify \\- verifies GPU gradient "
        "kernels\n.SH DESCRIPTION\n{}\n",
        version, roff(app.get_description()));
    for (const CLI::App* verb : verbs_of(app)) {
        text += fmt::format(".SH {}\n{}\n", verb->get_name(), roff(verb->get_description()));
        for (const CLI::Option* option : verb->get_options())
            text += fmt::format(".TP\n.B {}\n{}\n", roff(option->get_name(false, true)),
                                roff(option->get_description()));
        if (!verb->get_footer().empty())
            text += ".PP\n.nf\n" + roff(verb->get_footer()) + "\n.fi\n";
    }
    return text + ".SH EXIT CODES\n.nf\n" + roff(app.get_footer()) + "\n.fi\n";
}

}  // namespace gradverify
