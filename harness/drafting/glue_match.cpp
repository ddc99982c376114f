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
        {"x", "in", "inp", "input", "inputs", "src", "a", "u"},
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
        {"in_h", "h", "height", "ih", "hin", "inh", "inheight", "inputheight", "hi", "imgh"},
        {"in_w", "w", "width", "iw", "win", "inw", "inwidth", "inputwidth", "wi", "imgw", "l"},
        {"filter_h", "kh", "r", "kernelh", "fh", "filterheight", "kernelheight", "ksizeh",
         "windowh", "kernelsizeh"},
        {"filter_w", "kw", "s", "kernelw", "fw", "filterwidth", "kernelwidth", "ksizew", "k",
         "windoww", "kernelsizew", "kernelsize", "ksize", "kernel"},
        {"window_h", "kh", "kernelh", "poolh", "filterh", "windowheight", "kernelheight",
         "poolheight", "ksizeh", "kernelsizeh"},
        {"window_w", "kw", "kernelw", "poolw", "filterw", "windowwidth", "kernelwidth", "poolwidth",
         "ksizew", "kernelsizew", "kernelsize", "ksize", "window", "kernel", "k"},
        {"out_h", "oh", "outh", "outheight", "outputheight", "outputh", "hout", "ho",
         "pooledheight", "pooledh"},
        {"out_w", "ow", "outw", "outwidth", "outputwidth", "outputw", "wout", "wo", "pooledwidth",
         "pooledw"},
        {"stride_h", "sh", "strideheight", "stridey"},
        {"stride_w", "sw", "stridewidth", "stridex", "stride"},
        {"padding_left_h", "padh", "ph", "pady", "padtop", "paddingh", "padheight",
         "paddingheight"},
        {"padding_left_w", "padw", "pw", "padx", "padleft", "paddingw", "pad", "padding",
         "padwidth", "paddingwidth"},
        {"padding_h", "padh", "ph", "pady", "padtop", "padheight", "paddingheight"},
        {"padding_w", "padw", "pw", "padx", "padleft", "pad", "padding", "padwidth",
         "paddingwidth"},
        {"dilation_h", "dilh", "dh", "dilationheight"},
        {"dilation_w", "dilw", "dw", "dilation", "dilationwidth"},
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

std::vector<std::string> names_for(const Synonyms& synonyms, const std::string& name) {
    std::vector<std::string> names{plain(name)};
    for (const auto& row : synonyms)
        if (row.front() == name) names.insert(names.end(), row.begin() + 1, row.end());
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
    return names;
}

/// 0 when the names have nothing in common.
int likeness_of_plain(const std::string& given, const std::vector<std::string>& names) {
    if (given.empty() || names.empty()) return 0;
    if (given == names.front()) return same_name;
    const auto is_known = [&](const std::string& name) {
        return std::ranges::find(names, name) != names.end();
    };
    if (is_known(given)) return other_name;
    // What a name for device memory begins or ends with.
    for (const std::string_view more : {"d", "dev", "gpu", "p", "device", "h", "host", "ptr"})
        if (given.starts_with(more) && is_known(given.substr(more.size()))) return alike;
    for (const std::string_view more : {"ptr", "d", "dev", "gpu", "data", "mat", "tensor"})
        if (given.ends_with(more) && is_known(given.substr(0, given.size() - more.size())))
            return alike;
    return 0;
}

/// Two names of a parameter: with what all tensors' names begin with, as in `d_x, d_y`, or without.
struct GivenName {
    std::string name, prefix;

    int likeness(const std::vector<std::string>& names) const {
        if (!name.starts_with(prefix)) return likeness_of_plain(plain(name), names);
        return std::max(likeness_of_plain(plain(name.substr(prefix.size())), names),
                        likeness_of_plain(plain(name), names) - (prefix.empty() ? 0 : 1));
    }
};

