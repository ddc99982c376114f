// SPDX-License-Identifier: Apache-2.0
// How results get into the page; docs/tests/report_page_test.py opens it in a browser.
#include "harness/report/files/html.hpp"

#include <doctest/doctest.h>

namespace {

using gradverify::html_of;
using gradverify::ordered_json;
using nlohmann::json;

/// What the page reads.
json embedded_in(const std::string& page) {
    const std::string begin = "<script type=\"application/json\" id=\"results\">";
    const std::size_t from = page.find(begin) + begin.size();
    return json::parse(page.substr(from, page.find("</script>", from) - from));
}

}  // namespace

TEST_CASE("the page holds the lines, and no text of theirs ends the script") {
    const std::string message = "a </script><!-- & \"b\" \xff of vector<int>";
    const std::string page = html_of({ordered_json{{"kind", "note"}, {"text", message}}});
    CHECK(
        embedded_in(page) ==
        json{{{"kind", "note"}, {"text", "a </script><!-- & \"b\" \xef\xbf\xbd of vector<int>"}}});
}

TEST_CASE("the page leaves out what only a merge needs") {
    const std::string page = html_of({ordered_json{{"kind", "run"}, {"rows", {1}}},
                                      ordered_json{{"kind", "verdict"}, {"parts", 2}}});
    CHECK(embedded_in(page) == json{{{"kind", "run"}}, {{"kind", "verdict"}}});
}
