// SPDX-License-Identifier: Apache-2.0
#include "properties/problems/gen.hpp"

#include <rapidcheck.h>

#include "properties/problems/smaller.hpp"

namespace gradverify {

rc::Shrinkable<Problem> problem_tree(const SupportedProblems& supported, Problem problem) {
    return rc::shrinkable::shrinkRecur(std::move(problem), [&supported](const Problem& from) {
        return rc::seq::fromContainer(smaller_problems(supported, from));
    });
}

rc::Gen<Problem> problem_gen(const ProblemGenerator& generator) {
    return [&generator](const rc::Random& random, int) {
        Problem drawn = generator.draw_freely(rc::Random(random).next());
        return problem_tree(*generator.supported(), std::move(drawn));
    };
}

rc::Gen<Problem> problem_gen(const ProblemGenerator& generator, std::int64_t index) {
    return [&generator, index](const rc::Random& random, int) {
        Problem drawn = generator.of_case(index, rc::Random(random).next());
        return problem_tree(*generator.supported(), std::move(drawn));
    };
}

}  // namespace gradverify
