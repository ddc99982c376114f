// SPDX-License-Identifier: Apache-2.0
// In libFuzzer's place where there is none: `--NAME [-runs=N] FOLDER` runs each file of the folder,
// and N inputs that are made of them, the same ones every time. The file `NAME.input` holds the
// input at hand, and stays where a run is ended by it.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "harness/base/random.hpp"
#include "harness/base/text.hpp"
#include "harness/tests/fuzz/targets.hpp"

// NOLINTBEGIN(readability-identifier-naming): the names are libFuzzer's.
extern "C" int LLVMFuzzerInitialize(int* count, char*** words);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
// NOLINTEND(readability-identifier-naming)

namespace gradverify {
namespace {

constexpr std::size_t longest = 4096;

class Mutator {
  public:
    explicit Mutator(const std::vector<std::string>& seeds) : seeds_(seeds) {}

    std::string next() {
        std::string text = one_of_seeds();
        for (std::size_t edits = 1 + below(4); edits > 0; --edits) edit(text);
        return text.substr(0, longest);
    }

  private:
    std::size_t below(std::size_t end) { return random_.next() % end; }
    const std::string& one_of_seeds() { return seeds_[below(seeds_.size())]; }

    std::string part_of(const std::string& text) {
        const std::size_t begin = below(text.size() + 1);
        return text.substr(begin, below(16));
    }

    void edit(std::string& text) {
        // What parsers stumble over, beside parts of the seeds.
        static const auto words = split(
            "0 -1 9223372036854775807 18446744073709551616 1e300 nan = , : x \n \" [ { < ;", ' ');
        const std::size_t at = below(text.size() + 1), count = below(8);
        switch (below(4)) {
            case 0:
                text.erase(at, count);
                break;
            case 1:
                text.insert(at, words[below(words.size())]);
                break;
            case 2:
                text.insert(at, part_of(one_of_seeds()));
                break;
            default:
                if (at < text.size()) text[at] = static_cast<char>(below(256));
        }
    }

    const std::vector<std::string>& seeds_;
    SplitMix64 random_{1};
};

std::vector<std::string> files_of(const std::string& folder) {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        paths.push_back(entry.path());
    std::ranges::sort(paths);
    std::vector<std::string> texts;
    for (const auto& path : paths) {
        std::ifstream file(path, std::ios::binary);
        texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return texts;
}

/// `kept`: an open file. To make one for each input would take most of the time.
void run(const std::string& text, int kept) {
    fuzz::require(pwrite(kept, text.data(), text.size(), 0) == std::ssize(text) &&
                      ftruncate(kept, std::ssize(text)) == 0,
                  "the input at hand can be kept");
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

int replay(const std::vector<std::string>& words) {
    std::string name;
    std::uint64_t runs = 0;
    std::vector<std::string> seeds;
    for (const std::string& word : words)
        if (word.starts_with("--"))
            name = word.substr(2);
        else if (word.starts_with("-runs="))
            runs = parse_uint(word.substr(6)).value_or(0);
        else
            seeds = files_of(word);
    const std::string path = name + ".input";
    const int kept = open(path.c_str(), O_CREAT | O_WRONLY, 0666);
    for (const std::string& seed : seeds) run(seed, kept);
    if (seeds.empty()) return 1;
    Mutator mutator(seeds);
    for (std::uint64_t i = 0; i < runs; ++i) run(mutator.next(), kept);
    std::filesystem::remove(path);
    return 0;
}

}  // namespace
}  // namespace gradverify

int main(int count, char** words) {
    LLVMFuzzerInitialize(&count, &words);
    return gradverify::replay({words + 1, words + count});
}
