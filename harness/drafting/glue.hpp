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
};

/// A pass, with an argument for each parameter of the launcher.
struct GlueMatch {
    const PassSpec* pass = nullptr;
    std::vector<GlueArgument>
        arguments;                     ///< without the last ones that have a default and no match
    std::vector<std::string> results;  ///< the outputs that it returns, in the pass's order
    std::vector<std::string> unmatched_outputs;
    std::vector<std::string> unused;  ///< tensors and parameters of the pass that no argument is

    /// The better one has the higher.
    int score() const;
};

/// The pass of the operator that the launcher fits best. With a pass's name, that one.
/// **Errors** UsageError for a pass that the operator lacks.
GlueMatch match_launcher(const Operator& op, const Signature& launcher, const std::string& pass);

/// The text of the file that includes `file` and registers the launcher as `variant`. What could
/// not be matched is a word that no compiler takes.
std::string glue_of(const Operator& op, const Signature& launcher, const GlueMatch& match,
                    const std::string& file, const std::string& variant);

/// A line for each guess, and for each parameter and output without a match.
std::vector<std::string> glue_notes(const Operator& op, const Signature& launcher,
                                    const GlueMatch& match);

}  // namespace gradverify
