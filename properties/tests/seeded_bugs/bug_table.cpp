// SPDX-License-Identifier: Apache-2.0
#include "properties/tests/seeded_bugs/bug_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>
#include <vector>

#include "harness/base/text.hpp"
#include "harness/run/shrink_in_workers.hpp"
#include "properties/suite/kernel_suite.hpp"
#include "properties/tests/devices.hpp"
#include "properties/tests/museum/pieces.hpp"
#include "properties/tests/seeded_bugs/hunt.hpp"

namespace gradverify {

namespace {

constexpr std::int64_t cases_maximum = 1000;  // of a row, as `check` runs by default
constexpr int seeds = 20;

double median(std::vector<double> values) {
    if (values.empty()) return 0.0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

std::string text_of(const Minimality& minimality) {
    if (minimality.kind == Minimality::Kind::certified) return "certified";
    if (minimality.kind == Minimality::Kind::none) return "unproven";
    return fmt::format("boxed, {} of {}{}", minimality.passed, minimality.of,
                       minimality.of_is_least ? " and more" : "");
}

struct Measured {
    int killed = 0, at_smallest = 0;
    std::vector<double> cases, seconds;
    std::map<std::string, int> claims;
    std::string elsewhere;  ///< a problem where it ended that is not the smallest
};

Measured measure(const SeededBug& bug, const Row& row) {
    using Clock = std::chrono::steady_clock;
    const KernelSuite suite(Registry::instance(), {.edge_problems = false});
    WorkerPool pool(one_suite_worker());
    Measured measured;
    // A run makes its worker and generator once, so their cost is no bug's.
    if (const auto warm = suite.draw(row, 0, 0).drawn) pool.run(*warm);
    for (int seed = 1; seed <= seeds; ++seed) {
        const auto start = Clock::now();
        const auto failure =
            first_failure(suite, row, static_cast<std::uint64_t>(seed), pool, cases_maximum);
        if (!failure) continue;
        const Shrunk shrunk = shrink_in_workers(suite, pool, failure->found, failure->outcome);
        ++measured.killed;
        measured.cases.push_back(static_cast<double>(failure->cases));
        measured.seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
        const std::string problem = shrunk.smallest.problem.print();
        if (problem == bug.smallest) {
            ++measured.at_smallest;
            ++measured.claims[text_of(shrunk.minimality)];
        } else {
            measured.elsewhere = problem;
        }
    }
    return measured;
}

/// A line of the table; the cell of a device that has not measured the bug is empty.
struct TableRow {
    std::string_view bug, property, smallest;
    std::array<std::string, 2> cells{};

    bool is_of(std::string_view kernel, std::string_view by, std::string_view at) const {
        return bug == kernel && property == by && smallest == at;
    }
    std::string line() const {
        return fmt::format("| `{}` | {} | `{}` | {} | {} |", bug, property, smallest, cells[0],
                           cells[1]);
    }
};
using Rows = std::vector<TableRow>;

std::string cell_of(const Measured& measured) {
    const auto most_frequent = std::ranges::max_element(
        measured.claims, {}, [](const auto& claim) { return claim.second; });
    return fmt::format("{}/{}, {:.0f}, {}/{}, {}, {:.2f}", measured.killed, seeds,
                       median(measured.cases), measured.at_smallest, measured.killed,
                       most_frequent == measured.claims.end() ? "" : most_frequent->first,
                       median(measured.seconds));
}

/// What it takes to kill a bug, as a table has it.
struct BugCell {
    std::string text;
    std::string elsewhere;  ///< a problem where it ended that is not the smallest
    bool is_well;           ///< killed from 19 seeds of 20, and always at its smallest problem
};

BugCell measure_bug(const SeededBug& bug, const std::string& device) {
    const Measured measured = measure(bug, row_of(bug, device).value());
    return {.text = cell_of(measured),
            .elsewhere = measured.elsewhere,
            .is_well = measured.killed >= seeds - 1 && measured.at_smallest == measured.killed};
}

std::size_t column_of(std::string_view device) { return device == "cpu" ? 0 : 1; }

bool is_measured(const Rows& rows, const SeededBug& bug, std::string_view device) {
    return std::ranges::any_of(rows, [&](const TableRow& row) {
        return row.is_of(bug.kernel, bug.property, bug.smallest) &&
               !row.cells[column_of(device)].empty();
    });
}

int measure_all(const Rows& known) {
    bool all_well = true;
    for (const std::string& device : test_devices())
        for (const SeededBug& bug : every_seeded_bug()) {
            const auto row = row_of(bug, device);
            if (!row || is_measured(known, bug, device)) continue;
            const BugCell cell = measure_bug(bug, device);
            TableRow line{bug.kernel, bug.property, bug.smallest};
            line.cells[column_of(device)] = cell.text;
            std::cout << line.line() << std::endl;
            if (!cell.elsewhere.empty())
                std::cerr << bug.kernel << " also ended at " << cell.elsewhere << "\n";
            all_well &= cell.is_well;
        }
    return all_well ? 0 : 1;
}

/// The rows of a stream in the lists' order, with the last cell of each bug, property and device.
/// Rows for a former smallest problem are left out.
Rows read_rows(std::istream& from) {
    Rows rows;
    for (const SeededBug& bug : every_seeded_bug())
        rows.push_back({bug.kernel, bug.property, bug.smallest});
    for (std::string line; std::getline(from, line);) {
        if (!line.starts_with("| `")) continue;
        std::vector<std::string_view> cells;  // without blanks and backquotes
        for (std::string_view cell : split(line, '|')) {
            cell.remove_prefix(std::min(cell.find_first_not_of(" `"), cell.size()));
            cells.push_back(cell.substr(0, cell.find_last_not_of(" `") + 1));
        }
        if (cells.size() != 7) throw std::runtime_error("the row has not five cells: " + line);
        for (TableRow& row : rows)
            for (std::size_t i = 0; i < 2 && row.is_of(cells[1], cells[2], cells[3]); ++i)
                if (!cells[4 + i].empty()) row.cells[i] = cells[4 + i];
    }
    std::erase_if(rows, [](const TableRow& row) { return row.cells == TableRow{}.cells; });
    return rows;
}

void print_markdown(const Rows& rows) {
    std::cout
        << "# Seeded bugs\n\n"
           "Kernels that are wrong on purpose, in `properties/tests/seeded_bugs/`, and what it "
           "takes to kill each: cases\nand seconds are medians over the seeds, with the "
           "generator alone (the fixed list of edge problems\nis off); seconds include "
           "shrinking and certifying, with one worker, and are longer where others hunted\non "
           "the same GPU. `killed` counts the seeds, `at it` those of them that ended at the "
           "problem. Made by\n`./run bug-table`. A18, offsets that overflow beyond 2^31 "
           "elements, is hunted by\n`gradverify_large_tests`.\n\n"
           "| bug | property | smallest problem | on `cpu`: killed, cases, at it, proof, seconds | "
           "on `cuda` |\n| --- | --- | --- | --- | --- |\n";
    for (const TableRow& row : rows) std::cout << row.line() << "\n";
    for (const std::string_view device : {"cpu", "cuda"}) {
        std::vector<double> seconds;
        for (const TableRow& row : rows)
            if (const std::string& cell = row.cells[column_of(device)]; !cell.empty())
                seconds.push_back(std::stod(cell.substr(cell.rfind(' '))));
        if (!seconds.empty())
            std::cout << fmt::format(
                "\nOn `{}`, the median of the seconds is {:.2f}, of {} rows.\n", device,
                median(seconds), seconds.size());
    }
}

int print_missing(const Rows& rows) {
    int missing = 0;
    for (const SeededBug& bug : every_seeded_bug()) {
        if (is_measured(rows, bug, "cpu") || !row_of(bug, "cpu")) continue;
        std::cout << "no row for " << bug.kernel << " and " << bug.property << "\n";
        ++missing;
    }
    return missing == 0 ? 0 : 1;
}

int measure_museum() {
    bool all_well = true;
    for (const MuseumPiece& piece : museum) {
        const BugCell cell = measure_bug(piece.bug, "cpu");
        const auto thread = split(piece.thread, '#');
        std::cout << fmt::format(
                         "| [{}](https://github.com/{}/issues/{}) | {} | `{}` | {} | `{}` | "
                         "{} |",
                         piece.thread, thread[0], thread[1], piece.mistake, piece.bug.kernel,
                         piece.bug.property, piece.bug.smallest, cell.text)
                  << std::endl;
        all_well &= cell.is_well;
    }
    return all_well ? 0 : 1;
}

int usage() {
    std::cerr << "usage: bug-table measure [--without FILE] | markdown | missing | museum\n";
    return 2;
}

}  // namespace

int bug_table_main(std::span<const std::string> arguments) {
    const std::string mode = arguments.empty() ? "" : arguments[0];
    if (mode == "measure" && arguments.size() == 1) return measure_all({});
    if (mode == "measure" && arguments.size() == 3 && arguments[1] == "--without")
        if (std::ifstream file(arguments[2]); file) return measure_all(read_rows(file));
    if (mode == "museum" && arguments.size() == 1) return measure_museum();
    if (arguments.size() != 1 || (mode != "markdown" && mode != "missing")) return usage();
    const Rows rows = read_rows(std::cin);
    if (mode == "missing") return print_missing(rows);
    print_markdown(rows);
    return 0;
}

}  // namespace gradverify
