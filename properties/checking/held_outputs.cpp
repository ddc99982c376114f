// SPDX-License-Identifier: Apache-2.0
#include "properties/checking/held_outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gradverify {

namespace {

enum class Use { added_to, written_over, other };

/// From what an output holds after two calls, which found zeros and ones in it.
Use use_of(const std::vector<double>& after_zeros, const std::vector<double>& after_ones) {
    // A sum of larger elements is too coarse in short types to show the one.
    constexpr double telling = 64.0, error = 0.25;
    if (after_zeros == after_ones && !after_zeros.empty()) return Use::written_over;
    bool is_shown = false;
    for (std::size_t i = 0; i < after_zeros.size(); ++i) {
        const double before = after_zeros[i], difference = after_ones[i] - before;
        if (std::abs(before) >= telling) continue;
        if (!(std::abs(difference - 1.0) < error)) return Use::other;
        is_shown |= before != 0.0;  // an element that is not written differs by one as well
    }
    return is_shown ? Use::added_to : Use::other;
}

/// Whether the failure looks like one that what outputs held may explain.
bool may_be_of_held(const CaseContext& context, const Outcome& failed) {
    constexpr double times_larger = 1e4;
    if (failed.maps.empty()) return false;
    return context.declaration().adds_to_some() || failed.worst.empty() ||
           std::ranges::any_of(failed.worst, [](const WrongElement& wrong) {
               return !(std::abs(wrong.got) < times_larger * (1.0 + std::abs(wrong.want)));
           });
}

}  // namespace

std::string misuse_of_held_outputs(const CaseContext& context, const Outcome& failed) try {
    if (!may_be_of_held(context, failed)) return {};
    Case dense = context.checked();
    dense.data = {.seed = 1, .is_dense = true};
    CaseContext asked(dense, context.registry(), context.kind());
    const auto inputs = asked.inputs.of(asked.pass());
    std::vector<CallResult> results;
    for (const double held : {0.0, 1.0}) {
        std::vector<Array<double>> outputs;
        for (const std::string& name : asked.pass().outputs) {
            // Where an output lies over an input, it holds that.
            const bool is_input = asked.declaration().alias_of(name, dense.setting.place);
            outputs.push_back(is_input ? Array<double>()
                                       : filled(asked.op().sizes_of(name, asked.problem()), held));
        }
        results.push_back(asked.caller.call_with_outputs(outputs, inputs));
        if (!results.back().complaint().empty()) return {};
    }
    std::string text;
    for (std::size_t i = 0; i < asked.pass().outputs.size(); ++i) {
        const std::string& name = asked.pass().outputs[i];
        const bool may_add = asked.declaration().is_added_to(name);
        const Use use = use_of(results[0].outputs[i].data, results[1].outputs[i].data);
        if (use == Use::added_to && !may_add)
            text += fmt::format(
                "; it adds to {0}, which may hold anything before the call: write = instead of +=, "
                "clear {0} first, or declare .adds_to(\"{0}\")",
                name);
        if (use == Use::written_over && may_add)
            text += fmt::format(
                "; it writes over {0}, which it declares to add to: write += instead of =, or "
                "take back the declaration",
                name);
    }
    return text;
} catch (const NotServed&) {
    return {};
}

std::string misuse_of_workspace(CaseContext& context, const Outcome& failed) try {
    // Calls that differ of themselves tell nothing, and large ones take long.
    if (failed.maps.empty() || context.checked().setting.copies ||
        context.declaration().determinism != Determinism::bitwise)
        return {};
    const auto inputs = context.inputs.of(context.pass());
    std::vector<CallResult> results;
    for (const Poison scratch : {Poison::nan, Poison::nan, Poison::plausible}) {
        Surroundings surroundings = context.caller.surroundings();
        surroundings.scratch = scratch;
        results.push_back(
            context.caller.call(context.kernel(), inputs, context.checked().setting, surroundings));
        if (!results.back().ran()) return {};
    }
    if (results[0].output_bits != results[1].output_bits ||
        results[1].output_bits == results[2].output_bits)
        return {};
    const auto& [words, untouched] =
        std::pair(results[1].workspace_words, results[1].workspace_untouched);
    if (words == 0) return "; it reads memory that its launcher allocates and nobody has written";
    if (untouched == words) return "; it reads its workspace, which nobody has written";
    if (untouched > 0)
        return fmt::format(
            "; it reads its workspace, where nobody has written {} of {} words of 4 bytes",
            untouched, words);
    return "; it reads its workspace before it writes there";
} catch (const NotServed&) {
    return {};
}

}  // namespace gradverify
