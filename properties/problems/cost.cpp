// SPDX-License-Identifier: Apache-2.0
#include "properties/problems/cost.hpp"

#include <algorithm>

namespace gradverify {

double ProblemCost::share_of(const WorkBudget& budget) const {
    return std::max({multiply_adds / budget.multiply_adds, thread_barriers / budget.thread_barriers,
                     bytes / budget.bytes});
}

CostModel::CostModel(const SupportedProblems& problems) : problems_(&problems) {
    const KernelDeclaration& kernel = problems.kernel();
    for (const TensorSpec& tensor : problems.op().inputs) tensors_.push_back(&tensor);
    for (const TensorSpec& tensor : problems.op().outputs) tensors_.push_back(&tensor);
    for (const std::string& output : problems.pass().outputs)
        for (std::size_t i = 0; i < tensors_.size(); ++i)
            if (output == tensors_[i]->name || output == "d" + tensors_[i]->name)
                outputs_of_pass_.push_back(static_cast<int>(i));
    bytes_per_element_ = static_cast<double>(traits_of(kernel.accumulator()).bytes);
}

ProblemCost CostModel::operator()(const Problem& problem) const {
    ProblemCost cost;
    double outputs = 0.0;
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
        double elements = 1.0;
        for (const std::int64_t size : tensors_[i]->sizes(problem)) {
            elements *= static_cast<double>(size);
            cost.empty_axes += size == 0;
        }
        cost.bytes += elements * bytes_per_element_;
        if (std::ranges::count(outputs_of_pass_, static_cast<int>(i)) > 0) outputs += elements;
    }
    const LaunchCost& launch = problems_->kernel().launch_cost;
    const double threads = launch.threads
                               ? static_cast<double>(launch.threads(problem))
                               : outputs * static_cast<double>(launch.threads_per_output);
    cost.thread_barriers =
        threads * static_cast<double>(std::max<std::int64_t>(launch.barriers_per_thread, 1));
    // Differences and the adjoint identity run the forward pass on the gradient's problem, and a
    // forward pass can be far more work than, say, the gradient of a bias.
    for (const PassSpec* pass : {&problems_->pass(), &problems_->op().forward()})
        if (pass->multiply_adds)
            cost.multiply_adds = std::max(cost.multiply_adds, pass->multiply_adds(problem));
    return cost;
}

}  // namespace gradverify
