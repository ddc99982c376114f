// SPDX-License-Identifier: Apache-2.0
// What libFuzzer calls, or replay.cpp in its place. `--NAME` chooses the parser: libFuzzer leaves
// alone what begins with two dashes, and hands it on to the processes that it starts.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "harness/tests/fuzz/targets.hpp"

namespace gradverify::fuzz {
namespace {

struct Target {
    std::string_view name;
    void (*run)(std::string_view text);
};

constexpr Target targets[] = {{"problem", problem},
                              {"case", printed_case},
                              {"layout", layout},
                              {"numbers", numbers},
                              {"shard", shard},
                              {"protocol", protocol},
                              {"corpus", corpus},
                              {"results", results},
                              {"baseline", baseline},
                              {"bench", bench},
                              {"rewrite", rewrite},
                              {"sanitizer_log", sanitizer_log},
                              {"tensor_file", tensor_file}};

const Target* chosen = nullptr;

}  // namespace
}  // namespace gradverify::fuzz

// NOLINTBEGIN(readability-identifier-naming): the names are libFuzzer's.
extern "C" int LLVMFuzzerInitialize(int* count, char*** words) {
    using namespace gradverify::fuzz;
    for (const std::string_view word : std::span(*words, static_cast<std::size_t>(*count)))
        for (const Target& target : targets)
            if (word.starts_with("--") && word.substr(2) == target.name) chosen = &target;
    require(chosen != nullptr, "one of the words is --NAME, which names a target");
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    gradverify::fuzz::chosen->run({reinterpret_cast<const char*>(data), size});
    return 0;
}
// NOLINTEND(readability-identifier-naming)
