// SPDX-License-Identifier: Apache-2.0
#include "harness/workers/run_alone.hpp"

#include <limits>
#include <utility>
#include <variant>

namespace gradverify {

namespace {

// What goes on beside a lone worker is looked after this often.
constexpr double meanwhile_seconds = 0.005;

}  // namespace

LoneResult run_alone(WorkerPoolOptions options, const TimeLimits& limits,
                     const std::vector<Work>& works, Patience patience,
                     std::set<std::string> distrusted, const std::function<void()>& meanwhile,
                     bool checks_heap) {
    options.jobs = 1;
    options.depth = 1;
    options.strict_cases = checks_heap ? std::numeric_limits<std::int64_t>::max() : 0;
    options.owned_device.clear();
    Crew crew(std::move(options), limits, std::move(distrusted));
    LoneResult result;
    for (const Work& work : works) {
        crew.give({.ticket = -1, .work = work, .patience = patience});
        std::optional<Crew::Event> event;
        while (!(event = crew.next(meanwhile ? meanwhile_seconds : 1.0)))
            if (meanwhile) meanwhile();
        if (auto* ended = std::get_if<Crew::Ended>(&*event)) {
            result.death = std::move(ended->end);
            return result;
        }
        result.outcome = std::move(std::get<Crew::Answered>(*event).outcome);
    }
    // The pool waits meanwhile, once for each suspect; a GPU takes long to be left.
    const bool is_quick = !works.empty() && works.back().device == "cpu";
    for (Crew::Ended& ended : crew.finish(
             is_quick ? WorkerProcess::death_seconds : WorkerProcess::exit_seconds, meanwhile))
        result.death = std::move(ended.end);
    return result;
}

}  // namespace gradverify
