// SPDX-License-Identifier: Apache-2.0
// Finds the operators that a launcher may be of, by its name and by what it takes.
#include <algorithm>
#include <cctype>
#include <functional>
#include <string_view>
#include <tuple>

#include "harness/drafting/glue.hpp"

namespace gradverify {

namespace {

/// Words in names of functions that mean an operator, beside its own name.
const std::vector<std::vector<std::string_view>>& words_of_operators() {
    static const std::vector<std::vector<std::string_view>> words{
        {"attention", "attn", "mha", "sdpa", "flash"},
        {"avgpool", "averagepool", "meanpool"},
        {"batch_norm", "bn"},
        {"bias_gelu", "gelu"},
        {"conv", "convolution"},
        {"cross_entropy", "xentropy", "xent", "nllloss"},
        {"embedding", "encoder", "embed", "wte"},
        {"fc", "linear", "matmul", "gemm", "dense", "fullyconnected"},
        {"group_norm", "gn"},
        {"layer_norm", "ln"},
        {"rope", "rotary"},
        {"selective_scan", "mamba", "ssm"},
        {"varlen_attention", "varlen"},
        {"softmax_cross_entropy", "crossentropysoftmax", "softmaxxent", "softmaxloss"},
    };
    return words;
}

/// The letters of a name that mean the operator: `layernorm` of `layernorm_backward`.
std::size_t letters_named(const std::string& name, const std::string& op) {
    std::string letters, words;
    for (const char c : name) {
        const char small = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        words += small;
        if (c != '_') letters += small;
    }
    std::size_t most = 0;
    const auto look_for = [&](std::string_view word) {
        std::string sought(word);
        std::erase(sought, '_');
        // A short one is a word by itself.
        const bool is_there =
            sought.size() > 2 ? letters.find(sought) != std::string::npos
                              : ("_" + words + "_").find("_" + sought + "_") != std::string::npos;
        if (is_there) most = std::max(most, sought.size());
    };
    look_for(op);
    for (const auto& row : words_of_operators())
        if (row.front() == op) std::ranges::for_each(row, look_for);
    return most;
}

}  // namespace

std::vector<LikelyOperator> candidates_for(const Signature& launcher,
                                           const std::vector<const Operator*>& operators) {
    std::vector<LikelyOperator> candidates;
    for (const Operator* const op : operators) {
        LikelyOperator candidate{op, matches_of(*op, launcher),
                                 letters_named(launcher.name, op->name)};
        if (candidate.named > 0 || candidate.matches.front().is_whole())
            candidates.push_back(std::move(candidate));
    }
    std::ranges::stable_sort(candidates, std::greater(), [](const LikelyOperator& candidate) {
        return std::tuple(candidate.named, candidate.matches.front().is_whole(),
                          candidate.matches.front().score());
    });
    return candidates;
}

const Operator* evident_operator(const std::vector<LikelyOperator>& candidates) {
    if (candidates.empty()) return nullptr;
    const bool is_only = candidates.size() == 1 || candidates[0].named > candidates[1].named;
    return is_only ? candidates[0].op : nullptr;
}

}  // namespace gradverify
