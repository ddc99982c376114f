// SPDX-License-Identifier: Apache-2.0
// Matches what a launcher takes with a pass's tensors and parameters, by their names.
#include "harness/drafting/glue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "harness/base/errors.hpp"
#include "harness/base/text.hpp"
#include "harness/operators/tensor_text.hpp"

namespace gradverify {

namespace {

constexpr int same_name = 6, other_name = 4, alike = 2;

/// Other names that people give to a tensor or parameter of the first name.
using Synonyms = std::vector<std::vector<std::string_view>>;

const Synonyms& tensor_synonyms() {
    static const Synonyms synonyms{
        {"x", "in", "inp", "input", "inputs", "src", "a", "u", "feat", "feats", "feature",
         "features"},
        {"y", "out", "output", "outputs", "dst", "result", "res", "o"},
        {"w", "weight", "weights", "filter", "filters", "kernel"},
        {"b", "bias", "biases"},
        {"gamma", "weight", "weights", "scale", "w", "g"},
        {"beta", "bias", "shift", "b"},
        {"mean", "mu", "means", "savemean", "savedmean"},
        {"rstd", "invstd", "invvar", "rsigma", "saveinvstd", "savedinvstd", "invsigma"},
        {"logits", "x", "in", "inp", "input"},
        {"probs", "prob", "softmax", "p", "probabilities"},
        {"labels", "label", "targets", "target", "y"},
        {"loss", "losses", "nll"},
        {"index", "indices", "idx", "ids", "tokens", "inp", "input"},
        {"weight", "w", "table", "wte", "emb", "embedding", "embeddings"},
        {"o", "out", "output", "outputs", "y", "result", "attn", "attnout"},
        {"q", "query", "queries"},
        {"k", "key", "keys"},
        {"v", "value", "values"},
        {"lse", "logsumexp", "softmaxlse", "l"},
    };
    return synonyms;
}

const Synonyms& parameter_synonyms() {
    static const Synonyms synonyms{
        {"n", "batch", "batchsize", "bs", "b", "num", "images", "nb"},
        {"c", "inchannels", "channelsin", "cin", "ic", "channels", "inc", "ci", "infeatures",
         "fin"},
        {"k", "outchannels", "channelsout", "cout", "oc", "m", "outc", "co", "numfilters",
         "outfeatures", "fout"},
        // An axis stands for `@`: h, height and y, or w, width and x.
        {"in_@", "@", "i@", "@in", "in@", "input@", "@i", "img@"},
        {"filter_@", "k@", "kernel@", "f@", "filter@", "ksize@", "window@", "kernelsize@"},
        {"window_@", "k@", "kernel@", "pool@", "filter@", "window@", "ksize@", "kernelsize@"},
        {"out_@", "o@", "out@", "output@", "@out", "@o", "pooled@"},
        {"stride_@", "s@", "stride@"},
        {"padding_left_@", "pad@", "p@", "padding@"},
        {"padding_@", "pad@", "p@", "padding@"},
        {"dilation_@", "dil@", "d@", "dilation@"},
        {"in_w", "l"},
        {"filter_h", "r"},
        {"filter_w", "s", "k", "kernelsize", "ksize", "kernel"},
        {"window_w", "kernelsize", "ksize", "window", "kernel", "k"},
        {"stride_w", "stride"},
        {"padding_left_h", "padtop"},
        {"padding_left_w", "padleft", "pad", "padding"},
        {"padding_h", "padtop"},
        {"padding_w", "padleft", "pad"},
        {"dilation_w", "dilation"},
        {"groups", "group", "g", "ngroups"},
        {"rows", "n", "n1", "nrows", "numrows", "b", "batch", "m", "outersize", "outerdim", "bt",
         "v", "vocab", "vocabsize", "numembeddings"},
        {"width", "c", "n2", "cols", "ncols", "d", "dim", "hidden", "hiddensize", "channels",
         "normsize", "innersize", "innerdim", "features"},
        {"classes", "c", "v", "vocab", "numclasses", "vocabsize"},
        {"tokens", "n", "t", "numtokens", "length"},
        {"v", "c", "vocab", "vocabsize", "classes", "numclasses", "numembeddings", "numweights"},
        {"b", "batch", "batchsize", "bs", "n", "nb"},
        {"h", "heads", "nh", "nhead", "nheads", "numheads", "head"},
        {"d", "headdim", "hd", "hs", "dh", "headsize", "dim", "dhead"},
        {"sq", "s", "t", "n", "l", "m", "nq", "seqlen", "seqlenq", "seq", "tq", "lq", "qlen"},
        {"sk", "s", "t", "n", "l", "nk", "seqlen", "seqlenk", "seqlenkv", "seq", "tk", "lk",
         "klen"},
        {"causal", "iscausal", "mask"},
        {"seqs", "b", "batch", "batchsize", "nseqs", "numseqs"},
        {"hk", "headsk", "numheadsk", "kvheads", "nkv"},
        {"eps", "epsilon"},
        {"pixels", "hw", "spatial", "spatialsize", "innersize"},
    };
    return synonyms;
}

/// In small letters, without underscores: `grad_Output` is `gradoutput`.
std::string plain(std::string_view name) {
    std::string text;
    for (const char c : name)
        if (c != '_') text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
}

std::vector<std::string> names_for(const Synonyms& synonyms, const std::string& name) {
    std::vector<std::string> names{plain(name)};
    const bool is_of_axis = name.ends_with("_h") || name.ends_with("_w");
    const auto words =
        name.ends_with("_h") ? std::array{"h", "height", "y"} : std::array{"w", "width", "x"};
    for (const auto& row : synonyms) {
        const bool is_of_axes = is_of_axis && row.front() == name.substr(0, name.size() - 1) + "@";
        if (row.front() != name && !is_of_axes) continue;
        for (std::size_t i = 1; i < row.size(); ++i)
            for (const std::string word : words) {
                std::string other(row[i]);
                if (is_of_axes) other.replace(other.find('@'), 1, word);
                names.push_back(other);
            }
    }
    return names;
}

/// The names of a tensor of a pass; those of a gradient or cotangent say so.
std::vector<std::string> names_of_tensor(const Operator& op, const std::string& tensor) {
    const bool is_forward_tensor =
        find_named(op.inputs, tensor) != nullptr || find_named(op.outputs, tensor) != nullptr;
    if (is_forward_tensor || !tensor.starts_with('d')) return names_for(tensor_synonyms(), tensor);
    std::vector<std::string> names;
    for (const std::string& name : names_for(tensor_synonyms(), tensor.substr(1)))
        for (const std::string_view form :
             {"d{}", "grad{}", "{}grad", "g{}", "dld{}", "dl{}", "diff{}", "{}diff", "delta{}"})
            names.push_back(fmt::format(fmt::runtime(form), name));
    if (tensor.substr(1) == op.outputs.front().name)
        for (const char* name : {"grad", "grads", "gradient", "upstream"}) names.push_back(name);
    return names;
}

/// 0 when the names have nothing in common.
int likeness(const std::string& given, const std::vector<std::string>& names) {
    if (given.empty() || names.empty()) return 0;
    if (given == names.front()) return same_name;
    if (has(names, given)) return other_name;
    // What a name for device memory begins or ends with.
    for (const std::string_view more : {"d", "dev", "gpu", "p", "device", "h", "host", "ptr"})
        if (given.starts_with(more) && has(names, given.substr(more.size()))) return alike;
    for (const std::string_view more : {"ptr", "d", "dev", "gpu", "data", "mat", "tensor"})
        if (given.ends_with(more) && has(names, given.substr(0, given.size() - more.size())))
            return alike;
    return 0;
}

bool is_pointer(const SignatureParameter& parameter) {
    return parameter.type.find('*') != std::string::npos &&
           parameter.type.find("**") == std::string::npos &&
           parameter.type.find("tream") == std::string::npos;
}
bool is_tensor(const SignatureParameter& parameter) {
    return is_pointer(parameter) || parameter.type.find("Tensor") != std::string::npos;
}
bool is_real_type(const std::string& type) {
    return type.find("float") != std::string::npos || type.find("double") != std::string::npos;
}

/// How a tensor is given to a parameter of this type.
std::string tensor_argument(const std::string& tensor, const std::string& type) {
    const std::string member = member_of(tensor);
    if (type.find('*') == std::string::npos) return fmt::format("call.{}.tensor()", member);
    const std::string element = type.substr(0, type.find('*'));
    if (element == "void" || element == "const void") return fmt::format("call.{}.data", member);
    return fmt::format("call.{}.as<{}>()", member, element);
}

bool is_constant(const SignatureParameter& parameter) {
    return parameter.type.starts_with("const ");
}

/// `stride_h` for an axis of its own, `size("stride", 0)` in a pass struct.
struct SizeName {
    std::string name, text;
    bool is_real = false;
    bool is_derived = false;  ///< from parameters: an extent of an output
};

/// The extents of the operator's first output on its spatial axes, by a tensor of the pass.
std::vector<SizeName> output_sizes(const Operator& op, const PassSpec& pass) {
    const int rank = op.outputs.empty() ? 0 : std::min(2, op.space.ranks().most);
    for (const std::string& tensor : pass.tensors())
        if (rank > 0 &&
            (tensor == op.outputs.front().name || tensor == "d" + op.outputs.front().name)) {
            std::vector<SizeName> names;
            names.reserve(2);
            for (int axis = 0; axis < rank; ++axis)
                names.push_back(
                    {.name = rank == 1 || axis == 1 ? "out_w" : "out_h",
                     .text = fmt::format("call.{}.size({})", member_of(tensor), 2 + axis),
                     .is_derived = true});
            return names;
        }
    return {};
}

std::vector<SizeName> size_names(const Operator& op, const PassSpec& pass) {
    std::vector<SizeName> names = output_sizes(op, pass);
    const int rank = std::min(2, op.space.ranks().most);
    for (const ParameterSpec& spec : op.space.parameters()) {
        if (spec.kind == ParameterKind::scalar) {
            names.push_back(
                {spec.name, fmt::format("call.{}", member_of(spec.name)), spec.is_real()});
            continue;
        }
        for (int axis = 0; axis < rank; ++axis) {
            const char* const letter = rank == 1 || axis == 1 ? "w" : "h";
            if (spec.kind == ParameterKind::per_axis)
                names.push_back({fmt::format("{}_{}", spec.name, letter),
                                 fmt::format("call.size(\"{}\", {})", spec.name, axis)});
            else
                names.push_back(
                    {fmt::format("{}_left_{}", spec.name, letter),
                     fmt::format("call.problem().on_axis(\"{}\", {}, gradverify::Side::left)",
                                 spec.name, axis)});
        }
    }
    return names;
}

/// The length of what the names of all tensors begin with, as in `d_x, d_y`; 0 for nothing.
std::size_t shared_prefix(const Signature& launcher) {
    for (const std::string_view prefix :
         {"d_", "h_", "p_", "g_", "dev_", "device_", "gpu_", "host_"})
        if (std::ranges::all_of(launcher.parameters, [&](const auto& parameter) {
                return !is_tensor(parameter) || parameter.name.starts_with(prefix);
            }))
            return prefix.size();
    return 0;
}

bool is_whole_type(const std::string& type) {
    return std::ranges::any_of(
        std::array{"int", "long", "size_t", "unsigned"},
        [&](const char* word) { return type.find(word) != std::string::npos; });
}

/// Finds an argument for each parameter of a launcher: by names, then what is left over.
class Matcher {
  public:
    Matcher(const Operator& op, const PassSpec& pass, const Signature& launcher)
        : op_(op),
          pass_(pass),
          launcher_(launcher),
          prefix_(shared_prefix(launcher)),
          sizes_(size_names(op, pass)) {
        match_.pass = &pass;
        match_.arguments.resize(launcher.parameters.size());
        for (const SignatureParameter& parameter : launcher.parameters) {
            says_const_ |= is_pointer(parameter) && is_constant(parameter);
            writes_some_ |= is_tensor(parameter) && !is_constant(parameter);
        }
    }

