// SPDX-License-Identifier: Apache-2.0
// Which files a reproducer takes along, of a kernel in a project of its own.
#include "harness/report/export/sources.hpp"

#include <doctest/doctest.h>

#include <filesystem>

#include "harness/base/files.hpp"
#include "harness/testing/made_results.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;
namespace fs = std::filesystem;

/// A project, and gradverify's headers elsewhere, in a folder of their own.
struct Project {
    const TemporaryFile file;
    const fs::path folder = file.path + ".d";

    Project() {
        add("own/src/glue.cu",
            "#include \"harness/kernel.hpp\"\n#include \"../include/shapes.h\"\n"
            "  #  include <theirs/tile.cuh>\n#include <cuda_runtime.h>\n"
            "// #include \"never.h\"\nGRADVERIFY_KERNEL(A, \"b\", c);\n");
        add("own/src/their.cu", "#include \"missing.h\"\n");
        add("own/src/other.cu", "GRADVERIFY_KERNEL(A, \"d\", e);\n");
        add("own/include/shapes.h", "#include \"shapes.h\"\n");  // of itself, without end
        add("own/lib/theirs/tile.cuh", "#define TILE 16\n");
        add("own/include/never.h", "");
        add("installed/harness/kernel.hpp", "#include \"harness/pass.hpp\"\n");
        add("installed/harness/pass.hpp", "");
    }
    ~Project() { fs::remove_all(folder); }
    Project(const Project&) = delete;
    Project& operator=(const Project&) = delete;

    std::string at(const std::string& name) const { return (folder / name).string(); }
    void add(const std::string& name, const std::string& text) const {
        fs::create_directories((folder / name).parent_path());
        write_file(at(name), text);
    }
    KernelDeclaration kernel(const std::string& flags) const {
        add("unit.flags", flags);
        KernelDeclaration declaration;
        declaration.file = at("own/src/glue.cu");
        declaration.unit_flags = at("unit.flags");
        return declaration;
    }
};

}  // namespace

TEST_CASE("a kernel's files go along, and none of the system's or of other kernels") {
    const Project project;
    std::string flags;
    for (const char* source : {"glue.cu", "their.cu", "other.cu"})
        flags += "source " + project.at("own/src/") + source + "\n";
    for (const char* include : {"own/lib", "installed", "own/lib"})
        flags += "include " + project.at(include) + "\n";
    const SourceFolder folder =
        sources_of(project.kernel(flags + "include /usr/include\ndefinition TEXT=\"a b\"\n"));
    std::vector<std::string> names;
    for (const auto& [name, text] : folder.texts) names.push_back(name);
    CHECK(names == std::vector<std::string>{"gradverify/harness/kernel.hpp",
                                            "gradverify/harness/pass.hpp",
                                            "kernel/include/shapes.h", "kernel/lib/theirs/tile.cuh",
                                            "kernel/src/glue.cu", "kernel/src/their.cu"});
    CHECK(folder.texts.at("kernel/lib/theirs/tile.cuh") == "#define TILE 16\n");
    CHECK(folder.sources == std::vector<std::string>{"kernel/src/glue.cu", "kernel/src/their.cu"});
    CHECK(folder.includes == std::vector<std::string>{"kernel/lib", "gradverify"});
    CHECK(folder.definitions == std::vector<std::string>{"TEXT=\"a b\""});
}

TEST_CASE("a kernel that was built elsewhere is told so") {
    const Project project;
    KernelDeclaration kernel = project.kernel("source " + project.at("own/src/gone.cu") + "\n");
    CHECK_THROWS_WITH_AS(sources_of(kernel),
                         ("can't read " + project.at("own/src/gone.cu")).c_str(), EnvironmentError);
    kernel.unit_flags = "/no/such/unit.flags";
    CHECK_THROWS_AS(sources_of(kernel), EnvironmentError);
    kernel.unit_flags = "";
    CHECK_THROWS_AS(sources_of(kernel), EnvironmentError);
}
