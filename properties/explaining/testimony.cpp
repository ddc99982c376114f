// SPDX-License-Identifier: Apache-2.0
#include "properties/explaining/testimony.hpp"

#include <fmt/format.h>

#include "properties/explaining/problem_values.hpp"

namespace gradverify {

namespace {

using Names = std::vector<std::string>;

// More names than this are counted.
constexpr std::size_t names_maximum = 2;

/// These words and the names of kernels, `A, B and 2 more kernels`.
std::string listed(Names words, std::initializer_list<Names> kernels) {
    for (const Names& names : kernels) {
        for (std::size_t i = 0; i < names.size() && i < names_maximum; ++i)
            words.push_back(names[i]);
        if (names.size() <= names_maximum) continue;
        const std::size_t more = names.size() - names_maximum;
        words.push_back(fmt::format("{} more kernel{}", more, more == 1 ? "" : "s"));
    }
    return enumerated(std::move(words));
}

}  // namespace

std::string judge(const Testimony& t) {
    const std::string reference = "the reference of " + t.pass;
    const std::string differences = t.is_forward
                                        ? "the reference's gradients (by finite differences)"
                                        : "finite differences of the reference's forward map";
    const std::string contradiction =
        "the reference contradicts itself: its " +
        (t.is_forward ? "gradients are not the derivatives of its forward map"
                      : t.pass + " is not the derivative of its forward map");
    const std::string nobody = fmt::format(" (no registered {} kernel could be asked)",
                                           t.is_forward ? "gradient" : "forward");
    const std::string allies = listed({}, {t.allies});

    if (t.kernel_is_reference && !t.reference_is_consistent)
        return contradiction + ", and the kernel agrees with its " + t.pass;
    if (t.kernel_is_reference)
        return fmt::format(
            "on integers, where nothing rounds, the kernel equals the reference: it "
            "is wrong by its rounding{} alone",
            t.saturates ? ", or by what it makes of numbers beyond the range," : "");

    if (t.reference_is_consistent && !t.kernel_is_consistent && t.sound_with.empty()) {
        const std::string against =
            listed({"the reference", differences}, {t.sound_against, t.peers_of_reference});
        if (t.allies.empty())
            return fmt::format("the kernel stands alone: {} agree against it{}", against,
                               t.sound_against.empty() ? nobody : "");
        if (!t.sound_against.empty() || !t.peers_of_reference.empty())
            return fmt::format(
                "the same misunderstanding in the kernel and in {}, which agree "
                "with each other (adjoint): {} agree against them",
                allies, against);
        return fmt::format(
            "the kernel and {} agree with each other (adjoint), and so do the "
            "reference's forward map and its gradients: the same misunderstanding "
            "in the kernels, or in the reference",
            allies);
    }
    if (!t.reference_is_consistent && t.kernel_is_consistent && t.sound_against.empty())
        return fmt::format("{} stands alone: {} agree against it{}", reference,
                           listed({"the kernel", differences}, {t.sound_with, t.peers_of_kernel}),
                           t.sound_with.empty() ? nobody : "");
    if (!t.reference_is_consistent && !t.kernel_is_consistent && t.sound_with.empty())
        return contradiction +
               (t.allies.empty()
                    ? ", and the kernel agrees with neither"
                    : fmt::format(", while the kernel and {} agree with each other (adjoint)",
                                  allies));
    // A forward kernel that is not linear may have the right derivatives.
    if (t.reference_is_consistent && t.kernel_is_consistent && t.sound_against.empty() &&
        !t.peers_of_reference.empty() && t.peers_of_kernel.empty())
        return fmt::format(
            "the kernel stands alone: {} agree against it, though it has the "
            "derivatives of the reference in the directions that were tried",
            listed({"the reference"}, {t.peers_of_reference}));

    std::string text = fmt::format(
        "can't tell who is wrong: the witnesses contradict each other: "
        "the kernel disagrees with {}, {} with {}",
        reference, t.kernel_is_consistent ? "agrees" : "disagrees", differences);
    if (!t.sound_with.empty()) text += ", agrees with " + listed({}, {t.sound_with});
    if (!t.sound_against.empty()) text += ", disagrees with " + listed({}, {t.sound_against});
    return text;
}

}  // namespace gradverify
