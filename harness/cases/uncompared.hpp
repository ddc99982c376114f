// SPDX-License-Identifier: Apache-2.0
// Decides what is told of elements that nothing was compared with: their bounds are infinite, or
// wider than all values of their tensor.
#pragma once

#include <cstdint>
#include <string>

namespace gradverify {

struct Uncompared {
    std::int64_t elements = 0, total = 0;
    std::int64_t without_bound = 0;  ///< of the elements: their bounds are infinite
    /// Where those begin: "x[3]", from this value on upwards or downwards. Empty where they do not
    /// lie on one side of an input's values.
    std::string place{};
    double border = 0.0;
    bool is_upwards = true;

    /// Takes in another case's.
    void add(const Uncompared& other);
    /// `in 12 % of the elements nothing could be compared: their bounds are infinite`
    std::string print() const;
};

template <class Json>
void to_json(Json& object, const Uncompared& one) {
    object = {{"elements", one.elements}, {"of", one.total},      {"infinite", one.without_bound},
              {"place", one.place},       {"border", one.border}, {"upwards", one.is_upwards}};
}
template <class Json>
void from_json(const Json& object, Uncompared& one) {
    one = {.elements = object.at("elements"),
           .total = object.at("of"),
           .without_bound = object.at("infinite"),
           .place = object.at("place"),
           .border = object.at("border"),
           .is_upwards = object.at("upwards")};
}

}  // namespace gradverify