    GlueMatch match() {
        match_names();
        match_left_over();
        for (std::size_t i = 0; i < launcher_.parameters.size(); ++i)
            if (is_open(i)) match_.arguments[i] = other_argument(launcher_.parameters[i]);
        // A default will do for the last ones.
        while (!match_.arguments.empty() && is_open(match_.arguments.size() - 1) &&
               launcher_.parameters[match_.arguments.size() - 1].has_default)
            match_.arguments.pop_back();
        for (const std::string& output : pass_.outputs) {
            if (taken_.contains(output)) continue;
            const bool is_result = launcher_.results == Results::list ||
                                   launcher_.results == Results::tuple ||
                                   (launcher_.results == Results::tensor && match_.results.empty());
            (is_result ? match_.results : match_.unmatched_outputs).push_back(output);
        }
        list_unused();
        return std::move(match_);
    }

  private:
    bool is_open(std::size_t i) const { return match_.arguments[i].text.empty(); }
    bool is_left(const SizeName& size) const {
        return !size.is_derived && !taken_.contains(size.name);
    }
    /// Whether the parameter may be this tensor, by its type.
    bool admits(const SignatureParameter& parameter, const std::string& tensor) const {
        const bool is_output = has(pass_.outputs, tensor);
        if (!is_pointer(parameter))
            return is_tensor(parameter) && (!is_output || !writes_some_ || !is_constant(parameter));
        // A launcher that writes `const` somewhere writes it wherever it only reads.
        if (is_constant(parameter) ? is_output : says_const_ && !is_output) return false;
        return parameter.type.find("void") != std::string::npos ||
               is_whole_type(parameter.type) == op_.tensor_named(tensor).holds_whole_numbers();
    }
    /// The same for a size.
    static bool admits(const SignatureParameter& parameter, const SizeName& size) {
        const auto says = [&](const char* word) {
            return parameter.type.find(word) != std::string::npos;
        };
        return !is_tensor(parameter) && size.is_real == is_real_type(parameter.type) &&
               std::ranges::none_of(std::array{"*", "tream", "andle", "dim3"}, says);
    }
    GlueArgument as_tensor(const std::string& tensor, std::size_t i, int score) const {
        return {.text = tensor_argument(tensor, launcher_.parameters[i].type),
                .tensor = tensor,
                .is_guessed = score < same_name,
                .score = score};
    }
    static GlueArgument as_size(const SizeName& size, int score) {
        return {.text = size.text,
                .parameter = size.name,
                .is_guessed = score < same_name,
                .score = score};
    }
    GlueArgument best_argument(std::size_t i) const {
        GlueArgument best;
        const SignatureParameter& parameter = launcher_.parameters[i];
        const std::string given = plain(parameter.name);
        for (const std::string& tensor : pass_.tensors()) {
            if (taken_.contains(tensor) || !admits(parameter, tensor)) continue;
            const std::vector<std::string> names = names_of_tensor(op_, tensor);
            int score = likeness(given, names);
            if (prefix_ > 0)
                score = std::max(score - 1, likeness(plain(parameter.name.substr(prefix_)), names));
            if (score <= 0) continue;
            if (is_pointer(parameter) && has(pass_.outputs, tensor) != is_constant(parameter))
                ++score;
            if (score > best.score) best = as_tensor(tensor, i, score);
        }
        for (const SizeName& size : sizes_) {
            if (taken_.contains(size.name) || !admits(parameter, size)) continue;
            const int score = likeness(given, names_for(parameter_synonyms(), size.name));
            if (score > best.score) best = as_size(size, score);
        }
        return best;
    }
    void take(std::size_t i, GlueArgument argument) {
        taken_.insert(argument.tensor.empty() ? argument.parameter : argument.tensor);
        match_.arguments[i] = std::move(argument);
    }

