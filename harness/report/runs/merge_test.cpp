// SPDX-License-Identifier: Apache-2.0
// What result files come to together.
#include "harness/report/runs/merge.hpp"

#include <doctest/doctest.h>

#include "harness/report/files/json_lines.hpp"
#include "harness/report/text/summary.hpp"
#include "harness/testing/made_results.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;
using nlohmann::json;

const std::vector<RowName> two_rows{{"toy.forward/plain", "repeatable", "cpu"},
                                    {"toy.forward/plain", "stays_in_bounds", "cpu"}};

/// A file as `check` writes it.
ResultFile file_of(const std::vector<RowResult>& results, Shard shard = {}, bool ends = true,
                   std::uint64_t seed = 5) {
    const TemporaryFile file;
    JsonLines lines(file.path);
    lines.write(json_of_run({.seed = seed,
                             .devices = {"cpu"},
                             .program = "gradverify",
                             .shard = shard,
                             .rows = two_rows}));
    const std::vector<RowRecord> records = records_of(results, "gradverify");
    for (const RowRecord& record : records) lines.write(json_of_verdict(record, shard.count > 1));
    if (ends) lines.write(json_of_summary(records, 2.0, false));
    return ResultFile::read(file.path);
}

RowResult covering(const std::vector<std::string>& problems, const char* property = "repeatable") {
    RowResult result = result_of("plain", property, Verdict::passed);
    result.cases = result.passed = std::ssize(problems);
    for (const std::string& problem : problems) {
        result.coverage.add(*result.row.kernel,
                            Problem::parse(result.row.kernel->op->space, problem));
        const auto size = static_cast<double>(problem.size());
        result.error_over_bound.add(size / 32.0);
        result.multiply_adds.add(size);
        result.sensitivity.add({1.0 / size, size});
        result.values.add(-size);
        result.crowding.add({.threads = 64.0 * size, .expected = size, .seconds = 0.5});
    }
    result.within_reach = reach_of(*result.row.kernel, {"n=2,in=1", "n=2,in=9", "in=40"});
    return result;
}

RowResult found_at(std::int64_t index, const char* problem = "n=2,in=3") {
    RowResult result = failure_of("plain", "repeatable", Outcome::failed("differs"));
    result.failure->smallest = case_of(result, problem);
    result.found_at = index;
    return result;
}

std::string said(const std::vector<Note>& notes) {
    std::string text;
    for (const Note& note : notes) text += note.text + "\n";
    return text;
}

RowRecord first(const MergedResults& merged) { return merged.records.at(0); }

/// What two shards of a row come to.
RowRecord together(const RowResult& one, const RowResult& other) {
    return first(merge({file_of({one}, {0, 2}), file_of({other}, {1, 2})}));
}

}  // namespace

TEST_CASE("shards come to what the whole run does") {
    const std::vector<std::string> problems{"n=2,in=1", "in=9", "n=2,in=9", "in=40", "in=3x3"};
    const RowResult whole = covering(problems);
    std::vector<ResultFile> files;
    for (std::size_t i = 0; i < 2; ++i) {
        std::vector<std::string> part;
        for (std::size_t j = i; j < problems.size(); j += 2) part.push_back(problems[j]);
        files.push_back(file_of({covering(part), covering(part, "stays_in_bounds")},
                                {static_cast<std::int64_t>(i), 2}));
    }
    const MergedResults merged = merge(files);
    CHECK(said(merged.missing).empty());
    json expected = json_of_verdict(record_of(whole, "gradverify")),
         got = json_of_verdict(first(merged));
    CHECK(got.at("seconds") == 0.5);
    expected.erase("seconds");
    got.erase("seconds");
    CHECK(got == expected);
    CHECK(summarize({"repeatable"}, {first(merged)}, {}, 1.0) ==
          summarize({"repeatable"}, {record_of(whole, "gradverify")}, {}, 1.0));
}

TEST_CASE("the failure of the lowest index decides, whatever the order of the files") {
    const ResultFile early = file_of({found_at(7, "in=3")}, {1, 3}),
                     late = file_of({found_at(11)}, {2, 3}),
                     passed = file_of({covering({"in=9"})}, {0, 3});
    for (const auto& files : {std::vector{early, late, passed}, {late, passed, early}}) {
        const RowRecord record = first(merge(files));
        CHECK(record.verdict == Verdict::failed);
        CHECK(record.found_at == 7);
        CHECK(record.failing_problem() == "in=3");
        CHECK(record.cases == 41);
    }
}

