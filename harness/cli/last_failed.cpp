// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/last_failed.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <set>
#include <sstream>

#include "harness/base/errors.hpp"
#include "harness/base/files.hpp"
#include "harness/drafting/user_build.hpp"

namespace gradverify {

namespace {

std::filesystem::path file_of_folder() {
    const std::string here = std::filesystem::current_path();
    return cache_folder() / "last-failed" / fmt::format("{:016x}", std::hash<std::string>()(here));
}

std::set<RowName> read() {
    std::set<RowName> rows;
    std::istringstream text(read_file(file_of_folder()).value_or(""));
    for (RowName row; text >> row.kernel >> row.property >> row.device;) rows.insert(row);
    return rows;
}

}  // namespace

std::vector<Row> last_failed(std::vector<Row> rows) {
    const std::set<RowName> failed = read();
    std::erase_if(rows, [&](const Row& row) {
        return !failed.contains({row.kernel->name, row.property_name(), row.device});
    });
    if (rows.empty())
        throw UsageError("--last-failed: no row that is selected failed last time in this folder");
    return rows;
}

void keep_failed(const std::vector<RowRecord>& records) try {
    const std::set<RowName> before = read();
    std::set<RowName> failed = before;
    for (const RowRecord& record : records)
        if (record.is_wrong())
            failed.insert(record);
        else if (record.verdict == Verdict::passed)
            failed.erase(record);
    if (failed == before) return;
    const std::filesystem::path file = file_of_folder();
    std::filesystem::create_directories(file.parent_path());
    std::string text;
    for (const RowName& row : failed)
        text += fmt::format("{} {} {}\n", row.kernel, row.property, row.device);
    const std::string aside = fmt::format("{}.{}", file.string(), getpid());
    write_file(aside, text);
    std::filesystem::rename(aside, file);
} catch (const EnvironmentError&) {
} catch (const std::filesystem::filesystem_error&) {
}

}  // namespace gradverify
