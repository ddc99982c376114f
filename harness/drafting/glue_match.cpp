// SPDX-License-Identifier: Apache-2.0
// Matches what a launcher takes with a pass's tensors and parameters, by their names.
#include "harness/drafting/glue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <utility>

#include "harness/base/errors.hpp"
#include "harness/base/text.hpp"

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
        {"index", "indices", "idx", "ids", "tokens"},
    };
    return synonyms;
}

const Synonyms& parameter_synonyms() {
    static const Synonyms synonyms{
        {"n", "batch", "batchsize", "bs", "b", "num", "images", "nb"},
        {"c", "inchannels", "channelsin", "cin", "ic", "channels", "inc", "ci"},
        {"k", "outchannels", "channelsout", "cout", "oc", "m", "outc", "co", "numfilters"},
        {"in_h", "h", "height", "ih", "hin", "inh", "inheight", "inputheight", "hi", "imgh"},
        {"in_w", "w", "width", "iw", "win", "inw", "inwidth", "inputwidth", "wi", "imgw", "l"},
        {"filter_h", "kh", "r", "kernelh", "fh", "filterheight", "kernelheight", "ksizeh",
         "windowh", "kernelsizeh"},
        {"filter_w", "kw", "s", "kernelw", "fw", "filterwidth", "kernelwidth", "ksizew", "k",
         "windoww", "kernelsizew", "kernelsize", "ksize"},
        {"window_h", "kh", "kernelh", "poolh", "filterh", "windowheight", "kernelheight",
         "poolheight", "ksizeh", "kernelsizeh"},
        {"window_w", "kw", "kernelw", "poolw", "filterw", "windowwidth", "kernelwidth", "poolwidth",
         "ksizew", "kernelsizew", "kernelsize", "ksize", "window", "k"},
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
        {"rows", "n", "n1", "nrows", "numrows", "b", "batch", "m", "outersize", "outerdim", "bt"},
        {"width", "c", "n2", "cols", "ncols", "d", "dim", "hidden", "hiddensize", "channels",
         "normsize", "innersize", "innerdim", "features"},
        {"classes", "c", "v", "vocab", "numclasses", "vocabsize"},
        {"tokens", "n", "t", "numtokens", "length"},
        {"v", "c", "vocab", "vocabsize", "classes", "numclasses", "numembeddings", "numweights"},
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
int likeness(const std::string& given, const std::vector<std::string>& names) {
    if (given.empty() || names.empty()) return 0;
    if (given == names.front()) return same_name;
    if (std::ranges::find(names, given) != names.end()) return other_name;
    // What a name for device memory begins or ends with.
    for (const std::string_view more : {"d", "dev", "gpu", "p", "device"})
        if (given.starts_with(more) &&
            std::ranges::find(names, given.substr(more.size())) != names.end())
            return alike;
    for (const std::string_view more : {"ptr", "d", "dev", "gpu", "data", "mat", "tensor"})
        if (given.ends_with(more) && given.size() > more.size() &&
            std::ranges::find(names, given.substr(0, given.size() - more.size())) != names.end())
            return alike;
    return 0;
}

bool is_tensor_type(const std::string& type) {
    return type.find('*') != std::string::npos || type.find("Tensor") != std::string::npos;
}
bool is_real_type(const std::string& type) {
    return type.find("float") != std::string::npos || type.find("double") != std::string::npos;
}

/// How a tensor is given to a parameter of this type.
std::string tensor_argument(const std::string& tensor, const std::string& type) {
    if (type.find('*') == std::string::npos) return fmt::format("call.{}.tensor()", tensor);
    const std::string element = type.substr(0, type.find('*'));
    if (element == "void" || element == "const void") return fmt::format("call.{}.data", tensor);
    return fmt::format("call.{}.as<{}>()", tensor, element);
}

bool is_constant(const SignatureParameter& parameter) {
    return parameter.type.starts_with("const ");
}

GlueArgument best_tensor(const Operator& op, const PassSpec& pass,
                         const SignatureParameter& parameter, bool says_const,
                         const std::set<std::string>& taken) {
    GlueArgument best;
    const bool is_const = is_constant(parameter);
    for (const std::string& tensor : pass.tensors()) {
        if (taken.contains(tensor)) continue;
        const bool is_output = std::ranges::find(pass.outputs, tensor) != pass.outputs.end();
        int score = likeness(plain(parameter.name), names_of_tensor(op, tensor));
        if (score == 0 || (is_const && is_output)) continue;
        // A launcher that writes `const` somewhere writes it wherever it only reads.
        const bool is_pointer = parameter.type.find('*') != std::string::npos;
        if (is_pointer && says_const && is_output == is_const) continue;
        if (is_pointer && is_output != is_const) ++score;
        if (score > best.score)
            best = {.text = tensor_argument(tensor, parameter.type),
                    .tensor = tensor,
                    .is_guessed = score < same_name,
                    .score = score};
    }
    return best;
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
                names.push_back({.name = rank == 1 || axis == 1 ? "out_w" : "out_h",
                                 .text = fmt::format("call.{}.size({})", tensor, 2 + axis),
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
            names.push_back({spec.name, fmt::format("call.{}", spec.name), spec.is_real()});
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

GlueArgument best_size(const Operator& op, const PassSpec& pass,
                       const SignatureParameter& parameter, const std::set<std::string>& taken) {
    GlueArgument best;
    for (const SizeName& size : size_names(op, pass)) {
        if (taken.contains(size.name) || size.is_real != is_real_type(parameter.type)) continue;
        const int score =
            likeness(plain(parameter.name), names_for(parameter_synonyms(), size.name));
        if (score > best.score)
            best = {.text = size.text,
                    .parameter = size.name,
                    .is_guessed = score < same_name,
                    .score = score};
    }
    return best;
}

/// What a launcher takes beside tensors and sizes.
GlueArgument other_argument(const PassSpec& pass, const SignatureParameter& parameter) {
    const auto made = [](std::string text, bool is_guessed) {
        return GlueArgument{.text = std::move(text), .is_guessed = is_guessed, .score = alike};
    };
    const std::string name = plain(parameter.name);
    if (parameter.type.find("tream") != std::string::npos) return made("call.launch.stream", false);
    if (is_tensor_type(parameter.type) || is_real_type(parameter.type)) return {};
    if (name == "blocksize" || name == "threads" || name == "blockdim" || name == "nthreads")
        return made("256", true);
    for (const std::string_view count :
         {"numel", "size", "count", "total", "elements", "length", "n", "nelements", "totalsize"})
        if (name == count)
            return made(fmt::format("call.{}.elements()", pass.tensors().front()), true);
    return {};
}

/// What the operator has and no argument is.
std::vector<std::string> unused(const Operator& op, const GlueMatch& match) {
    std::vector<std::string> names;
    const auto add = [&](const std::string& name, std::string GlueArgument::* of_argument) {
        if (std::ranges::find(match.arguments, name, of_argument) == match.arguments.end())
            names.push_back(name);
    };
    for (const std::string& tensor : match.pass->tensors())
        if (std::ranges::find(match.results, tensor) == match.results.end())
            add(tensor, &GlueArgument::tensor);
    for (const SizeName& size : size_names(op, *match.pass))
        if (!size.is_derived &&
            std::ranges::find(match.arguments, size.name, &GlueArgument::parameter) ==
                match.arguments.end())
            names.push_back(size.text);
    return names;
}

GlueMatch match_pass(const Operator& op, const PassSpec& pass, const Signature& launcher) {
    GlueMatch match{
        .pass = &pass, .arguments = {}, .results = {}, .unmatched_outputs = {}, .unused = {}};
    match.arguments.resize(launcher.parameters.size());
    std::set<std::string> taken;
    const bool says_const = std::ranges::any_of(launcher.parameters, is_constant);
    // The surest first, so that `w` is the weight where something else is the input.
    for (int least = same_name; least > 0; --least)
        for (std::size_t i = 0; i < launcher.parameters.size(); ++i) {
            const SignatureParameter& parameter = launcher.parameters[i];
            if (!match.arguments[i].text.empty()) continue;
            const bool is_tensor = is_tensor_type(parameter.type);
            GlueArgument found = is_tensor ? best_tensor(op, pass, parameter, says_const, taken)
                                           : best_size(op, pass, parameter, taken);
            if (found.text.empty() || found.score < least) continue;
            taken.insert(is_tensor ? found.tensor : found.parameter);
            match.arguments[i] = std::move(found);
        }
    for (std::size_t i = 0; i < launcher.parameters.size(); ++i)
        if (match.arguments[i].text.empty())
            match.arguments[i] = other_argument(pass, launcher.parameters[i]);
    // A default will do for the last ones.
    while (!match.arguments.empty() && match.arguments.back().text.empty() &&
           launcher.parameters[match.arguments.size() - 1].has_default)
        match.arguments.pop_back();
    for (const std::string& output : pass.outputs) {
        if (taken.contains(output)) continue;
        const bool is_result = launcher.results == Results::list ||
                               launcher.results == Results::tuple ||
                               (launcher.results == Results::tensor && match.results.empty());
        (is_result ? match.results : match.unmatched_outputs).push_back(output);
    }
    match.unused = unused(op, match);
    return match;
}

}  // namespace

int GlueMatch::score() const {
    int sum = 0;
    for (const GlueArgument& argument : arguments)
        sum += argument.text.empty() ? -3 : argument.score;
    return sum - 4 * static_cast<int>(unmatched_outputs.size());
}

GlueMatch match_launcher(const Operator& op, const Signature& launcher, const std::string& pass) {
    if (!pass.empty() && !find_named(op.passes, pass))
        throw UsageError(fmt::format("{} has no pass {}; it has {}{}", op.name, pass,
                                     joined(names_of(op.passes)),
                                     did_you_mean(pass, names_of(op.passes))));
    std::optional<GlueMatch> best;
    for (const PassSpec& candidate : op.passes) {
        if (!pass.empty() && candidate.name != pass) continue;
        GlueMatch match = match_pass(op, candidate, launcher);
        if (!best || match.score() > best->score()) best = std::move(match);
    }
    return std::move(*best);
}

}  // namespace gradverify