TEST_CASE("a row that a shard alone has not verified is, with the others'") {
    RowResult zeros = result_of("plain", "repeatable", Verdict::vacuous, "zeros"),
              none = result_of("plain", "repeatable", Verdict::skipped, "no case in this shard");
    none.skips = {{"no case in this shard", 1}};
    CHECK(together(zeros, covering({"in=9"})).verdict == Verdict::passed);
    const RowRecord vacuous = together(zeros, none);
    CHECK(vacuous.verdict == Verdict::vacuous);
    CHECK(vacuous.message == "no case compared a non-zero expected value");
    const RowRecord skipped = together(none, none);
    CHECK(skipped.verdict == Verdict::skipped);
    CHECK(skipped.message == "no case in this shard");
    zeros.known = true;
    CHECK(together(none, zeros).known);
    const RowRecord passed = together(covering({"in=9"}), zeros);
    CHECK(passed.verdict == Verdict::passed);
    CHECK_FALSE(passed.known);
}

TEST_CASE("what is missing is said: shards, rows of one that was killed, summaries") {
    const RowResult one = covering({"in=9"}), other = covering({"in=9"}, "stays_in_bounds");
    CHECK(said(merge({file_of({one, other}), file_of({one, other}, {}, true, 6)}).missing).empty());
    CHECK(contains(said(merge({file_of({one, other}, {1, 4})}).missing),
                   "missing: of the 4 shards of seed 5 there is no file of 1, 3, 4\n"));
    const MergedResults killed =
        merge({file_of({one, other}, {0, 2}), file_of({one}, {1, 2}, false)});
    CHECK(contains(said(killed.missing), "missing: shard 2/2 of seed 5 ("));
    CHECK(contains(said(killed.missing),
                   ") has no verdict of 1 of its 2 rows: toy.forward/plain, stays_in_bounds on "
                   "cpu\n"));
    REQUIRE(killed.records.size() == 2);
    CHECK(killed.records[0].cases == 2);
    CHECK(killed.records[1].cases == 1);
    CHECK(contains(said(merge({file_of({one, other}, {}, false)}).missing),
                   "was ended before its summary, with every verdict"));
}

TEST_CASE("a file that was cut off keeps its lines; another one is refused with its place") {
    const std::string run = json_of_run({.seed = 5, .rows = two_rows}).dump() + "\n";
    const std::string progress =
        R"({"kind":"progress","kernel":"toy.forward/plain","property":"repeatable","device":"cpu","cases":12,"passed":12})"
        "\n";
    const auto read = [](const std::string& text) {
        const TemporaryFile file(text);
        const std::string why = refusal([&] { ResultFile::read(file.path); });
        const std::size_t path = why.find(file.path);
        return path == std::string::npos
                   ? why
                   : why.substr(0, path) + "F" + why.substr(path + file.path.size());
    };
    const TemporaryFile cut(run + progress + R"({"kind":"verd)");
    CHECK(contains(said(merge({ResultFile::read(cut.path)}).missing),
                   "toy.forward/plain, repeatable on cpu (after 12 cases); toy.forward/plain"));
    CHECK(read("") == "F holds no results");
    CHECK(read("\n \n") == "F holds no results");
    CHECK(read("nothing\n") == "line 1 of F is not JSON");
    CHECK(read(run + "nothing\n" + progress) == "line 2 of F is not JSON");
    CHECK(read(progress) == "F does not begin as a file of `check --json` does");
    CHECK(read(run + "{\"kind\":\"verdict\"}\n") ==
          "line 2 of F is not a line that `check --json` writes");
    const std::string passed =
        R"({"kind":"verdict","kernel":"k","property":"p","device":"cpu","verdict":"passed",)";
    CHECK(read(run + passed + R"("cases":12})") == "");
    // The place of a case that has failed before.
    CHECK(read(run + passed + R"("cases":12,"found_at":-1})") == "");
    for (const std::string wrong :
         {R"("cases":-1})", R"("cases":1e300})", R"("cases":1.5})",
          R"("cases":9223372036854775807})", R"("cases":12,"line":4294967297})",
          R"("cases":12,"skips":{"too large":-1}})"})
        CHECK(read(run + passed + wrong) == "line 2 of F is not a line that `check --json` writes");
    CHECK(read(run + passed + R"("cases":12,"maps":)" + std::string(1'000'000, '[') +
               std::string(1'000'000, ']') + "}") ==
          "line 2 of F is not a line that `check --json` writes");
    CHECK(refusal([] { ResultFile::read("/no/such/file"); }) == "can't read /no/such/file");
}