    /// The surest first, so that `w` is the weight where something else is the input.
    void match_names() {
        for (int least = same_name; least > 0; --least)
            for (std::size_t i = 0; i < launcher_.parameters.size(); ++i) {
                GlueArgument found = is_open(i) ? best_argument(i) : GlueArgument{};
                if (!found.text.empty() && found.score >= least) take(i, std::move(found));
            }
    }

    /// The only open parameter that admits the only one that is left is this one.
    template <class Left, class Made>
    void match_only(const std::vector<Left>& left, const Made& made) {
        std::vector<std::size_t> open;
        for (std::size_t i = 0; left.size() == 1 && i < launcher_.parameters.size(); ++i)
            if (is_open(i) && admits(launcher_.parameters[i], left.front())) open.push_back(i);
        if (open.size() != 1) return;
        GlueArgument argument = made(left.front(), open.front());
        argument.why = "what is left over";
        take(open.front(), std::move(argument));
    }
    void match_left_over() {
        for (const auto* const names : {&pass_.outputs, &pass_.inputs}) {
            if (names == &pass_.outputs && launcher_.results != Results::none) continue;
            std::vector<std::string> left = *names;
            std::erase_if(left, [&](const auto& tensor) { return taken_.contains(tensor); });
            match_only(left, [&](const auto& tensor, std::size_t i) {
                return as_tensor(tensor, i, alike);
            });
        }
        for (const bool is_real : {false, true}) {
            std::vector<SizeName> left = sizes_;
            std::erase_if(left, [&](const SizeName& size) {
                return size.is_real != is_real || !is_left(size) || is_flag(size);
            });
            match_only(left,
                       [](const SizeName& size, std::size_t) { return as_size(size, alike); });
        }
    }
    /// 0 or 1, as `causal` is.
    bool is_flag(const SizeName& size) const {
        const ParameterSpec* const spec = find_named(op_.space.parameters(), size.name);
        return spec && !spec->is_real() && spec->maximum == 1;
    }

