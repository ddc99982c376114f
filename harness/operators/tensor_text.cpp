// SPDX-License-Identifier: Apache-2.0
#include "harness/operators/tensor_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <vector>

#include "harness/base/random.hpp"
#include "harness/base/text.hpp"

namespace gradverify {

namespace {

/// Problems whose parameters all differ, so that one that gives all sizes is the one they follow.
/// They need not be valid.
std::vector<Problem> probes_of(const Operator& op) {
    constexpr std::uint64_t count = 12;
    std::vector<Problem> probes(count, Problem(op.space, op.space.rank_max()));
    for (std::uint64_t i = 0; i < count; ++i)
        for (std::size_t at = 0; at < probes[i].slots().size(); ++at) {
            const ParameterSpec& spec = op.space.spec(probes[i].rank(), static_cast<int>(at));
            const std::uint64_t drawn = mix_seed(mix_seed(i, "probe"), std::to_string(at));
            const std::int64_t most = spec.is_real() ? 0 : std::int64_t{1} << (4 + drawn % 9);
            probes[i][static_cast<int>(at)] = std::min(
                spec.maximum, spec.minimum + static_cast<std::int64_t>(drawn >> 20) % (most + 1));
        }
    return probes;
}

/// For each probe the sizes of a tensor; empty where a shape function refuses a problem.
std::vector<Sizes> sizes_at(const Operator& op, std::string_view tensor,
                            std::vector<Problem>& probes) {
    std::vector<Sizes> sizes;
    std::erase_if(probes, [&](const Problem& problem) {
        try {
            sizes.push_back(op.sizes_of(tensor, problem));
        } catch (const std::exception&) {
            return true;
        }
        return false;
    });
    return sizes;
}

/// What gives the axis's size in all probes.
std::string print_size(const std::vector<Problem>& probes, const std::vector<Sizes>& sizes,
                       std::size_t axis) {
    const auto is_always = [&](const auto& function) {
        for (std::size_t i = 0; i < probes.size(); ++i)
            if (function(probes[i]) != sizes[i][axis]) return false;
        return true;
    };
    const std::int64_t first = sizes.front()[axis];
    if (is_always([&](const Problem&) { return first; })) return std::to_string(first);
    const std::vector<Slot>& slots = probes.front().slots();
    const int count = static_cast<int>(slots.size());
    const auto name = [&](int slot) { return slots[static_cast<std::size_t>(slot)].name; };
    for (int a = 0; a < count; ++a) {
        if (is_always([&](const Problem& p) { return p[a]; })) return name(a);
        if (is_always([&](const Problem& p) { return p[a] + 1; })) return name(a) + " + 1";
    }
    for (int a = 0; a < count; ++a)
        for (int b = 0; b < count; ++b) {
            if (a < b && is_always([&](const Problem& p) { return p[a] * p[b]; }))
                return name(a) + " * " + name(b);
            if (is_always([&](const Problem& p) { return p[b] == 0 ? 0 : p[a] / p[b]; }))
                return name(a) + " / " + name(b);
        }
    const int rank = probes.front().rank();
    if (rank == 0 || axis < 2) return "...";
    return rank == 1 || axis == static_cast<std::size_t>(rank) + 1 ? "out_w"
           : rank == 2 || axis == static_cast<std::size_t>(rank)   ? "out_h"
                                                                   : "out_d";
}

}  // namespace

std::string role_of(const Operator& op, const PassSpec& pass, const std::string& tensor) {
    const bool is_input = std::ranges::find(pass.inputs, tensor) != pass.inputs.end();
    if (is_input) return op.is_output(tensor) ? "saved" : "input";
    if (op.is_output(tensor)) return "output";
    return op.is_gradient(tensor) ? "gradient" : "gradient between layers";
}

std::string print_sizes(const Operator& op, std::string_view tensor) {
    std::vector<Problem> probes = probes_of(op);
    const std::vector<Sizes> sizes = sizes_at(op, tensor, probes);
    if (sizes.empty()) return "(...)";
    std::vector<std::string> names;
    for (std::size_t axis = 0; axis < sizes.front().size(); ++axis)
        names.push_back(print_size(probes, sizes, axis));
    return names.empty() ? "one number" : "(" + joined(names) + ")";
}

bool sets_a_size(const Operator& op, std::string_view parameter) {
    return std::ranges::any_of(op.inputs, [&](const TensorSpec& input) {
        std::string sizes = print_sizes(op, input.name);
        std::ranges::replace_if(
            sizes, [](char c) { return c == '(' || c == ')' || c == ','; }, ' ');
        bool is_divisor = false;
        for (const std::string_view word : split(sizes, ' ')) {
            if (!is_divisor && (word == "..." || word == parameter ||
                                word.starts_with(std::string(parameter) + '_')))
                return true;
            is_divisor = word == "/";
        }
        return false;
    });
}

std::string print_pass(const PassSpec& pass) {
    return fmt::format("{} ({} -> {})", pass.name, joined(pass.inputs), joined(pass.outputs));
}

std::string print_passes(const Operator& op) {
    std::vector<std::string> passes(op.passes.size());
    std::ranges::transform(op.passes, passes.begin(), print_pass);
    return joined(passes);
}

}  // namespace gradverify