TEST_CASE("a file of another version says which one wrote it") {
    const auto written = [](std::int64_t shard, const std::string& end) {
        const RunRecord run{
            .version = "9.9.9", .seed = 5, .shard = {.index = shard, .count = 2}, .rows = two_rows};
        return json_of_run(run).dump() + "\n" + end;
    };
    const TemporaryFile other(written(0, "{\"kind\":\"summary\"}\n")),
        unread(written(0, "{\"kind\":\"verdict\"}\n"));
    const std::string by = " was written by gradverify 9.9.9, and this is ";
    CHECK(contains(said(merge({ResultFile::read(other.path)}).missing), other.path + by));
    CHECK(contains(refusal([&] { ResultFile::read(unread.path); }), "writes; it" + by));
    // Another version may draw other cases, so its shards belong to no run of this one.
    const std::string missing =
        said(merge({ResultFile::read(other.path), file_of({}, {1, 2})}).missing);
    CHECK(contains(missing, "there is no file of 1"));
    CHECK(contains(missing, "there is no file of 2"));
    CHECK_FALSE(contains(said(merge({file_of({})}).missing), by));
}

TEST_CASE("one shard twice is a mistake, one of another seed is another run's") {
    const ResultFile one = file_of({covering({"in=9"})}, {0, 2}),
                     other = file_of({covering({"in=9"})}, {0, 2}, true, 6);
    CHECK(contains(refusal([&] { merge({one, one}); }), "both hold shard 1/2 of seed 5"));
    CHECK(first(merge({one, other})).cases == 2);
}

TEST_CASE("of two runs what nobody knows is told, a failure before an error") {
    RowResult known = found_at(3, "in=3");
    known.known = true;
    RowResult errored = result_of("plain", "repeatable", Verdict::errored, "no memory");
    errored.found_at = 1;
    const auto merged = [](const RowResult& one, const RowResult& other) {
        return first(merge({file_of({one}), file_of({other}, {}, true, 6)}));
    };
    for (const bool turned : {false, true}) {
        const RowResult new_one = found_at(500, "in=9");
        const RowRecord worst = turned ? merged(new_one, known) : merged(known, new_one);
        CHECK(worst.failing_problem() == "in=9");
        CHECK_FALSE(worst.known);
        const RowRecord failed = turned ? merged(new_one, errored) : merged(errored, new_one);
        CHECK(failed.verdict == Verdict::failed);
        const RowRecord unknown = turned ? merged(known, errored) : merged(errored, known);
        CHECK(unknown.verdict == Verdict::errored);
    }
}

TEST_CASE("rows that were skipped or refused in every run say why") {
    RowResult refused = result_of("plain", "repeatable", Verdict::errored, "refused");
    refused.cases = refused.refused = 20;
    refused.skips = {{"no plan", 20}};
    CHECK(first(merge({file_of({refused}), file_of({refused}, {}, true, 6)})).message ==
          "the launcher refused 40 of 40 problems; declare what it does not support (no plan)");
    RowResult skipped = result_of("plain", "repeatable", Verdict::skipped, "no partner");
    skipped.skips = {{"no partner", 5}};
    CHECK(first(merge({file_of({skipped}), file_of({skipped}, {}, true, 6)})).message ==
          "no partner");
}

TEST_CASE("a row's last line holds, and a failure that was seen alone is told") {
    const TemporaryFile file;
    JsonLines lines(file.path);
    lines.write(json_of_run({.seed = 5, .program = "gradverify", .rows = two_rows}));
    const auto write = [&](const RowResult& result) {
        lines.write(json_of_verdict(record_of(result, "gradverify")));
    };
    write(result_of("plain", "repeatable", Verdict::passed));
    write(found_at(3));
    const RowResult other = result_of("plain", "stays_in_bounds", Verdict::passed);
    lines.write(json_of_seen(case_of(other), Outcome::failed("differs")));
    const MergedResults merged = merge({ResultFile::read(file.path)});
    REQUIRE(merged.records.size() == 1);
    CHECK(first(merged).verdict == Verdict::failed);
    CHECK(first(merged).cases == 20);
    CHECK(contains(said(merged.missing),
                   "FAILED toy.forward/plain, stays_in_bounds on cpu, before its run was ended: "
                   "gradverify repro 'v1:toy.forward/plain:stays_in_bounds:cpu:n=2,in=3:"));
}