    /// What a launcher takes beside tensors and sizes.
    GlueArgument other_argument(const SignatureParameter& parameter) const {
        const auto made = [](std::string text, bool is_guessed, std::string why = "") {
            return GlueArgument{.text = std::move(text),
                                .is_guessed = is_guessed,
                                .score = alike,
                                .why = std::move(why)};
        };
        const std::string name = plain(parameter.name);
        if (is_tensor(parameter) || parameter.type.find('*') != std::string::npos) return {};
        if (parameter.type.find("tream") != std::string::npos)
            return made("call.launch.stream", false);
        if (is_real_type(parameter.type)) {
            const bool is_of_attention =
                has(names_of(op_.inputs), "q") && has(names_of(op_.space.parameters()), "d");
            if (!is_of_attention || !name.ends_with("scale")) return {};
            return made("1.0f / std::sqrt(static_cast<float>(call.d))", true);
        }
        if (name == "blocksize" || name == "threads" || name == "blockdim" || name == "nthreads")
            return made("256", true);
        if (has({"numel", "size", "count", "total", "elements", "length", "n", "nelements",
                 "totalsize"},
                name))
            return made(fmt::format("call.{}.elements()", member_of(pass_.tensors().front())),
                        true);
        // `B, T` of an operator that has their product alone, as `rows`: one is that, the other 1.
        const bool is_none_left = std::ranges::none_of(sizes_, [&](const SizeName& size) {
            return !size.is_real && is_left(size) && !is_flag(size);
        });
        if (is_none_left && has({"t", "s", "l", "m", "b", "c", "h", "w", "hw", "seqlen", "seq",
                                 "height", "width", "depth", "channels", "spatial", "batch"},
                                name))
            return made("1", true, op_.name + " has it in a size that another parameter is");
        return {};
    }

