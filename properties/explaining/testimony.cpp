// SPDX-License-Identifier: Apache-2.0
#include "properties/explaining/testimony.hpp"

#include "harness/base/text.hpp"

namespace gradverify {

namespace {

// More are counted.
constexpr std::size_t names_maximum = 2;

/// `A`, `A and B`, `A, B and C`
std::string listed(std::vector<std::string> words) {
    if (words.size() < 2) return joined(words);
    const std::string last = words.back();
    words.pop_back();
    return joined(words) + " and " + last;
}

std::vector<std::string> cut(std::vector<std::string> names) {
    if (names.size() <= names_maximum) return names;
    const std::size_t more = names.size() - names_maximum;
    names.resize(names_maximum);
    names.push_back(std::to_string(more) + (more == 1 ? " more kernel" : " more kernels"));
    return names;
}

class Judge {
  public:
    explicit Judge(const Testimony& testimony) : t_(testimony) {}

    Judgement judge() const {
        if (t_.kernel_is_reference) return rounding();
        if (t_.reference_is_consistent)
            return t_.kernel_is_consistent || !t_.sound_with.empty() ? unknown()
                                                                     : against_the_kernel();
        return t_.kernel_is_consistent ? against_the_reference() : both_inconsistent();
    }

  private:
    std::string reference() const { return "the reference of " + t_.pass; }
    /// The reference's other side, as a witness.
    std::string differences() const {
        return t_.is_forward ? "the reference's gradients (by finite differences)"
                             : "finite differences of the reference's forward map";
    }
    std::string nobody_of_other_direction() const {
        return t_.is_forward ? "no registered gradient kernel could be asked"
                             : "no registered forward kernel could be asked";
    }
    std::string contradiction() const {
        return t_.is_forward ? "the reference contradicts itself: its gradients are not the "
                               "derivatives of its forward map"
                             : "the reference contradicts itself: its " + t_.pass +
                                   " is not the derivative of its forward map";
    }

    static void append(std::vector<std::string>& words, std::vector<std::string> names) {
        for (std::string& name : cut(std::move(names))) words.push_back(std::move(name));
    }

    Judgement rounding() const {
        if (!t_.reference_is_consistent)
            return {Culprit::self_contradiction,
                    contradiction() + ", and the kernel agrees with its " + t_.pass};
        return {Culprit::rounding,
                std::string("on integers, where nothing rounds, the kernel equals the reference: "
                            "it is wrong by its rounding") +
                    (t_.saturates ? ", or by what it makes of numbers beyond the range, " : " ") +
                    "alone"};
    }

    Judgement against_the_kernel() const {
        std::vector<std::string> against{"the reference", differences()};
        append(against, t_.sound_against);
        append(against, t_.peers_of_reference);
        const std::string ally = listed(cut(t_.allies));
        if (t_.allies.empty())
            return {Culprit::kernel,
                    "the kernel stands alone: " + listed(against) + " agree against it" +
                        (t_.sound_against.empty() ? " (" + nobody_of_other_direction() + ")" : "")};
        if (against.size() > 2)
            return {Culprit::kernel_and_ally,
                    "the same misunderstanding in the kernel and in " + ally +
                        ", which agree with each other (adjoint): " + listed(against) +
                        " agree against them"};
        return {Culprit::kernels_or_reference,
                "the kernel and " + ally +
                    " agree with each other (adjoint), and so do the reference's forward map and "
                    "its gradients: the same misunderstanding in the kernels, or in the reference"};
    }

    Judgement against_the_reference() const {
        if (!t_.sound_against.empty()) return unknown();
        std::vector<std::string> against{"the kernel", differences()};
        append(against, t_.sound_with);
        append(against, t_.peers_of_kernel);
        return {Culprit::reference,
                reference() + " stands alone: " + listed(against) + " agree against it" +
                    (t_.sound_with.empty() ? " (" + nobody_of_other_direction() + ")" : "")};
    }

    Judgement both_inconsistent() const {
        if (!t_.sound_with.empty()) return unknown();
        if (!t_.allies.empty())
            return {Culprit::reference, contradiction() + ", while the kernel and " +
                                            listed(cut(t_.allies)) +
                                            " agree with each other (adjoint)"};
        return {Culprit::self_contradiction,
                contradiction() + ", and the kernel agrees with neither"};
    }

    Judgement unknown() const {
        // A forward kernel that is not linear may have the right derivatives.
        if (t_.kernel_is_consistent && t_.reference_is_consistent && t_.sound_against.empty() &&
            !t_.peers_of_reference.empty() && t_.peers_of_kernel.empty()) {
            std::vector<std::string> against{"the reference"};
            append(against, t_.peers_of_reference);
            return {Culprit::kernel, "the kernel stands alone: " + listed(against) +
                                         " agree against it, though it has the derivatives of the "
                                         "reference in the directions that were tried"};
        }
        const auto word = [](bool agrees) { return agrees ? "agrees with " : "disagrees with "; };
        std::string text = "the witnesses contradict each other: the kernel disagrees with " +
                           reference() + ", " + word(t_.kernel_is_consistent) + differences();
        if (!t_.sound_with.empty()) text += ", agrees with " + listed(cut(t_.sound_with));
        if (!t_.sound_against.empty()) text += ", disagrees with " + listed(cut(t_.sound_against));
        return {Culprit::unknown, "can't tell who is wrong: " + text};
    }

    const Testimony& t_;
};

}  // namespace

Judgement judge(const Testimony& testimony) { return Judge(testimony).judge(); }

}  // namespace gradverify