TEST_CASE("files that can't be put together are refused") {
    const RowResult one = covering({"in=9"});
    const ResultFile file = file_of({one});
    CHECK(contains(refusal([&] { merge({file, file}); }), "both hold the run of seed 5"));
    ResultFile merged = file;
    merged.run.is_merged = true;
    CHECK(contains(refusal([&] { merge({merged}); }), "was written by `report`; give the files"));
    const TemporaryFile old(R"({"kind":"run","seed":5,"devices":["cpu"]})");
    CHECK(contains(refusal([&] { ResultFile::read(old.path); }), "is of a version of gradverify"));
    ResultFile other_factors = file_of({one}, {0, 2});
    PairsByRank reach;
    reach.emplace(1, LevelPairs(std::vector<Factor>{{.name = "z", .levels = {"0"}, .slots = {}}}));
    other_factors.verdicts.begin()->second.within_reach =
        std::make_shared<const PairsByRank>(std::move(reach));
    CHECK(contains(refusal([&] { merge({other_factors, file_of({one}, {1, 2})}); }),
                   "does not go with the others"));
    // Shards of which one was told to do something else are two runs, each of them in parts.
    ResultFile strict = file_of({one}, {1, 2});
    strict.run.how = "strict";
    CHECK(merge({file_of({one}, {0, 2}), strict}).missing.size() >= 2);
}

TEST_CASE("a row is thin as long as its cases of all files are few, and stays cut short") {
    RowResult thin = result_of("plain", "repeatable", Verdict::passed);
    thin.thin_of = 50;
    thin.cut_short = true;
    const std::string line = json_of_verdict(record_of(thin, "gradverify")).dump();
    CHECK(contains(line, R"("cut_short":true,"thin":true,"at_least":50)"));
    const RowResult whole = result_of("plain", "repeatable", Verdict::passed);
    CHECK_FALSE(contains(json_of_verdict(record_of(whole, "gradverify")).dump(), "thin"));
    const auto merged = [&](const std::vector<RowResult>& results) {
        std::vector<ResultFile> files;
        for (const RowResult& result : results)
            files.push_back(file_of({result}, {}, true, files.size()));
        return merge(files).records.front();
    };
    CHECK(merged({thin}).thin_of == 50);
    CHECK(merged({thin, whole}).thin_of == 50);
    CHECK(merged({thin, whole}).cut_short);
    CHECK(merged({whole, thin, thin}).thin_of == 0);
    CHECK_FALSE(merged({whole}).cut_short);
}

TEST_CASE("a run is held against an earlier one") {
    const RowResult passed = result_of("plain", "repeatable", Verdict::passed),
                    bounded = result_of("plain", "stays_in_bounds", Verdict::passed);
    RowResult few = bounded;
    few.passed = 17;
    const auto differences = [](const std::vector<RowResult>& before,
                                const std::vector<RowResult>& after) {
        return said(compare(merge({file_of(before)}), merge({file_of(after)})));
    };
    CHECK(differences({passed, bounded}, {passed, bounded}).empty());
    CHECK(differences({passed}, {found_at(3)}) ==
          "new: toy.forward/plain, repeatable on cpu failed (at n=2,in=3)\n");
    CHECK(differences({}, {found_at(3)}) ==
          "new: toy.forward/plain, repeatable on cpu failed (at n=2,in=3), and was not run "
          "before\n");
    CHECK(differences({found_at(3)}, {found_at(3, "n=3,in=3")}) ==
          "still failed, and otherwise: toy.forward/plain, repeatable on cpu (at n=3,in=3, before "
          "at n=2,in=3)\n");
    CHECK(differences({found_at(3)}, {found_at(9)}).empty());
    CHECK(differences({found_at(3)}, {passed}) ==
          "fixed: toy.forward/plain, repeatable on cpu, which failed\n");
    CHECK(differences({bounded}, {few}) ==
          "covered less: toy.forward/plain, stays_in_bounds on cpu in 17 cases, before in 20\n");
    CHECK(differences({passed, bounded}, {passed}) ==
          "not run any more: toy.forward/plain, stays_in_bounds on cpu\n");
}
