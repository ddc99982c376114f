// SPDX-License-Identifier: Apache-2.0
// The verb `list`, and `repro`: what there is, and one case again.
#include <cstdio>
#include <stdexcept>

#include "harness/cli.hpp"
#include "harness/cli_verbs.hpp"
#include "harness/errors.hpp"
#include "harness/report.hpp"
#include "harness/text.hpp"
#include "harness/worker.hpp"
#include "harness/worker_pool.hpp"

namespace gradverify {

namespace {

std::string supports(const Kernel& kernel) {
    const KernelDeclaration& declared = kernel.any();
    std::vector<std::string> conditions;
    for (const Constraint& constraint : declared.constraints)
        conditions.push_back(constraint.print());
    if (declared.predicate) conditions.push_back(declared.predicate_text);
    if (!declared.accepts_empty) conditions.push_back("no empty tensors");
    return conditions.empty() ? "every problem" : joined(conditions);
}

std::string promises(const KernelDeclaration& declared) {
    std::vector<std::string> words{std::string(traits_of(declared.accumulator).name)};
    words.push_back(declared.determinism == Determinism::bitwise ? "deterministic"
                                                                 : "not deterministic");
    words.push_back(declared.write_mode == WriteMode::overwrites ? "overwrites" : "accumulates");
    words.push_back("aligned to " + std::to_string(declared.base_alignment_bytes) + " bytes");
    if (declared.stream_use == StreamUse::default_stream) words.emplace_back("default stream");
    if (declared.arithmetic == Arithmetic::fast) words.emplace_back("fast math");
    std::vector<std::string> blocks;
    for (const int size : declared.block_sizes) blocks.push_back(std::to_string(size));
    if (!blocks.empty()) words.push_back("blocks of " + joined(blocks, "/"));
    return joined(words);
}

}  // namespace

int run_list(const Suite&, const std::vector<std::string>& filters) {
    const auto& kernels = Registry::instance().kernels();
    bool any = false;
    for (const Kernel& kernel : kernels) {
        bool selected = filters.empty();
        for (const std::string& filter : filters) selected |= glob_matches(filter, kernel.name);
        if (!selected) continue;
        any = true;
        std::vector<std::string> devices;
        for (const auto& [device, declaration] : kernel.by_device) devices.push_back(device);
        std::printf("%s\n  devices   %s\n  supports  %s\n  promises  %s\n", kernel.name.c_str(),
                    joined(devices).c_str(), wrapped(supports(kernel), 12).c_str(),
                    wrapped(promises(kernel.any()), 12).c_str());
    }
    if (any) return exit_ok;
    std::vector<std::string> names;
    for (const Kernel& kernel : kernels) names.push_back(kernel.name);
    throw UsageError(names.empty() ? "no kernel is registered"
                                   : "no kernel matches; there are " + joined(names));
}

int run_repro(const Suite& suite, const ReproArguments& arguments) {
    const auto read = [&] {
        try {
            Case checked = Case::parse(arguments.printed_case, Registry::instance());
            if (!arguments.device.empty()) checked.device = arguments.device;
            return checked;
        } catch (const std::invalid_argument& wrong) {
            throw UsageError(wrong.what());
        }
    };
    const Case checked = read();
    Outcome outcome;
    if (arguments.in_process) {
        outcome = run_guarded(suite, checked.print());
    } else {
        WorkerPool pool({.command = worker_command(), .jobs = 1});
        choose_devices(checked.device, pool);
        outcome = pool.run(checked.print());
    }
    // What a case asks for can be wrong in itself: a problem that the kernel does not support.
    if (outcome.verdict == Verdict::errored) throw UsageError(outcome.message);
    std::printf("%s", report_case(checked, outcome).c_str());
    return outcome.verdict == Verdict::failed ? exit_failed : exit_ok;
}

}  // namespace gradverify
