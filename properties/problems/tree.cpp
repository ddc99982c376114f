// SPDX-License-Identifier: Apache-2.0
#include "properties/problems/tree.hpp"

#include <rapidcheck.h>

#include "properties/problems/gen.hpp"
#include "properties/problems/smaller.hpp"

namespace gradverify {
namespace {

/// A problem with its smaller neighbours, theirs, and so on; nothing is made before it is asked
/// for.
rc::Shrinkable<Problem> tree_of(const SupportedProblems& supported, Problem problem) {
    return rc::shrinkable::shrinkRecur(std::move(problem), [&supported](const Problem& from) {
        return rc::seq::fromContainer(smaller_problems(supported, from));
    });
}

}  // namespace

rc::Gen<Problem> problem_gen(const ProblemGenerator& generator) {
    // One number is taken from rapidcheck's random source (it costs a hash); the rest of the draw
    // is a function of it. The size that rapidcheck grows over a run is not used: case i must not
    // depend on how many cases there are.
    return [&generator](const rc::Random& random, int) {
        return tree_of(*generator.supported(), generator.draw_freely(rc::Random(random).next()));
    };
}

Problem draw_from_tree(const ProblemGenerator& generator, std::uint64_t seed) {
    return problem_gen(generator)(rc::Random(seed), rc::kNominalSize).value();
}

Problem descend_tree(const SupportedProblems& supported, const Problem& failing,
                     const std::function<bool(const Problem&)>& fails,
                     const std::function<bool()>& may_go_on) {
    rc::Shrinkable<Problem> node = tree_of(supported, failing);
    for (bool moved = true; moved;) {
        moved = false;
        rc::Seq<rc::Shrinkable<Problem>> children = node.shrinks();
        for (auto child = children.next(); child && may_go_on(); child = children.next()) {
            if (!fails(child->value())) continue;
            node = *child;
            moved = true;
            break;
        }
    }
    return node.value();
}

}  // namespace gradverify
