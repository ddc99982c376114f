// SPDX-License-Identifier: Apache-2.0
// Drafts the file that registers a launcher: matches what the launcher takes with the tensors and
// parameters of an operator's pass, by their names, and says what it could not match.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/drafting/signature.hpp"
#include "harness/operators/operator.hpp"

namespace gradverify {

/// One argument of the launcher.
struct GlueArgument {
    std::string text;         ///< `call.x.as<const float>()`; empty when nothing fits
    std::string tensor{};     ///< the pass's tensor that it is; empty for none
    std::string parameter{};  ///< the operator's parameter that it is; empty for none
    bool is_guessed = false;  ///< the names are alike, not the same
    int score = 0;            ///< how alike
    std::string why{};        ///< of a guess that names don't tell
};

/// A pass, with an argument for each parameter of the launcher.
struct GlueMatch {
    const PassSpec* pass = nullptr;
    std::vector<GlueArgument>
        arguments;                     ///< without the last ones that have a default and no match
    std::vector<std::string> results;  ///< the outputs that it returns, in the pass's order
    std::vector<std::string> unmatched_outputs;
    std::vector<std::string> unused;  ///< tensors and parameters of the pass that no argument is
    /// Conditions of the registration, since the launcher lacks a parameter of the operator:
    /// `.where("causal", gradverify::equals(0))`.
    std::vector<std::string> conditions;

    /// The better one has the higher.
    int score() const;
    /// Every argument and every output has a match, and every input is taken.
    bool is_whole() const;
};

/// A match with each pass of the operator that the launcher's name leaves open, the best first.
std::vector<GlueMatch> matches_of(const Operator& op, const Signature& launcher);
/// Whether the first of these is the one that is meant.
bool tells_pass(const std::vector<GlueMatch>& matches);
/// The pass of the operator that the launcher fits best. With a pass's name, that one.
/// **Errors** UsageError for a pass that the operator lacks, and where several fit as well.
GlueMatch match_launcher(const Operator& op, const Signature& launcher, const std::string& pass);

/// An operator that a launcher may belong to.
struct LikelyOperator {
    const Operator* op = nullptr;
    std::vector<GlueMatch> matches;
    std::size_t named = 0;  ///< letters of the launcher's name that are the operator's; or 0
};
/// The likely ones among the operators, the best first.
std::vector<LikelyOperator> candidates_for(const Signature& launcher,
                                           const std::vector<const Operator*>& operators);
/// The only one that is likely, or null.
const Operator* evident_operator(const std::vector<LikelyOperator>& candidates);

/// What a pass struct calls a tensor or parameter: its name, or `grad_o` of the keyword `do`.
std::string member_of(const std::string& name);

/// The text of the file that includes `file` and registers the launcher, behind what stands in it
/// before. What could not be matched is a word that no compiler takes.
std::string glue_of(const Operator& op, const Signature& launcher, const GlueMatch& match,
                    const std::string& file, const std::string& before = {});
/// Whether a draft registers other launchers of the same file.
bool may_add_to(const std::string& draft, const Signature& launcher, const std::string& file);

/// A line for each guess, and for each parameter and output without a match.
std::vector<std::string> glue_notes(const Operator& op, const Signature& launcher,
                                    const GlueMatch& match);

}  // namespace gradverify
