// SPDX-License-Identifier: Apache-2.0
// The verb `repro`: one case again, and as what one attaches to a bug report.
#include <fmt/format.h>

#include <algorithm>

#include "harness/base/errors.hpp"
#include "harness/base/text.hpp"
#include "harness/cases/recorded.hpp"
#include "harness/cli/verbs.hpp"
#include "harness/devices/device.hpp"
#include "harness/report/export/reproducer.hpp"
#include "harness/report/text/failure.hpp"
#include "harness/run/selection.hpp"
#include "harness/workers/pool.hpp"
#include "harness/workers/worker.hpp"

namespace gradverify {

namespace {

/// Refuses a case that can't be run as it is printed; a worker would call it errored.
void require_runnable(const Suite& suite, const Case& checked) {
    const Kernel& kernel = *Registry::instance().find_kernel(checked.kernel);
    std::vector<std::string> properties;
    for (const Property* const property : suite.properties()) {
        // A property with cases of its own draws them for one device, but runs on any.
        const bool runs_anywhere = property->own_cases > 0 && property->applies_to(kernel);
        if (runs_anywhere || property->applies(kernel, checked.device))
            properties.emplace_back(property->name);
    }
    if (std::ranges::find(properties, checked.property) == properties.end())
        throw UsageError(fmt::format("case: no property '{}' applies to {}; there are {}",
                                     checked.property, kernel.name, joined(properties)));
    const auto built = built_devices();
    if (std::ranges::find(built, checked.device) == built.end())
        throw EnvironmentError("device " + checked.device + ": " + why_unavailable(checked.device));
    if (!kernel.on(checked.device))
        throw UsageError("case: " + kernel.name + " " + kernel.why_not_on(checked.device));
    if (const auto invalid = kernel.op->validate(checked.problem))
        throw UsageError("case: " + *invalid);
    if (const auto unsupported = kernel.why_unsupported(checked.problem))
        throw UsageError("case: " + kernel.name + " " + *unsupported);
    if (const auto unsupported = why_unsupported(kernel, checked.setting))
        throw UsageError("case: " + kernel.name + ": " + *unsupported);
    if (!checked.data.files.empty()) remarks_on(checked.data.files, kernel, checked.problem);
    for (const DataElement& element : checked.data.elements) {
        const auto count = element_count(kernel.op->sizes_of(element.tensor, checked.problem));
        if (element.index >= count)
            throw UsageError(fmt::format("case: {}[{}] is outside of its {} elements",
                                         element.tensor, element.index, count));
    }
}

void write_reproducers(const Suite& suite, const ReproArguments& arguments, const Case& checked,
                       const Outcome& outcome) {
    if (arguments.export_folder.empty() && arguments.export_python.empty()) return;
    const Reproducer reproducer = usage_of([&] { return suite.reproducer_of(checked); });
    const std::string what = outcome.message.empty()
                                 ? "the case passed when it was written"
                                 : outcome.message.substr(0, outcome.message.find('\n'));
    if (!arguments.export_folder.empty()) {
        export_reproducer(arguments.export_folder, checked, what, reproducer);
        fmt::print("\nwritten: {}/README.md says how to build and run it\n",
                   arguments.export_folder);
    }
    if (!arguments.export_python.empty()) {
        export_python_reproducer(arguments.export_python, checked, what, reproducer);
        fmt::print("\nwritten: python3 {}\n", arguments.export_python);
    }
}

}  // namespace

int run_repro(const Suite& suite, const ReproArguments& arguments) {
    if (!arguments.device.empty() && arguments.device != "cpu" && arguments.device != "cuda")
        throw UsageError("--device " + arguments.device + " is unknown; there are cpu, cuda");
    const Case checked = usage_of([&] {
        Case read = Case::parse(arguments.printed_case, Registry::instance());
        if (!arguments.device.empty()) read.device = arguments.device;
        require_runnable(suite, read);
        return read;
    });
    Outcome outcome;
    if (arguments.in_process && !arguments.compute_sanitizer.empty())
        throw UsageError("--compute-sanitizer needs a worker; leave out --in-process");
    if (arguments.in_process) {
        // As `choose_devices` does, without a worker.
        if (const std::string why = why_unavailable(checked.device); !why.empty())
            throw EnvironmentError("device " + checked.device + ": " + why);
        outcome = run_guarded(suite, checked.print());
    } else {
        const auto sanitizer = sanitizer_run(arguments.compute_sanitizer, checked.device);
        WorkerPool pool(worker_options(1, sanitizer.get()));
        choose_devices(checked.device, pool);
        // Alone, so that what shows only at the end of a process shows here too.
        const CaseRunner alone = [&](const Case& one) { return pool.run(one, {.alone = true}); };
        outcome = alone(checked);
        if (outcome.verdict == Verdict::failed && outcome.overflows.empty() && !sanitizer)
            outcome.add_overflows(suite.overflows_of(checked, alone));
    }
    fmt::print("{}", report_case(checked, outcome));
    write_reproducers(suite, arguments, checked, outcome);
    // Where zeros are expected and were given, the case no longer fails.
    const bool is_right = outcome.verdict == Verdict::passed || outcome.verdict == Verdict::vacuous;
    return is_right ? exit_ok : exit_failed;
}

}  // namespace gradverify
