// SPDX-License-Identifier: Apache-2.0
// The conditions that make a rule of failure. Knows parameters by their position only.
#pragma once

#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <vector>

namespace gradverify {

/// The texts of each parameter's values if it is an attribute; empty, or none at all, for numbers.
using ValueTexts = std::span<const std::vector<std::string>>;

/// An element of a list by its position, an int as parameters have.
template <class List>
auto& at(List&& list, int position) {
    return list[static_cast<std::size_t>(position)];
}

inline bool is_number(ValueTexts texts, int parameter) {
    return parameter >= std::ssize(texts) || at(texts, parameter).empty();
}
/// `3`, or the text of the value where it is no number.
std::string print_value(ValueTexts texts, int parameter, std::int64_t value);

/// A condition on one parameter a, on two (a, b), or a lower limit of the product of several.
struct Term {
    enum class Kind {
        at_least,       ///< a >= value
        at_most,        ///< a <= value
        equal,          ///< a = value
        unequal,        ///< a != value
        residue,        ///< a mod modulus = value
        other_residue,  ///< a mod modulus != value
        same,           ///< a = b
        different,      ///< a != b
        less,           ///< a < b
        no_more,        ///< a <= b
        multiple,       ///< a is a multiple of b
        no_multiple     ///< a is no multiple of b
    };
    Kind kind = Kind::at_least;
    std::vector<int> parameters;
    std::int64_t value = 0, modulus = 0;

    bool has_other() const { return kind >= Kind::same; }
    bool is_of_product() const { return !has_other() && parameters.size() > 1; }
    bool holds(std::span<const std::int64_t> values) const;
    /// `k >= 2`, `in_w is even`, `filter_w < in_w`
    std::string print(std::span<const std::string> names, ValueTexts texts = {}) const;
    /// Among terms that explain the same, the cheapest is taken.
    double cost() const;
    bool operator==(const Term&) const = default;
};

/// The largest number where the product is beyond.
std::int64_t product_of(std::span<const std::int64_t> values, std::span<const int> parameters);

}  // namespace gradverify
