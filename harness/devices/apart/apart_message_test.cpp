// SPDX-License-Identifier: Apache-2.0
#include "harness/devices/apart/apart_message.hpp"

#include <doctest/doctest.h>

namespace gradverify {

TEST_CASE("a message that a launcher process has forged is refused, whatever is cut or counted") {
    const ApartAnswer answer{.number = 7,
                             .error = "text",
                             .findings = {"one", "two"},
                             .seconds = 0.5,
                             .is_refusal = true};
    const std::string bytes = message_of(answer);
    const auto again = read_message<ApartAnswer>(bytes);
    CHECK(again.number == 7);
    CHECK(again.error == "text");
    CHECK(again.findings == answer.findings);
    CHECK(again.seconds == 0.5);
    CHECK((again.is_refusal && !again.not_served));
    for (std::size_t length = 0; length < bytes.size(); ++length)
        CHECK_THROWS_AS(read_message<ApartAnswer>(bytes.substr(0, length)), std::runtime_error);
    CHECK_THROWS_AS(read_message<ApartAnswer>(bytes + "x"), std::runtime_error);
    // The length of the first text, which is more than there is.
    std::string counted = bytes;
    counted.replace(8, 4, "\xff\xff\xff\xff");
    CHECK_THROWS_AS(read_message<ApartAnswer>(counted), std::runtime_error);
}

TEST_CASE("an address tells its region, also at the region's ends") {
    const std::vector<std::uint64_t> bytes{256, 0, 4096};
    for (const bool ends_at_page : {false, true}) {
        const auto begins = apart_begins(bytes, ends_at_page);
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            CHECK(apart_region(begins[i]) == i);
            CHECK(apart_region(begins[i] + bytes[i]) == i);
            CHECK((begins[i] + (ends_at_page ? bytes[i] : 0)) % 4096 == 0);
        }
    }
}

}  // namespace gradverify
