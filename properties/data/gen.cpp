// SPDX-License-Identifier: Apache-2.0
#include "properties/data/gen.hpp"

#include <rapidcheck.h>

#include "properties/data/dense.hpp"
#include "properties/data/seeds.hpp"
#include "properties/data/setting.hpp"
#include "properties/data/simpler.hpp"

namespace gradverify {
namespace {

/// Drawn data with what is simpler. Elements are listed only where they are few.
rc::Shrinkable<Data> data_tree(const Kernel& kernel, const Problem& problem, ValueKind kind,
                               Data data) {
    return rc::shrinkable::lambda(
        [=] { return data; },
        [=, &kernel] {
            const auto simpler = [=, &kernel](const Data& drawn) {
                const auto listed = list_data(kernel, problem, drawn, kind);
                auto one_hot = one_hot_data(*kernel.op, problem, listed);
                if (listed.size() > most_elements) return one_hot;
                return rc::seq::concat(one_hot, rc::seq::just(listed_data(listed)));
            };
            // The values are drawn only once this is reached, after all smaller problems.
            return rc::seq::mapcat(rc::seq::just(data), simpler);
        });
}

/// A problem whose data and setting are drawn, or those of one of its dense cases.
struct Posed {
    Problem problem;
    std::optional<int> dense;
};

/// Each smaller problem comes with its dense cases, and then with drawn data.
rc::Shrinkable<Posed> posed(const rc::Shrinkable<Problem>& problem, std::optional<int> dense,
                            int dense_draws) {
    return rc::shrinkable::lambda(
        [=] { return Posed{problem.value(), dense}; },
        [=] {
            return rc::seq::mapcat(problem.shrinks(), [=](const rc::Shrinkable<Problem>& smaller) {
                return rc::seq::map(rc::seq::range(0, dense_draws + 1), [=](int draw) {
                    return posed(smaller, draw < dense_draws ? std::optional(draw) : std::nullopt,
                                 dense_draws);
                });
            });
        });
}

template <class T>
rc::Gen<T> always(rc::Shrinkable<T> tree) {
    return [=](const rc::Random&, int) { return tree; };
}

rc::Gen<Case> cases_on(const Posed& posed, const Row& row, ValueKind kind,
                       const std::optional<Problem>& before) {
    const Kernel& kernel = *row.kernel;
    rc::Gen<Data> data = data_gen(kernel, posed.problem, kind);
    rc::Gen<Setting> settings = setting_gen(kernel, posed.problem);
    if (posed.dense) {
        const Case dense =
            dense_case(kernel, row.property_name(), row.device, posed.problem, *posed.dense);
        data = always(data_tree(kernel, posed.problem, kind, dense.data));
        settings = always(setting_tree(dense.setting));
    }
    return rc::gen::mapcat(data, [=](const Data& drawn) {
        return rc::gen::map(settings, [=](Setting setting) {
            setting.before = before;
            return Case{.kernel = row.kernel->name,
                        .property = row.property_name(),
                        .device = row.device,
                        .problem = posed.problem,
                        .data = drawn,
                        .setting = std::move(setting)};
        });
    });
}

}  // namespace

rc::Gen<Data> data_gen(const Kernel& kernel, const Problem& problem, ValueKind kind) {
    return [=, &kernel](const rc::Random& random, int) {
        return data_tree(kernel, problem, kind, {.seed = rc::Random(random).next() >> 40});
    };
}

rc::Gen<Setting> setting_gen(const Kernel& kernel, const Problem& problem) {
    return [=, &kernel](const rc::Random& random, int) {
        const std::uint64_t number = rc::Random(random).next();
        return setting_tree(draw_setting(kernel, problem, number));
    };
}

rc::Gen<std::optional<Problem>> call_before_gen(rc::Gen<Problem> problems) {
    using Before = std::optional<Problem>;
    const auto some = rc::gen::map(std::move(problems),
                                   [](Problem problem) { return Before(std::move(problem)); });
    const auto none = rc::gen::just(Before());
    return rc::gen::shrink(
        rc::gen::noShrink(rc::gen::weightedOneOf<Before>({{3, none}, {1, some}})),
        [](const Before& before) { return before ? rc::seq::just(Before()) : rc::Seq<Before>(); });
}

rc::Gen<Case> case_gen(const Row& row, ValueKind kind, rc::Gen<Problem> problems,
                       rc::Gen<std::optional<Problem>> before) {
    const int dense_draws = dense_draw_count(*row.kernel, row.property_name());
    const rc::Gen<Posed> all = [=](const rc::Random& random, int size) {
        return posed(problems(random, size), std::nullopt, dense_draws);
    };
    return rc::gen::mapcat(std::move(before), [=](const std::optional<Problem>& drawn) {
        return rc::gen::mapcat(all,
                               [=](const Posed& one) { return cases_on(one, row, kind, drawn); });
    });
}

}  // namespace gradverify
