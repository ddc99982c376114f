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

std::string options_of(const CLI::App& verb) {
    std::string words;
    for (const CLI::Option* option : verb.get_options())
        for (const std::string& name : option->get_lnames()) words += " --" + name;
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

// $1 is the program as it was typed, $2 the word to complete, $3 the one before. Which kernels and
// operators there are, the program says itself.
constexpr const char* bash_script = R"(_gradverify() {{
    local verb=${{COMP_WORDS[1]}} before=$3 words=''
    [[ $before == = ]] && before=${{COMP_WORDS[COMP_CWORD - 2]}}
    if ((COMP_CWORD == 1)); then
        words='{verbs}'
    elif [[ $before == --device ]]; then
        words='cpu cuda auto all'
    elif [[ $before == --property ]]; then
        words='{properties}'
    elif [[ $before == --operator ]]; then
        words=$("$1" list 2>/dev/null | sed -n 's|^\([^ ]*\)\.[^. ]*/.*|\1|p')
    elif [[ $2 == -* ]]; then
        case $verb in
{options}        esac
    else
        case $verb in
            list | check | judge | bench)
                words=$("$1" list 2>/dev/null | sed -n 's|^\([^ ]*\)\(\.[^. ]*/.*\)|\1\2 \1.*|p') ;;
            completion) words=bash ;;
        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "${{2#=}}" | sort -u)
}}
complete -o default -F _gradverify gradverify
)";

constexpr const char* examples =
    R"(.TP
.B gradverify new my.cu \-\-launcher layernorm_backward \-\-operator layer_norm
drafts my_glue.cu, which registers a kernel
.TP
.B gradverify check my.cu my_glue.cu
builds both files and verifies what they register
.TP
.B gradverify check softmax \-\-device cpu \-\-time 5m
verifies all kernels with softmax in their names
.TP
.B gradverify repro 'v1:relu.forward/naive:repeatable:cpu:n=1:seed=1'
runs a case again, as a report's last line has it
)";

/// Text of a man page: lines that begin with a dot, and dashes, mean something to it.
std::string roff(std::string_view text) {
    std::string safe = escaped(text, "-\\");
    for (std::size_t at = 0; (at = safe.find("\n.", at)) != std::string::npos; at += 4)
        safe.insert(at + 1, "\\&");
    return safe;
}

}  // namespace

std::vector<std::string> verb_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* verb : verbs_of(app)) names.push_back(verb->get_name());
    return names;
}

std::string completion_of(const CLI::App& app, const std::string& shell,
                          const std::vector<const Property*>& properties) {
    if (shell != "bash") throw UsageError("there are completions for bash, not for " + shell);
    std::string options;
    for (const CLI::App* verb : verbs_of(app))
        options +=
            fmt::format("            {}) words='{}' ;;\n", verb->get_name(), options_of(*verb));
    return fmt::format(bash_script, fmt::arg("verbs", joined(verb_names(app), " ")),
                       fmt::arg("properties", joined(names_of(properties), " ")),
                       fmt::arg("options", options));
}

std::string man_page_of(const CLI::App& app) {
    std::string text = fmt::format(
        ".TH GRADVERIFY 1 \"\" \"gradverify {}\"\n.SH NAME\ngradverify \\- verifies GPU gradient "
        "kernels\n.SH SYNOPSIS\n",
        version);
    for (const CLI::App* verb : verbs_of(app)) {
        std::string words;
        for (const CLI::Option* option : verb->get_options())
            if (option->get_positional())
                words += option->get_required() ? " " + option->get_name()
                                                : " [" + option->get_name() + "...]";
        text +=
            fmt::format(".B gradverify {}\n[OPTION...]{}\n.br\n", verb->get_name(), roff(words));
    }
    text += fmt::format(".SH DESCRIPTION\n{}\n.PP\n.nf\n{}\n.fi\n", roff(app.get_description()),
                        roff(app.get_footer().substr(0, app.get_footer().find("Exit codes"))));
    for (const CLI::App* verb : verbs_of(app)) {
        text += fmt::format(".SH {}\n{}\n", verb->get_name(), roff(verb->get_description()));
        for (const CLI::Option* option : verb->get_options())
            text += fmt::format(".TP\n.B {}\n{}\n", roff(option->get_name(false, true)),
                                roff(option->get_description()));
        if (!verb->get_footer().empty())
            text += ".PP\n.nf\n" + roff(verb->get_footer()) + "\n.fi\n";
    }
    return text + ".SH EXIT STATUS\n.nf\n" + roff(exit_codes) + "\n.fi\n.SH EXAMPLES\n" + examples;
}

}  // namespace gradverify
