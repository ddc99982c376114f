// SPDX-License-Identifier: Apache-2.0
// Results of rows, made by hand.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "harness/run/result.hpp"
#include "harness/testing/fake_suite.hpp"
#include "harness/testing/made_operator.hpp"

namespace gradverify::testing {

/// A file that no other process has, gone with the scope.
class TemporaryFile {
  public:
    explicit TemporaryFile(const std::string& text = "") { std::ofstream(path) << text; }
    ~TemporaryFile() { std::filesystem::remove(path); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    std::vector<std::string> lines() const {
        std::ifstream file(path);
        std::vector<std::string> all;
        for (std::string line; std::getline(file, line);) all.push_back(line);
        return all;
    }

    const std::string path =
        (std::filesystem::temp_directory_path() /
         ("gradverify_test_" + std::to_string(getpid()) + "_" + std::to_string(count++)))
            .string();

  private:
    static inline int count = 0;
};

/// The kernels toy.forward/plain and toy.forward/tree_reduction, on both devices.
inline const Registry& registry_of_results() {
    static const Registry registry =
        registry_of({toy_kernel("plain"), toy_kernel("plain", "cuda"), toy_kernel("tree_reduction"),
                     toy_kernel("tree_reduction", "cuda")});
    return registry;
}

/// The kernel toy.forward/own with these constraints, in a registry of its own.
struct Declared {
    explicit Declared(const KernelDeclaration& declaration, Operator op = toy_operator())
        : registry(registry_of({declaration}, std::move(op))),
          kernel(registry.find_kernel("toy.forward/own")) {}

    Registry registry;
    const Kernel* kernel;
};

/// The pairs of levels of these problems.
inline std::shared_ptr<const PairsByRank> reach_of(const Kernel& kernel,
                                                   const std::vector<std::string>& problems) {
    PairsByRank reach;
    for (const std::string& text : problems) {
        const Problem problem = Problem::parse(kernel.op->space, text);
        LevelPairs& pairs =
            reach.try_emplace(problem.rank(), factors_of(*kernel.op, kernel.any(), problem.rank()))
                .first->second;
        pairs.add(pairs.levels_of(problem), kernel.op->is_empty(problem));
    }
    return std::make_shared<const PairsByRank>(std::move(reach));
}

inline RowResult result_of(const std::string& variant, const std::string& property, Verdict verdict,
                           std::string message = "", std::string device = "cpu") {
    RowResult result;
    result.row = {registry_of_results().find_kernel("toy.forward/" + variant),
                  property_called(property), std::move(device)};
    result.verdict = verdict;
    result.message = std::move(message);
    result.cases = verdict == Verdict::skipped ? 0 : 20;
    result.passed = verdict == Verdict::passed ? 20 : 0;
    result.seconds = 0.25;
    return result;
}

inline Case case_of(const RowResult& result, const char* problem = "n=2,in=3") {
    return {.kernel = result.row.kernel->name,
            .property = result.row.property_name(),
            .device = result.row.device,
            .problem = Problem::parse(result.row.kernel->op->space, problem),
            .data = {.is_explicit = true, .elements = {{.tensor = "x", .index = 0, .value = 1.0}}}};
}

inline RowResult failure_of(const std::string& variant, const std::string& property,
                            Outcome outcome,
                            Minimality minimality = {Minimality::Kind::certified, 7, 7}) {
    RowResult result = result_of(variant, property, Verdict::failed, outcome.message);
    result.failure = Shrunk{{minimality}, case_of(result), std::move(outcome), 41};
    return result;
}

}  // namespace gradverify::testing
