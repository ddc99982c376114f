// SPDX-License-Identifier: Apache-2.0
#include "properties/explaining/term.hpp"

namespace gradverify {

namespace {

using Kind = Term::Kind;

std::int64_t at(std::span<const std::int64_t> values, int parameter) {
    return values[static_cast<std::size_t>(parameter)];
}

bool is_multiple(std::int64_t a, std::int64_t b) { return b == 0 ? a == 0 : a % b == 0; }

}  // namespace

double product_of(std::span<const std::int64_t> values, const std::vector<int>& parameters) {
    double product = 1.0;
    for (const int parameter : parameters) product *= static_cast<double>(at(values, parameter));
    return product;
}

bool Term::holds(std::span<const std::int64_t> values) const {
    const std::int64_t a = at(values, parameters.front());
    const std::int64_t b = parameters.size() > 1 ? at(values, parameters[1]) : 0;
    switch (kind) {
        case Kind::at_least:
            return a >= value;
        case Kind::at_most:
            return a <= value;
        case Kind::equal:
            return a == value;
        case Kind::unequal:
            return a != value;
        case Kind::residue:
            return a % modulus == value;
        case Kind::other_residue:
            return a % modulus != value;
        case Kind::same:
            return a == b;
        case Kind::different:
            return a != b;
        case Kind::less:
            return a < b;
        case Kind::no_more:
            return a <= b;
        case Kind::multiple:
            return is_multiple(a, b);
        case Kind::no_multiple:
            return !is_multiple(a, b);
        case Kind::product_at_least:
            return product_of(values, parameters) >= static_cast<double>(value);
    }
    return false;
}

std::string Term::print(std::span<const std::string> names, ValueTexts texts) const {
    const auto name = [&](std::size_t i) { return names[static_cast<std::size_t>(parameters[i])]; };
    const std::string a = name(0), m = std::to_string(modulus);
    const std::string v = is_number(texts, parameters.front())
                              ? std::to_string(value)
                              : texts[static_cast<std::size_t>(parameters.front())].at(
                                    static_cast<std::size_t>(value));
    switch (kind) {
        case Kind::at_least:
            return a + " >= " + v;
        case Kind::at_most:
            return a + " <= " + v;
        case Kind::equal:
            return a + " = " + v;
        case Kind::unequal:
            return a + " != " + v;
        case Kind::residue:
            if (modulus == 2) return a + (value == 0 ? " is even" : " is odd");
            return value == 0 ? a + " is a multiple of " + m : a + " mod " + m + " = " + v;
        case Kind::other_residue:
            return value == 0 ? a + " is no multiple of " + m : a + " mod " + m + " != " + v;
        case Kind::same:
            return a + " = " + name(1);
        case Kind::different:
            return a + " != " + name(1);
        case Kind::less:
            return a + " < " + name(1);
        case Kind::no_more:
            return a + " <= " + name(1);
        case Kind::multiple:
            return a + " is a multiple of " + name(1);
        case Kind::no_multiple:
            return a + " is no multiple of " + name(1);
        case Kind::product_at_least:
            break;
    }
    std::string text = a;
    for (std::size_t i = 1; i < parameters.size(); ++i) text += " * " + name(i);
    return text + " >= " + v;
}

double Term::cost() const {
    switch (kind) {
        case Kind::at_least:
            return 1.0;
        case Kind::equal:
            return 1.05;
        case Kind::at_most:
            return 1.1;
        case Kind::unequal:
            return 1.2;
        case Kind::residue:
            return modulus == 2 || value == 0 ? 1.5 : 1.6;
        case Kind::other_residue:
            return value == 0 ? 1.6 : 1.8;
        case Kind::same:
        case Kind::different:
        case Kind::less:
        case Kind::no_more:
            return 1.7;
        case Kind::multiple:
        case Kind::no_multiple:
            return 1.9;
        case Kind::product_at_least:
            break;
    }
    return 1.8 + 0.3 * static_cast<double>(parameters.size() - 1);
}

}  // namespace gradverify