bool is_pointer(const SignatureParameter& parameter) {
    return parameter.type.find('*') != std::string::npos;
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

constexpr std::string_view prefixes[] = {"d_",   "h_",      "p_",   "g_",
                                         "dev_", "device_", "gpu_", "host_"};

/// What the names of all tensors begin with, where there are several.
std::string shared_prefix(const Signature& launcher) {
    std::vector<SignatureParameter> tensors;
    std::ranges::copy_if(launcher.parameters, std::back_inserter(tensors), is_tensor);
    for (const std::string_view prefix : prefixes)
        if (tensors.size() > 1 && std::ranges::all_of(tensors, [&](const auto& tensor) {
                return tensor.name.starts_with(prefix);
            }))
            return std::string(prefix);
    return {};
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
        const auto is_written = [](const SignatureParameter& parameter) {
            return is_tensor(parameter) && !is_constant(parameter);
        };
        says_const_ = std::ranges::any_of(launcher.parameters, [](const auto& parameter) {
            return is_pointer(parameter) && is_constant(parameter);
        });
        writes_none_ = std::ranges::none_of(launcher.parameters, is_written);
    }

    GlueMatch match() {
        match_names();
        match_left_over();
        for (std::size_t i = 0; i < launcher_.parameters.size(); ++i)
            if (match_.arguments[i].text.empty())
                match_.arguments[i] = other_argument(launcher_.parameters[i]);
        match_parts_of_sizes();
        // A default will do for the last ones.
        while (!match_.arguments.empty() && match_.arguments.back().text.empty() &&
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
    bool is_output(const std::string& tensor) const {
        return std::ranges::find(pass_.outputs, tensor) != pass_.outputs.end();
    }
    /// Whether the parameter may be this tensor, by its type.
    bool admits(const SignatureParameter& parameter, const std::string& tensor) const {
        if (!is_pointer(parameter))
            return !is_output(tensor) || writes_none_ || !is_constant(parameter);
        // A launcher that writes `const` somewhere writes it wherever it only reads.
        if (is_constant(parameter) ? is_output(tensor) : says_const_ && !is_output(tensor))
            return false;
        const bool is_whole = parameter.type.find("int") != std::string::npos ||
                              parameter.type.find("long") != std::string::npos;
        return parameter.type.find("void") != std::string::npos ||
               is_whole == op_.tensor_named(tensor).holds_whole_numbers();
    }
    GlueArgument of_tensor(const std::string& tensor, std::size_t i, int score) const {
        return {.text = tensor_argument(tensor, launcher_.parameters[i].type),
                .tensor = tensor,
                .is_guessed = score < same_name,
                .score = score};
    }
    GlueArgument best_tensor(std::size_t i) const {
        GlueArgument best;
        const SignatureParameter& parameter = launcher_.parameters[i];
        for (const std::string& tensor : pass_.tensors()) {
            if (taken_.contains(tensor) || !admits(parameter, tensor)) continue;
            int score = GivenName{parameter.name, prefix_}.likeness(names_of_tensor(op_, tensor));
            if (score == 0) continue;
            if (is_pointer(parameter) && is_output(tensor) != is_constant(parameter)) ++score;
            if (score > best.score) best = of_tensor(tensor, i, score);
        }
        return best;
    }
    GlueArgument best_size(std::size_t i) const {
        GlueArgument best;
        const SignatureParameter& parameter = launcher_.parameters[i];
        for (const SizeName& size : sizes_) {
            if (taken_.contains(size.name) || size.is_real != is_real_type(parameter.type))
                continue;
            const int score = likeness_of_plain(plain(parameter.name),
                                                names_for(parameter_synonyms(), size.name));
            if (score > best.score) best = of_size(size, score);
        }
        return best;
    }
    static GlueArgument of_size(const SizeName& size, int score) {
        return {.text = size.text,
                .parameter = size.name,
                .is_guessed = score < same_name,
                .score = score};
    }
    void take(std::size_t i, GlueArgument argument) {
        taken_.insert(argument.tensor.empty() ? argument.parameter : argument.tensor);
        match_.arguments[i] = std::move(argument);
    }

    /// The surest first, so that `w` is the weight where something else is the input.
    void match_names() {
        for (int least = same_name; least > 0; --least)
            for (std::size_t i = 0; i < launcher_.parameters.size(); ++i) {
                if (!match_.arguments[i].text.empty()) continue;
                GlueArgument found =
                    is_tensor(launcher_.parameters[i]) ? best_tensor(i) : best_size(i);
                if (!found.text.empty() && found.score >= least) take(i, std::move(found));
            }
    }

    /// The only parameter without a match that satisfies this.
    template <class Condition>
    std::optional<std::size_t> only_parameter(const Condition& condition) const {
        std::optional<std::size_t> only;
        for (std::size_t i = 0; i < launcher_.parameters.size(); ++i) {
            if (!match_.arguments[i].text.empty() || !condition(launcher_.parameters[i])) continue;
            if (only) return std::nullopt;
            only = i;
        }
        return only;
    }
    /// Of the output, the input and the size without a match, where there is one of the kind.
    void match_left_over() {
        for (const auto* const names : {&pass_.outputs, &pass_.inputs}) {
            std::vector<std::string> left;
            std::ranges::copy_if(*names, std::back_inserter(left), [&](const std::string& tensor) {
                return !taken_.contains(tensor);
            });
            if (left.size() != 1) continue;
            if (names == &pass_.outputs && launcher_.results != Results::none) continue;
            const auto only = only_parameter([&](const SignatureParameter& parameter) {
                return is_tensor(parameter) && admits(parameter, left.front());
            });
            if (only) take(*only, left_over(of_tensor(left.front(), *only, alike)));
        }
        for (const bool is_real : {false, true}) {
            std::vector<SizeName> left;
            std::ranges::copy_if(sizes_, std::back_inserter(left), [&](const SizeName& size) {
                return !taken_.contains(size.name) && !size.is_derived && size.is_real == is_real;
            });
            const auto only = only_parameter([&](const SignatureParameter& parameter) {
                return !is_tensor(parameter) && is_real_type(parameter.type) == is_real &&
                       (is_real || is_whole_type(parameter.type));
            });
            if (left.size() == 1 && only && is_free(left.front().name))
                take(*only, left_over(of_size(left.front(), alike)));
        }
    }
    static GlueArgument left_over(GlueArgument argument) {
        argument.why = "what is left over";
        return argument;
    }
    static bool is_whole_type(const std::string& type) {
        return std::ranges::any_of(
            std::array{"int", "long", "size_t", "unsigned", "short"}, [&](const char* name) {
                return type.find(name) == 0 ||
                       type.find(std::string(" ") + name) != std::string::npos ||
                       type.find(std::string("::") + name) != std::string::npos;
            });
    }
    /// Not a flag, as `causal` is, which another whole number is not.
    bool is_free(const std::string& parameter) const {
        const ParameterSpec* const spec = find_named(op_.space.parameters(), parameter);
        return spec && (spec->is_real() || spec->maximum > 1);
    }

    /// What a launcher takes beside tensors and sizes.
    GlueArgument other_argument(const SignatureParameter& parameter) const {
        const auto made = [](std::string text, bool is_guessed) {
            return GlueArgument{.text = std::move(text), .is_guessed = is_guessed, .score = alike};
        };
        const std::string name = plain(parameter.name);
        if (parameter.type.find("tream") != std::string::npos)
            return made("call.launch.stream", false);
        if (is_tensor(parameter)) return {};
        if (is_real_type(parameter.type)) {
            const bool is_of_attention = find_named(op_.inputs, "q") &&
                                         find_named(op_.inputs, "k") &&
                                         find_named(op_.space.parameters(), "d");
            return is_of_attention && name.ends_with("scale")
                       ? made("1.0f / std::sqrt(static_cast<float>(call.d))", true)
                       : GlueArgument{};
        }
        if (name == "blocksize" || name == "threads" || name == "blockdim" || name == "nthreads")
            return made("256", true);
        for (const std::string_view count : {"numel", "size", "count", "total", "elements",
                                             "length", "n", "nelements", "totalsize"})
            if (name == count)
                return made(fmt::format("call.{}.elements()", member_of(pass_.tensors().front())),
                            true);
        return {};
    }
    /// `B, T` of an operator that has their product alone, as `rows`: one is that, the other 1.
    void match_parts_of_sizes() {
        const bool is_left = std::ranges::any_of(sizes_, [&](const SizeName& size) {
            return !size.is_real && !size.is_derived && !taken_.contains(size.name) &&
                   is_free(size.name);
        });
        if (is_left) return;
        for (std::size_t i = 0; i < launcher_.parameters.size(); ++i) {
            const auto& [type, name, has_default] = launcher_.parameters[i];
            const std::vector<std::string> parts{
                "t",       "s",    "l",  "seqlen", "seq",   "seqlength", "c",
                "h",       "w",    "hw", "height", "width", "depth",     "channels",
                "spatial", "time", "m",  "b",      "batch"};
            if (!match_.arguments[i].text.empty() || has_default || !is_whole_type(type) ||
                std::ranges::find(parts, plain(name)) == parts.end())
                continue;
            match_.arguments[i] = {.text = "1",
                                   .is_guessed = true,
                                   .score = 0,
                                   .why = op_.name + " has it in a size that another parameter is"};
        }
    }

    /// What the operator has and no argument is.
    void list_unused() {
        for (const std::string& tensor : pass_.tensors())
            if (!taken_.contains(tensor) &&
                std::ranges::find(match_.results, tensor) == match_.results.end())
                match_.unused.push_back(tensor);
        for (const SizeName& size : sizes_) {
            if (size.is_derived || taken_.contains(size.name)) continue;
            match_.unused.push_back(size.text);
            add_condition(size);
        }
    }
    /// A launcher that lacks a parameter has the operator's default built in; or one size for two.
    void add_condition(const SizeName& size) {
        const std::vector<std::string> names = names_for(parameter_synonyms(), size.name);
        const std::string twin = size.name.ends_with("_h")
                                     ? size.name.substr(0, size.name.size() - 1) + "w"
                                     : std::string();
        for (std::size_t i = 0; i < match_.arguments.size(); ++i) {
            const std::string& parameter = match_.arguments[i].parameter;
            const std::string given = plain(launcher_.parameters[i].name);
            const bool is_for_both =
                !parameter.empty() &&
                match_.arguments[i].text.find(".size(1)") == std::string::npos &&
                (parameter == twin
                     ? given.back() != 'w' && given.back() != 'x'
                     : find_named(op_.space.parameters(), size.name) && given != parameter &&
                           std::ranges::find(names, given) != names.end());
            if (!is_for_both) continue;
            match_.conditions.push_back(
                fmt::format(".where(\"{}\", gradverify::same_as(\"{}\"))", size.name, parameter));
            return;
        }
        // It may be one that is yet to be filled in.
        for (std::size_t i = 0; i < match_.arguments.size(); ++i)
            if (match_.arguments[i].text.empty() && !is_tensor(launcher_.parameters[i])) return;
        const std::string whole = parameter_of(size.name);
        const ParameterSpec& spec = *find_named(op_.space.parameters(), whole);
        std::string condition;
        const bool takes_saved = std::ranges::any_of(
            pass_.inputs, [&](const std::string& input) { return op_.is_output(input); });
        if (spec.is_real() && !takes_saved)
            condition = fmt::format(
                ".only_if(\"{0} = {1}\", [](const auto& problem) {{ return problem.real(\"{0}\") "
                "== "
                "{1}; }})",
                whole, print_exactly(spec.values.front()));
        else if (!spec.is_real() && !sets_a_size(op_, whole))
            condition = fmt::format(".where(\"{}\", gradverify::equals({}))", size.name,
                                    spec.default_value);
        if (!condition.empty()) match_.conditions.push_back(std::move(condition));
    }
    /// `stride` of `stride_h`, `padding` of `padding_left_h`.
    std::string parameter_of(const std::string& size) const {
        for (const ParameterSpec& spec : op_.space.parameters())
            if (size == spec.name ||
                (spec.kind != ParameterKind::scalar && size.starts_with(spec.name + "_")))
                return spec.name;
        return size;
    }

    const Operator& op_;
    const PassSpec& pass_;
    const Signature& launcher_;
    const std::string prefix_;
    const std::vector<SizeName> sizes_;
    bool says_const_ = false, writes_none_ = false;
    std::set<std::string> taken_;
    GlueMatch match_{};
};

/// Whether a name speaks of gradients (-1) or of the forward pass (1), and not of both; else 0.
int direction_of(const std::string& name) {
    const auto has = [&](std::initializer_list<std::string_view> words) {
        return std::ranges::any_of(words, [&](std::string_view word) {
            return plain(name).find(word) != std::string::npos;
        });
    };
    const bool is_backward = has({"backward", "bwd", "backprop", "grad", "vjp"}) ||
                             name.ends_with("_bw") || name.find("_bw_") != std::string::npos;
    const bool is_forward =
        has({"forward", "fwd"}) || name.ends_with("_fw") || name.find("_fw_") != std::string::npos;
    return is_backward == is_forward ? 0 : is_forward ? 1 : -1;
}

}  // namespace

int GlueMatch::score() const {
    int sum = 0;
    for (const GlueArgument& argument : arguments)
        sum += argument.text.empty() ? -3 : argument.score;
    for (const std::string& input : pass->inputs)
        if (std::ranges::find(unused, input) != unused.end()) sum -= 2;
    return sum - 4 * static_cast<int>(unmatched_outputs.size());
}

bool GlueMatch::is_whole() const {
    return unmatched_outputs.empty() &&
           std::ranges::none_of(arguments, &std::string::empty, &GlueArgument::text) &&
           std::ranges::none_of(pass->inputs, [&](const std::string& input) {
               return std::ranges::find(unused, input) != unused.end();
           });
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
                                     print_passes(op), did_you_mean(pass, names_of(op.passes))));
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
