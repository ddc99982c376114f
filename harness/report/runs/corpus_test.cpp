// SPDX-License-Identifier: Apache-2.0
#include "harness/report/runs/corpus.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "harness/base/errors.hpp"
#include "harness/base/text.hpp"
#include "harness/testing/made_results.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

namespace fs = std::filesystem;

/// A folder that is gone with the scope.
struct Folder {
    Folder() { fs::remove(file.path); }
    ~Folder() { fs::remove_all(file.path); }
    std::size_t files() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(file.path), fs::directory_iterator()));
    }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(file.path + "/" + name) << text;
    }
    Corpus open() const { return {file.path, registry_of_results()}; }

    TemporaryFile file;
};

Case failing(const char* problem = "n=2,in=3") {
    return case_of(result_of("plain", "repeatable", Verdict::failed), problem);
}

}  // namespace

TEST_CASE("a kept case is read again, and kept once") {
    const Folder folder;
    Corpus empty = folder.open();
    CHECK(empty.cases().empty());
    CHECK(empty.stale().empty());
    empty.keep(failing(), "differs\nmuch");
    empty.keep(failing("in=9"), "differs");
    empty.keep(failing(), "differs in other words");
    CHECK(empty.kept() == 2);
    CHECK(folder.files() == 2);
    Corpus again = folder.open();
    CHECK(again.stale().empty());
    CHECK(again.cases().size() == 2);
    CHECK(std::ranges::count(again.cases(), failing()) == 1);
    again.keep(failing(), "differs");
    CHECK(again.kept() == 0);
}

TEST_CASE("a case can be added by hand; other files are left alone") {
    const Folder folder;
    fs::create_directory(folder.file.path);
    folder.write("mine.case", "# seen at work\n\n  # again\n" + failing().print() + "  \r\n");
    folder.write("notes.txt", "nothing\n");
    CHECK(folder.open().cases() == std::vector{failing()});
}

TEST_CASE("a stale case is told with its reason, and is no error") {
    const Folder folder;
    fs::create_directory(folder.file.path);
    folder.write("a.case", "v1:toy.forward/gone:repeatable:cpu:in=1:seed=5\n");
    folder.write("b.case", "nothing of the kind\n");
    folder.write("c.case", "# nothing\n");
    folder.write("d.case", failing().print() + "\n");
    const Corpus corpus = folder.open();
    CHECK(corpus.cases().size() == 1);
    REQUIRE(corpus.stale().size() == 3);
    CHECK(contains(corpus.stale()[0], "a.case: "));
    CHECK(contains(corpus.stale()[0], "toy.forward/gone"));
    CHECK(corpus.stale()[2] == folder.file.path + "/c.case: it holds no case");
}

TEST_CASE("a folder that can't be written is the environment's fault") {
    const TemporaryFile file("no folder");
    Corpus corpus(file.path + "/below", registry_of_results());
    CHECK_THROWS_AS(corpus.keep(failing(), "differs"), EnvironmentError);
    CHECK(contains(refusal([&] { Corpus(file.path, registry_of_results()); }),
                   "--corpus: can't read "));
}
