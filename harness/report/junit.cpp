// SPDX-License-Identifier: Apache-2.0
#include "harness/report/junit.hpp"

#include <fmt/format.h>

#include <fstream>
#include <map>

#include "harness/base/errors.hpp"
#include "harness/report/failure.hpp"

namespace gradverify {

namespace {

/// Text for an attribute or an element; control characters, which XML forbids, become blanks.
std::string escaped(const std::string& text) {
    static const std::map<char, std::string> names{
        {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\n', "&#10;"}};
    std::string out;
    for (const char c : text)
        if (const auto named = names.find(c); named != names.end())
            out += named->second;
        else
            out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    return out;
}

/// The failure in one sentence, and what fails in general.
std::string message_of(const RowResult& result) {
    if (!result.failure) return result.message;
    std::string message = result.message;
    const Shrunk& failure = *result.failure;
    for (const std::string& more : {failure.generality.text, failure.values, failure.witnesses})
        if (!more.empty()) message += "; " + more;
    return message;
}

std::string element_of(const RowResult& result, const std::string& program) {
    const std::string message = escaped(message_of(result));
    if (result.known)
        return fmt::format("<skipped message=\"known to be {}: {}\"/>", name_of(result.verdict),
                           escaped(result.message));
    switch (result.verdict) {
        case Verdict::passed:
            return {};
        case Verdict::failed:
            return fmt::format("<failure message=\"{}\">{}</failure>", message,
                               escaped(report_bug({&result}, program)));
        case Verdict::vacuous:
            return fmt::format("<failure message=\"vacuous: {}\"/>", message);
        case Verdict::errored:
            return fmt::format("<error message=\"{}\"/>", message);
        case Verdict::skipped:
            return fmt::format("<skipped message=\"{}\"/>", message);
    }
    return {};
}

}  // namespace

std::string junit_xml(const std::vector<RowResult>& results, double seconds,
                      const std::string& program) {
    std::int64_t failures = 0, errors = 0, skipped = 0;
    for (const RowResult& result : results) {
        if (result.known || result.verdict == Verdict::skipped)
            ++skipped;
        else if (result.verdict == Verdict::errored)
            ++errors;
        else if (result.verdict != Verdict::passed)
            ++failures;
    }
    std::string xml = fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuite name=\"gradverify\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
        "skipped=\"{}\" time=\"{:f}\">\n",
        results.size(), failures, errors, skipped, seconds);
    for (const RowResult& result : results)
        xml +=
            fmt::format("  <testcase classname=\"{}\" name=\"{}@{}\" time=\"{:f}\">{}</testcase>\n",
                        escaped(result.row.kernel->name), result.row.property->name,
                        result.row.device, result.seconds, element_of(result, program));
    return xml + "</testsuite>\n";
}

void write_junit(const std::string& path, const std::string& xml) {
    std::ofstream file(path);
    file << xml << std::flush;
    if (!file) throw EnvironmentError("can't write " + path);
}

}  // namespace gradverify