    /// What the operator has and no argument is.
    void list_unused() {
        for (const std::string& tensor : pass_.tensors())
            if (!taken_.contains(tensor) && !has(match_.results, tensor))
                match_.unused.push_back(tensor);
        for (const SizeName& size : sizes_) {
            if (!is_left(size)) continue;
            match_.unused.push_back(size.text);
            if (std::string condition = condition_on(size); !condition.empty())
                match_.conditions.push_back(std::move(condition));
        }
    }
    /// A launcher that lacks a parameter has one size for two, or the operator's default built in.
    std::string condition_on(const SizeName& size) const {
        const std::vector<std::string> names = names_for(parameter_synonyms(), size.name);
        const std::string twin = size.name.substr(0, size.name.size() - 1) + "w";
        bool is_any_open = false;
        for (std::size_t i = 0; i < match_.arguments.size(); ++i) {
            const std::string given = plain(launcher_.parameters[i].name);
            const std::string& other = match_.arguments[i].parameter;
            is_any_open |= is_open(i) && !is_tensor(launcher_.parameters[i]);
            if (other.empty() || given == plain(other)) continue;
            if (other == twin && size.name.ends_with("_h") ? !given.ends_with('w')
                                                           : has(names, given))
                return fmt::format(".where(\"{}\", gradverify::same_as(\"{}\"))", size.name, other);
        }
        const auto& specs = op_.space.parameters();
        const ParameterSpec& spec = *std::ranges::find_if(specs, [&](const ParameterSpec& known) {
            return size.name == known.name ||
                   (known.kind != ParameterKind::scalar && size.name.starts_with(known.name + "_"));
        });
        const bool takes_saved = std::ranges::any_of(
            pass_.inputs, [&](const std::string& input) { return op_.is_output(input); });
        // Behind one that is yet to be filled in it may be this one.
        if (is_any_open || (spec.is_real() ? takes_saved : sets_a_size(op_, spec.name))) return {};
        if (spec.is_real())
            return fmt::format(
                ".only_if(\"{0} = {1}\", [](const auto& problem) {{ return problem.real(\"{0}\") "
                "== "
                "{1}; }})",
                spec.name, print_exactly(spec.values.front()));
        return fmt::format(".where(\"{}\", gradverify::equals({}))", size.name, spec.default_value);
    }

