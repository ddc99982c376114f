// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>

#include "harness/base/errors.hpp"
#include "harness/bench/bench_json.hpp"
#include "harness/bench/statistics.hpp"
#include "harness/cases/tensor_file.hpp"
#include "harness/report/files/ci.hpp"
#include "harness/report/files/json.hpp"
#include "harness/report/files/junit.hpp"
#include "harness/report/runs/baseline.hpp"
#include "harness/report/runs/corpus.hpp"
#include "harness/report/runs/merge.hpp"
#include "harness/report/text/summary.hpp"
#include "harness/simt/rewrite/rewrite.hpp"
#include "harness/simt/rewrite/tokens.hpp"
#include "harness/testing/temporary_folder.hpp"
#include "harness/tests/fuzz/targets.hpp"

namespace gradverify::fuzz {

namespace {

std::string dump(const ordered_json& object) {
    return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

/// A verdict's line with all that it is made of.
std::string line_of(const RowRecord& record) { return dump(json_of_verdict(record, true)); }

/// A folder of one case, which is the input's file.
struct Folder : testing::TemporaryFolder {
    explicit Folder(const std::string& file) {
        std::filesystem::create_symlink(file, path() / "one.case");
    }
};

}  // namespace

std::string file_of(std::string_view text) {
    // In memory: a disk would take most of the time.
    static const int file = memfd_create("input", 0);
    const auto size = static_cast<ssize_t>(text.size());
    require(ftruncate(file, 0) == 0 && pwrite(file, text.data(), text.size(), 0) == size,
            "there is memory for the input");
    return "/proc/self/fd/" + std::to_string(file);
}

void tensor_file(std::string_view text) {
    const auto require_whole = [&](const StoredTensor& tensor) {
        require(text.data() <= tensor.bytes.data() &&
                    tensor.bytes.data() + tensor.bytes.size() <= text.data() + text.size(),
                "a tensor lies in its file");
        require(static_cast<std::int64_t>(tensor.values().size()) == element_count(tensor.sizes),
                "a tensor has as many elements as its sizes say");
    };
    if (const auto read = parsed<std::invalid_argument>([&] { return read_npy(text); }))
        require_whole(*read);
    if (const auto read = parsed<std::invalid_argument>([&] { return read_safetensors(text); }))
        for (const auto& [name, tensor] : *read) require_whole(tensor);
}

void corpus(std::string_view text) {
    static const Folder folder(file_of(text));
    file_of(text);
    const Corpus read(folder.path().string(), registry());
    require(read.cases().size() + read.stale().size() == 1, "a case is run or said to be stale");
    for (const Case& one : read.cases())
        require(!why_unsupported(*registry().find_kernel(one.kernel), one.setting),
                "a case that is run is one of its kernel");
}

void results(std::string_view text) {
    const auto read = parsed<UsageError>([&] { return ResultFile::read(file_of(text)); });
    if (!read) return;
    for (const auto& [name, record] : read->verdicts) {
        require(record.cases >= 0 && record.passed >= 0 && record.error_over_bound.count() >= 0,
                "a count is not negative");
        // The first line may replace bytes that are no UTF-8.
        const std::string once = line_of(record_from(parse_json(line_of(record))));
        require(line_of(record_from(parse_json(once))) == once,
                "a verdict that is written is read");
    }
    // Beside a run of another seed that came to the same.
    ResultFile other = *read;
    ++other.run.seed;
    const auto merged = parsed<UsageError>([&] { return merge({*read, other}); });
    if (!merged) return;
    for (const ordered_json& line : lines_of(*merged, compare(*merged, *merged))) dump(line);
    junit_xml(merged->records, merged->seconds);
    dump(sarif_of(merged->records));
    github_annotations(merged->records);
    summarize({}, merged->records, merged->absent, merged->seconds);
}

void baseline(std::string_view text) {
    const auto read = parsed<UsageError>([&] { return Baseline::read(file_of(text)); });
    if (!read) return;
    RowRecord record{{"toy.forward/plain", "repeatable", "cpu"}};
    for (const Verdict verdict : {Verdict::passed, Verdict::failed, Verdict::vacuous}) {
        record.verdict = verdict;
        require(!read->knows(record) || verdict != Verdict::passed, "no pass is a known failure");
        read->gone({record});
    }
}

void bench(std::string_view text) {
    const auto read = parsed<UsageError>([&] { return read_bench(file_of(text)); });
    if (!read) return;
    for (const BenchRecord& record : read->records) {
        const Spread spread = spread_of(record.samples);
        require(spread.low <= spread.median && spread.median <= spread.high,
                "a median lies between its quartiles");
    }
}

void rewrite(std::string_view text) {
    if (text.find('\0') != std::string_view::npos)
        return;  // it would end the message in the name of a file
    std::string joined;
    for (const auto& token : simt::rewrite::tokenize(text)) joined += token.text;
    require(joined == text, "the tokens are the text");
    const auto rewritten =
        parsed<simt::rewrite::RewriteError>([&] { return simt::rewrite::rewrite(text); });
    if (!rewritten) return;
    const auto has = [&](std::string_view word) {
        return text.find(word) != std::string_view::npos;
    };
    if (!has("<") && !has("__") && !has("#") && !has("asm") && !has("cudaLaunch"))
        require(*rewritten == text, "what is no CUDA stays as it is");
    // The text for a device ends where the first half does.
    parsed<simt::rewrite::RewriteError>(
        [&] { return simt::rewrite::merge_device_text(text, text.substr(0, text.size() / 2)); });
}

}  // namespace gradverify::fuzz
