// SPDX-License-Identifier: Apache-2.0
#include "properties/problems/cost.hpp"

#include <algorithm>

namespace gradverify {

/// A product asks for three elements and is recorded, each in two runs, and costs as much as five.
constexpr double multiply_adds_per_step = 0.5;

double ProblemCost::share_of(const WorkBudget& budget) const {
    return std::max({multiply_adds / budget.multiply_adds, thread_barriers / budget.thread_barriers,
                     bytes / budget.bytes, elements});
}

double threads_by(const LaunchCost& cost, const Problem& problem, double outputs) {
    return cost.threads ? static_cast<double>(cost.threads(problem))
                        : outputs * static_cast<double>(cost.threads_per_output);
}

CostModel::CostModel(const SupportedProblems& problems) : problems_(&problems) {
    for (const auto* tensors : {&problems.op().inputs, &problems.op().outputs})
        for (const TensorSpec& tensor : *tensors) {
            const auto is_it = [&](const std::string& output) {
                return output == tensor.name || output == "d" + tensor.name;
            };
            tensors_.emplace_back(&tensor, std::ranges::any_of(problems.pass().outputs, is_it));
        }
    if (problems.pass().guesses_work)
        for (const RankDomain& domain : problems.domains())
            growth_.emplace(domain.rank, WorkGrowth(problems, domain));
    bytes_per_element_ = static_cast<double>(traits_of(problems.kernel().accumulator()).bytes);
}

ProblemCost CostModel::operator()(const Problem& problem) const {
    ProblemCost cost;
    double outputs = 0.0;
    for (const auto& [tensor, is_output] : tensors_) {
        double elements = 1.0;
        for (const std::int64_t size : tensor->sizes(problem)) {
            elements *= static_cast<double>(size);
            cost.empty_axes += size == 0;
        }
        cost.bytes += elements * bytes_per_element_;
        if (is_output) outputs += elements;
    }
    // No budget allows larger tensors, and this is asked often.
    constexpr std::int64_t most_drawn = std::int64_t{1} << 24;
    if (problems_->kernel().most_elements.value_or(most_drawn) < most_drawn)
        cost.elements = problems_->share_of_elements(problem);
    const LaunchCost& launch = problems_->kernel().launch_cost;
    cost.thread_barriers =
        threads_by(launch, problem, outputs) *
        static_cast<double>(std::max<std::int64_t>(launch.barriers_per_thread, 1));
    // Finite differences and the adjoint identity run the forward pass too.
    for (const PassSpec* pass : {&problems_->pass(), &problems_->op().forward()})
        if (pass->multiply_adds)
            cost.multiply_adds = std::max(cost.multiply_adds, pass->multiply_adds(problem));
    if (const auto growth = growth_.find(problem.rank()); growth != growth_.end())
        cost.multiply_adds =
            std::max(cost.multiply_adds, multiply_adds_per_step * growth->second(problem));
    return cost;
}

}  // namespace gradverify
