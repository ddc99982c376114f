// SPDX-License-Identifier: Apache-2.0
#include "harness/report/files/junit.hpp"

#include <fmt/format.h>

#include <map>

#include "harness/report/text/failure.hpp"

namespace gradverify {

namespace {

/// Text for an attribute or an element; control characters, which XML forbids, become blanks.
std::string in_xml(const std::string& text) {
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
std::string whole_message_of(const RowRecord& record) {
    std::string message = record.message;
    if (const auto& failure = record.failure)
        for (const std::string& more :
             {failure->symptoms.outputs, failure->symptoms.pattern, failure->symptoms.only,
              failure->generality.text, failure->values, failure->witnesses})
            if (!more.empty()) message += "; " + more;
    return message;
}

std::string element_of(const RowRecord& record) {
    const std::string message = in_xml(whole_message_of(record));
    if (record.known)
        return fmt::format("<skipped message=\"known to be {}: {}\"/>", name_of(record.verdict),
                           in_xml(record.message));
    switch (record.verdict) {
        case Verdict::passed:
            if (!record.is_thin()) return {};
            return fmt::format("<system-out>thin: {} case{}</system-out>", record.cases,
                               record.cases == 1 ? "" : "s");
        case Verdict::failed:
            return fmt::format("<failure message=\"{}\">{}</failure>", message,
                               in_xml(record.failure ? record.failure->report : ""));
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

std::string junit_xml(const std::vector<RowRecord>& records, double seconds) {
    std::int64_t failures = 0, errors = 0, skipped = 0;
    for (const RowRecord& record : records) {
        if (record.known || record.verdict == Verdict::skipped)
            ++skipped;
        else if (record.verdict == Verdict::errored)
            ++errors;
        else if (record.verdict != Verdict::passed)
            ++failures;
    }
    std::string xml = fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuite name=\"gradverify\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
        "skipped=\"{}\" time=\"{:f}\">\n",
        records.size(), failures, errors, skipped, seconds);
    for (const RowRecord& record : records)
        xml +=
            fmt::format("  <testcase classname=\"{}\" name=\"{}@{}\" time=\"{:f}\">{}</testcase>\n",
                        in_xml(record.kernel), in_xml(record.property), in_xml(record.device),
                        record.seconds, element_of(record));
    return xml + "</testsuite>\n";
}

}  // namespace gradverify