    const Operator& op_;
    const PassSpec& pass_;
    const Signature& launcher_;
    const std::size_t prefix_;
    const std::vector<SizeName> sizes_;
    bool says_const_ = false, writes_some_ = false;
    std::set<std::string> taken_;
    GlueMatch match_{};
};

/// Whether a name speaks of gradients (-1) or of the forward pass (1), and not of both; else 0.
int direction_of(const std::string& name) {
    const auto says = [&](const std::vector<std::string>& words) {
        return std::ranges::any_of(words, [&](const std::string& word) {
            return plain(name).find(word) != std::string::npos;
        });
    };
    const std::string begins = name + "_";
    const bool is_backward = says({"backward", "bwd", "backprop", "grad", "vjp"}) ||
                             begins.find("_bw_") != std::string::npos;
    const bool is_forward = says({"forward", "fwd"}) || begins.find("_fw_") != std::string::npos;
    return static_cast<int>(is_forward) - static_cast<int>(is_backward);
}

}  // namespace

int GlueMatch::score() const {
    int sum = -4 * static_cast<int>(unmatched_outputs.size());
    for (const GlueArgument& argument : arguments)
        sum += argument.text.empty() ? -3 : argument.score;
    for (const std::string& input : pass->inputs) sum -= has(unused, input) ? 2 : 0;
    return sum;
}

bool GlueMatch::is_whole() const {
    return unmatched_outputs.empty() &&
           std::ranges::none_of(arguments, &std::string::empty, &GlueArgument::text) &&
           std::ranges::none_of(pass->inputs,
                                [&](const auto& input) { return has(unused, input); });
}

std::vector<GlueMatch> matches_of(const Operator& op, const Signature& launcher) {
    const int direction = direction_of(launcher.name);
    const auto may_be = [&](const PassSpec& pass) {
        return direction == 0 || pass.is_forward() == (direction > 0);
    };
    const bool is_told = std::ranges::any_of(op.passes, may_be);
    std::vector<GlueMatch> matches;
    for (const PassSpec& pass : op.passes)
        if (!is_told || may_be(pass)) matches.push_back(Matcher(op, pass, launcher).match());
    std::ranges::stable_sort(matches, std::greater(), &GlueMatch::score);
    return matches;
}

bool tells_pass(const std::vector<GlueMatch>& matches) {
    return matches.size() == 1 || matches[0].score() > std::max(0, matches[1].score() + 1) ||
           (matches[0].is_whole() && !matches[1].is_whole());
}

GlueMatch match_launcher(const Operator& op, const Signature& launcher, const std::string& pass) {
    if (!pass.empty()) {
        const PassSpec* const named = find_named(op.passes, pass);
        if (named) return Matcher(op, *named, launcher).match();
        throw UsageError(fmt::format("{} has no pass {}; it has {}{}", op.name, pass,
                                     joined(names_of(op.passes)),
                                     did_you_mean(pass, names_of(op.passes))));
    }
    std::vector<GlueMatch> matches = matches_of(op, launcher);
    if (!tells_pass(matches))
        throw UsageError(
            fmt::format("which pass of {} {} is can't be told: name it by --pass; "
                        "there are {}",
                        op.name, launcher.name, print_passes(op)));
    return std::move(matches.front());
}

}  // namespace gradverify
