// SPDX-License-Identifier: Apache-2.0
// Decides what `bench` times: problems, and the kernels for each.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "harness/base/errors.hpp"
#include "harness/base/text.hpp"
#include "harness/bench/bench.hpp"
#include "harness/registry/element_types.hpp"
#include "harness/run/selection.hpp"

namespace gradverify {

namespace {

// Beyond this timing on the cpu device takes minutes.
constexpr double emulated_multiply_adds = 3e7;

bool is_yardstick(const Kernel& kernel) { return !kernel.any().yardstick_name.empty(); }

/// Whether the two store and sum the same types, so that their times can be compared.
bool are_comparable(const Kernel& a, const Kernel& b) {
    return a.pass == b.pass && a.any().accumulator() == b.any().accumulator() &&
           a.any().multiplies_in_tf32() == b.any().multiplies_in_tf32() &&
           types_of(a) == types_of(b);
}

std::vector<UserProblem> problems_for(const BenchArguments& arguments,
                                      const std::vector<const Operator*>& operators) {
    std::vector<UserProblem> problems;
    for (const std::string& text : arguments.own_problems)
        std::ranges::move(read_user_problem(text, "--problem " + text, operators,
                                            [](const auto&, const auto&) { return std::nullopt; }),
                          std::back_inserter(problems));
    if (!problems.empty()) return problems;
    std::vector<std::string> without;
    for (const Operator* op : operators)
        if (op->benchmark.empty())
            without.push_back(op->name);
        else
            problems.push_back({op, Problem::parse(op->space, op->benchmark)});
    if (problems.empty())
        throw UsageError("bench needs a --problem: none is declared as the benchmark of " +
                         joined(without));
    return problems;
}

std::string why_not(const Kernel& kernel, const Problem& problem, const std::string& device) {
    if (!kernel.on(device)) return kernel.why_not_on(device);
    if (const auto unsupported = kernel.why_unsupported(problem)) return *unsupported;
    const double multiply_adds = kernel.pass->multiply_adds(problem);
    if (device != "cpu" || multiply_adds <= emulated_multiply_adds) return {};
    return fmt::format(
        "takes the work of {} multiply-adds; on the cpu device, which emulates a GPU, {} is the "
        "most",
        print_rounded(multiply_adds), print_rounded(emulated_multiply_adds));
}

/// Puts kernels of the same types together, so that their tensors are printed once, yardsticks
/// first, and drops yardsticks that nothing is compared with.
void arrange(BenchGroup& group) {
    const auto types = [](const BenchItem& item) { return types_of(*item.kernel); };
    std::set<std::string> compared;
    for (const BenchItem& item : group.items)
        if (!item.is_yardstick && item.why_not.empty()) compared.insert(types(item));
    std::erase_if(group.items, [&](const BenchItem& item) {
        return item.is_yardstick && !compared.contains(types(item));
    });
    std::map<std::string, std::size_t> first;
    for (const BenchItem& item : group.items) first.emplace(types(item), first.size());
    std::ranges::stable_sort(group.items, {}, [&](const BenchItem& item) {
        return std::pair(first.at(types(item)), is_yardstick(*item.kernel) ? 0 : 1);
    });
}

BenchGroup group_of(const UserProblem& planned, const PassSpec& pass,
                    const BenchArguments& arguments, const std::string& device) {
    BenchGroup group{.op = planned.op, .pass = &pass, .problem = planned.problem};
    for (const Kernel& kernel : Registry::instance().kernels()) {
        if (kernel.pass != &pass) continue;
        std::string why = why_not(kernel, planned.problem, device);
        const bool selected = is_selected(kernel.name, arguments.filters);
        if (selected || (is_yardstick(kernel) && why.empty()))
            group.items.push_back({&kernel, std::move(why), !selected});
    }
    arrange(group);
    return group;
}

}  // namespace

std::string types_of(const Kernel& kernel) {
    return print_types(kernel.any(), *kernel.op, *kernel.pass);
}

const BenchResult* fastest_yardstick(const std::vector<BenchResult>& results,
                                     const Kernel& kernel) {
    const BenchResult* fastest = nullptr;
    for (const BenchResult& result : results) {
        const Kernel& other = *result.item.kernel;
        if (result.state == BenchResult::State::timed && is_yardstick(other) && &other != &kernel &&
            are_comparable(other, kernel) &&
            (!fastest || result.seconds.median < fastest->seconds.median))
            fastest = &result;
    }
    return fastest;
}

bool counts_multiply_adds(const Operator& op) {
    return std::ranges::any_of(op.products, [](const auto& factors) { return factors.size() > 1; });
}

std::vector<BenchGroup> plan_bench(const BenchArguments& arguments, const std::string& device) {
    if (device == "cpu" && arguments.own_problems.empty())
        throw UsageError(
            "bench needs a --problem on the cpu device: it emulates a GPU, and the operators' own "
            "problems are large enough for one");
    std::vector<BenchGroup> groups;
    for (const UserProblem& planned :
         problems_for(arguments, selected_operators(arguments.filters)))
        for (const PassSpec& pass : planned.op->passes)
            if (BenchGroup group = group_of(planned, pass, arguments, device); !group.items.empty())
                groups.push_back(std::move(group));
    std::string first_reason;
    for (const BenchGroup& group : groups)
        for (const BenchItem& item : group.items) {
            if (item.why_not.empty()) return groups;
            if (first_reason.empty())
                first_reason = fmt::format("{} on {} {}", item.kernel->name, group.problem.print(),
                                           item.why_not);
        }
    throw UsageError("bench has nothing to time on " + device + ": " + first_reason);
}

}  // namespace gradverify
