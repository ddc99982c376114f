// SPDX-License-Identifier: Apache-2.0
#include "harness/report/junit.hpp"

#include <fstream>

#include "harness/base/errors.hpp"
#include "harness/report/failure.hpp"
#include "harness/report/summary.hpp"

namespace gradverify {

namespace {

/// Text for an attribute or an element; control characters, which XML forbids, become blanks.
std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\n':
                out += "&#10;";
                break;
            default:
                out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
        }
    return out;
}

std::string attribute(const char* name, const std::string& value) {
    return std::string(" ") + name + "=\"" + escaped(value) + "\"";
}

/// The failure in one sentence, and what is known of it in general.
std::string message_of(const RowResult& result) {
    if (!result.failure) return result.message;
    std::string message = result.message;
    for (const std::string& more : {result.failure->generality.text, result.failure->witnesses})
        if (!more.empty()) message += "; " + more;
    return message;
}

std::string element_of(const RowResult& result, const std::string& program) {
    if (result.known)
        return "<skipped" +
               attribute("message", "known to be " + std::string(name_of(result.verdict)) + ": " +
                                        result.message) +
               "/>";
    switch (result.verdict) {
        case Verdict::passed:
            return {};
        case Verdict::failed:
            return "<failure" + attribute("message", message_of(result)) + ">" +
                   escaped(report_failure(result, program)) + "</failure>";
        case Verdict::vacuous:
            return "<failure" + attribute("message", "vacuous: " + result.message) + "/>";
        case Verdict::errored:
            return "<error" + attribute("message", result.message) + "/>";
        case Verdict::skipped:
            return "<skipped" + attribute("message", result.message) + "/>";
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
    std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite";
    xml += attribute("name", "gradverify") + attribute("tests", std::to_string(results.size())) +
           attribute("failures", std::to_string(failures)) +
           attribute("errors", std::to_string(errors)) +
           attribute("skipped", std::to_string(skipped)) +
           attribute("time", std::to_string(seconds)) + ">\n";
    for (const RowResult& result : results)
        xml += "  <testcase" + attribute("classname", result.row.kernel->name) +
               attribute("name", result.row.property_name() + "@" + result.row.device) +
               attribute("time", std::to_string(result.seconds)) + ">" +
               element_of(result, program) + "</testcase>\n";
    return xml + "</testsuite>\n";
}

void open_junit(const std::string& path) {
    if (!std::ofstream(path)) throw EnvironmentError("can't write " + path);
}

void write_junit(const std::string& path, const std::vector<RowResult>& results, double seconds,
                 const std::string& program) {
    std::ofstream file(path);
    file << junit_xml(results, seconds, program);
    file.flush();
    if (!file) throw EnvironmentError("can't write " + path);
}

}  // namespace gradverify
