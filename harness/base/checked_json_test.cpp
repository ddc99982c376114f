// SPDX-License-Identifier: Apache-2.0
// Which numbers and texts are read.
#include "harness/base/checked_json.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <map>

using namespace gradverify;

TEST_CASE("a whole number is read in the range of its type, or not at all") {
    const auto refuses = [](const char* text, auto example) {
        using Number = decltype(example);
        const ordered_json value = parse_json(text);
        CHECK_THROWS_AS(value.get<Number>(), std::invalid_argument);
        CHECK_THROWS_AS((ordered_json{{"a", value}}.at("a").get<Number>()), std::invalid_argument);
        CHECK_THROWS_AS(ordered_json::array({value}).get<std::vector<Number>>(),
                        std::invalid_argument);
    };
    for (const char* text : {"4294967297", "-2147483649", "1e300", "1.5", "3.0", "true", "null"})
        refuses(text, 0);
    for (const char* text : {"9223372036854775808", "-9223372036854775809", "1e3", "2.5"})
        refuses(text, std::int64_t{0});
    for (const char* text : {"-1", "18446744073709551616", "1e3"}) refuses(text, std::uint64_t{0});
    CHECK(parse_json("18446744073709551615").get<std::uint64_t>() == 18446744073709551615u);
    CHECK(parse_json("-9223372036854775808").get<std::int64_t>() ==
          std::numeric_limits<std::int64_t>::min());
    CHECK(parse_json(R"({"a":[3]})").get<std::map<std::string, std::vector<int>>>()["a"][0] == 3);
    CHECK(parse_json("1e300").get<double>() == 1e300);
    CHECK(parse_json("true").get<bool>());
}

TEST_CASE("a text that is nested too deep is refused, before anything copies it") {
    for (const std::size_t depth : {100u, 1'000'000u})
        CHECK_THROWS_AS(parse_json(std::string(depth, '[') + std::string(depth, ']')),
                        std::invalid_argument);
    CHECK(parse_json(R"([[[[{"a":[[1]]}]]]])").is_array());
}
