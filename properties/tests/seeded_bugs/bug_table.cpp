// SPDX-License-Identifier: Apache-2.0
#include "properties/tests/seeded_bugs/bug_table.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "harness/base/text.hpp"
#include "harness/run/shrink.hpp"
#include "properties/suite/suite.hpp"
#include "properties/tests/devices.hpp"
#include "properties/tests/seeded_bugs/hunt.hpp"

namespace gradverify {

namespace {

constexpr std::int64_t cases_maximum = 1000;  // of a row, as `check` runs by default

double median(std::vector<double> values) {
    if (values.empty()) return 0.0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

std::string text_of(const Minimality& minimality) {
    if (minimality.kind == Minimality::Kind::certified) return "certified";
    if (minimality.kind == Minimality::Kind::none) return "unproven";
    return "boxed, " + std::to_string(minimality.passed) + " of " + std::to_string(minimality.of) +
           (minimality.of_is_least ? " and more" : "");
}

/// What hunting one bug from several seeds came to.
struct Measured {
    int seeds = 0, killed = 0, at_smallest = 0;
    std::vector<double> cases, seconds;
    std::map<std::string, int> claims;
    std::string elsewhere;  ///< a problem where it ended that is not the smallest
};

Measured measure(const SeededBug& bug, const Row& row, int seeds) {
    using Clock = std::chrono::steady_clock;
    // The generator alone has to find it.
    const KernelSuite suite(Registry::instance(), {.edge_problems = false});
    WorkerPool pool(one_suite_worker());
    Measured measured{.seeds = seeds};
    // A worker, its device and the generator are made once in a run, not once for each bug.
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

nlohmann::ordered_json row_of(const SeededBug& bug, const std::string& device,
                              const Measured& measured) {
    const auto most_frequent = std::ranges::max_element(
        measured.claims, {}, [](const auto& claim) { return claim.second; });
    return {
        {"bug", bug.kernel},
        {"property", bug.property},
        {"device", device},
        {"seeds", measured.seeds},
        {"killed", measured.killed},
        {"cases", median(measured.cases)},
        {"problem", measured.elsewhere.empty() ? std::string(bug.smallest) : measured.elsewhere},
        {"smallest", bug.smallest},
        {"at_smallest", measured.at_smallest},
        {"proof", most_frequent == measured.claims.end() ? "" : most_frequent->first},
        {"seconds", median(measured.seconds)}};
}

using Rows = std::vector<nlohmann::ordered_json>;

/// Whether there is a row of the bug, with the smallest problem that it has by now.
bool is_measured(const Rows& rows, const SeededBug& bug, const std::string& device) {
    return std::ranges::any_of(rows, [&](const auto& row) {
        return row.at("device") == device && row.at("bug") == bug.kernel &&
               row.at("property") == bug.property && row.at("smallest") == bug.smallest;
    });
}

/// Which bugs are measured, and how.
struct Selection {
    std::vector<std::string> devices;
    int seeds = 20;
    std::string glob = "*";
    Rows known{};  ///< of bugs that are left out
};

int measure_all(const Selection& selection) {
    bool all_well = true;
    for (const std::string& device : selection.devices)
        for (const SeededBug& bug : every_seeded_bug()) {
            if (!glob_matches(selection.glob, std::string(bug.kernel))) continue;
            const auto row = row_of(bug, device);
            if (!row || is_measured(selection.known, bug, device)) continue;
            const Measured measured = measure(bug, *row, selection.seeds);
            std::cout << row_of(bug, device, measured).dump() << std::endl;
            all_well &= measured.killed * 20 >= selection.seeds * 19 &&
                        measured.at_smallest == measured.killed;
        }
    return all_well ? 0 : 1;
}

/// The cells of a line of a Markdown table, without blanks and backquotes.
std::vector<std::string> cells_of(std::string_view line) {
    std::vector<std::string> cells;
    for (std::string_view cell : split(line, '|')) {
        cell.remove_prefix(std::min(cell.find_first_not_of(" `"), cell.size()));
        cells.emplace_back(cell.substr(0, cell.find_last_not_of(" `") + 1));
    }
    return cells;
}

/// What `measure` prints, or a line of the table; null for a line that is neither.
nlohmann::ordered_json row_in(const std::string& line) {
    if (line.starts_with("{")) return nlohmann::ordered_json::parse(line);
    if (!line.starts_with("| cpu |") && !line.starts_with("| cuda |")) return nullptr;
    const auto cells = cells_of(line);
    if (cells.size() != 11) throw std::runtime_error("the row has not nine cells: " + line);
    const auto of = [&](std::size_t cell, bool second) {
        return std::stoi(cells[cell].substr(second ? cells[cell].find('/') + 1 : 0));
    };
    return {{"bug", cells[2]},        {"property", cells[3]},
            {"device", cells[1]},     {"seeds", of(4, true)},
            {"killed", of(4, false)}, {"cases", std::stod(cells[5])},
            {"smallest", cells[6]},   {"at_smallest", of(7, false)},
            {"proof", cells[8]},      {"seconds", std::stod(cells[9])}};
}

/// The rows of a stream, the last of each bug, property and device, in the lists' order.
Rows read_rows(std::istream& from) {
    std::map<std::string, nlohmann::ordered_json> rows;
    const auto key = [](const auto& bug, const auto& property, const auto& device) {
        return std::string(device) + " " + std::string(bug) + " " + std::string(property);
    };
    for (std::string line; std::getline(from, line);) {
        auto row = row_in(line);
        if (row.is_null()) continue;
        const auto text = [&](const char* field) { return row.at(field).get<std::string>(); };
        const std::string name = key(text("bug"), text("property"), text("device"));
        rows[name] = std::move(row);
    }
    Rows ordered;
    for (const char* device : {"cpu", "cuda"})
        for (const SeededBug& bug : every_seeded_bug())
            if (const auto row = rows.find(key(bug.kernel, bug.property, device));
                row != rows.end())
                ordered.push_back(row->second);
    return ordered;
}

std::string print_number(double value, const char* format) {
    char text[32];
    std::snprintf(text, sizeof text, format, value);
    return text;
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
           "| device | bug | property | killed | cases | smallest problem | at it | proof | "
           "seconds |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
    std::map<std::string, std::vector<double>> seconds;
    for (const auto& row : rows) {
        const auto text = [&](const char* field) { return row.at(field).get<std::string>(); };
        const auto number = [&](const char* field, const char* format) {
            return print_number(row.at(field).get<double>(), format);
        };
        std::cout << "| " << text("device") << " | `" << text("bug") << "` | " << text("property")
                  << " | " << number("killed", "%.0f") << "/" << number("seeds", "%.0f") << " | "
                  << number("cases", "%.0f") << " | `" << text("smallest") << "` | "
                  << number("at_smallest", "%.0f") << "/" << number("killed", "%.0f") << " | "
                  << text("proof") << " | " << number("seconds", "%.2f") << " |\n";
        seconds[text("device")].push_back(row.at("seconds").get<double>());
    }
    for (const auto& [device, of_rows] : seconds)
        std::cout << "\nOn `" << device << "`, the median of the seconds is "
                  << print_number(median(of_rows), "%.2f") << ", of " << of_rows.size()
                  << " rows.\n";
}

/// Tells each seeded bug that has no row for the cpu device, which every machine can measure, or
/// whose smallest problem is another one by now.
int print_missing(const Rows& rows) {
    int missing = 0;
    for (const SeededBug& bug : every_seeded_bug()) {
        if (is_measured(rows, bug, "cpu") || !row_of(bug, "cpu")) continue;
        std::cout << "no row for " << bug.kernel << " and " << bug.property << "\n";
        ++missing;
    }
    return missing == 0 ? 0 : 1;
}

int usage() {
    std::cerr << "usage: bug-table measure [--device cpu|cuda] [--seeds N] [--bug GLOB] [--without "
                 "FILE] |\n       bug-table markdown | missing\n";
    return 2;
}

}  // namespace

int bug_table_main(std::span<const std::string> arguments) {
    if (arguments.empty()) return usage();
    const std::string& mode = arguments.front();
    if (mode == "markdown" && arguments.size() == 1) {
        print_markdown(read_rows(std::cin));
        return 0;
    }
    if (mode == "missing" && arguments.size() == 1) return print_missing(read_rows(std::cin));
    if (mode != "measure" || arguments.size() % 2 == 0) return usage();
    Selection selection{.devices = test_devices()};
    for (std::size_t i = 1; i < arguments.size(); i += 2) {
        const std::string &option = arguments[i], &value = arguments[i + 1];
        if (option == "--device" && (value == "cpu" || value == "cuda")) {
            selection.devices = {value};
        } else if (const auto number = parse_int(value);
                   option == "--seeds" && number && *number > 0 && *number <= 1000) {
            selection.seeds = static_cast<int>(*number);
        } else if (option == "--bug") {
            selection.glob = value;
        } else if (std::ifstream file(value); option == "--without" && file) {
            selection.known = read_rows(file);
        } else {
            return usage();
        }
    }
    return measure_all(selection);
}

}  // namespace gradverify
