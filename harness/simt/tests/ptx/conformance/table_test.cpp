// SPDX-License-Identifier: Apache-2.0
// The table of docs/reference/ptx.md names the forms that are compared, and no others.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "harness/simt/tests/ptx/conformance/forms.hpp"

namespace conformance {
namespace {

/// What precedes the first point, and all of the rest: `.sat.s32`.
std::map<std::string, std::vector<std::string>> by_instruction() {
    std::map<std::string, std::vector<std::string>> all;
    for (const auto& [text, form] : forms_of("cpu")) {
        const std::size_t point = std::min(text.find('.'), text.size());
        all[text.substr(0, point)].push_back(text.substr(point));
    }
    return all;
}

/// | `add` | 52 | `.bf16` `.f16` ... |
std::string table() {
    std::string text = "| instruction | forms | |\n| --- | --- | --- |\n";
    for (const auto& [instruction, forms] : by_instruction()) {
        text += "| `" + instruction + "` | " + std::to_string(forms.size()) + " |";
        for (const std::string& form : forms) {
            std::string cell = form;
            // A stroke within a cell is escaped.
            if (const std::size_t stroke = cell.find('|'); stroke != std::string::npos)
                cell.insert(stroke, "\\");
            text += " `" + cell + "`";
        }
        text += " |\n";
    }
    return text;
}

}  // namespace

TEST_CASE("the docs name the forms that are compared") {
    // On a GPU's machine there may be the executable alone.
    if (!std::filesystem::exists(GRADVERIFY_SIMT_TEST_FOLDER)) {
        MESSAGE("not run: the sources are not here");
        return;
    }
    const std::ifstream page(GRADVERIFY_SIMT_TEST_FOLDER "/../../../docs/reference/ptx.md");
    std::ostringstream text;
    text << page.rdbuf();
    const bool is_true = text.str().find(table()) != std::string::npos;
    if (!is_true) std::ofstream("ptx_table.md") << table();
    CHECK_MESSAGE(
        is_true,
        "docs/reference/ptx.md has another table than ptx_table.md, which was written here");
}

}  // namespace conformance
