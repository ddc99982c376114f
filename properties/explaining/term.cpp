// SPDX-License-Identifier: Apache-2.0
#include "properties/explaining/term.hpp"

#include <fmt/format.h>

#include <limits>

#include "harness/base/text.hpp"

namespace gradverify {

namespace {

using Int = std::int64_t;
using Kind = Term::Kind;

bool is_multiple(Int a, Int b) { return b == 0 ? a == 0 : a % b == 0; }

struct Form {
    const char* text;
    bool (*holds)(Int a, Int b, const Term& term);
    double cost;
};

/// By kind; `text_of` and `Term::cost` have exceptions for residues and products.
constexpr Form forms[] = {
    {"{a} >= {v}", [](Int a, Int, const Term& t) { return a >= t.value; }, 1.0},
    {"{a} <= {v}", [](Int a, Int, const Term& t) { return a <= t.value; }, 1.1},
    {"{a} = {v}", [](Int a, Int, const Term& t) { return a == t.value; }, 1.05},
    {"{a} != {v}", [](Int a, Int, const Term& t) { return a != t.value; }, 1.2},
    {"{a} mod {m} = {v}", [](Int a, Int, const Term& t) { return a % t.modulus == t.value; }, 1.6},
    {"{a} mod {m} != {v}", [](Int a, Int, const Term& t) { return a % t.modulus != t.value; }, 1.8},
    {"{a} = {b}", [](Int a, Int b, const Term&) { return a == b; }, 1.7},
    {"{a} != {b}", [](Int a, Int b, const Term&) { return a != b; }, 1.7},
    {"{a} < {b}", [](Int a, Int b, const Term&) { return a < b; }, 1.7},
    {"{a} <= {b}", [](Int a, Int b, const Term&) { return a <= b; }, 1.7},
    {"{a} is a multiple of {b}", [](Int a, Int b, const Term&) { return is_multiple(a, b); }, 1.9},
    {"{a} is no multiple of {b}", [](Int a, Int b, const Term&) { return !is_multiple(a, b); },
     1.9},
};

const Form& form_of(const Term& term) { return forms[static_cast<std::size_t>(term.kind)]; }

const char* text_of(const Term& term) {
    if (term.modulus == 2 && term.kind == Kind::residue)
        return term.value == 0 ? "{a} is even" : "{a} is odd";
    if (term.modulus > 0 && term.value == 0)
        return term.kind == Kind::residue ? "{a} is a multiple of {m}"
                                          : "{a} is no multiple of {m}";
    return form_of(term).text;
}

}  // namespace

std::string print_value(ValueTexts texts, int parameter, Int value) {
    if (is_number(texts, parameter)) return std::to_string(value);
    return at(texts, parameter).at(static_cast<std::size_t>(value));
}

Int product_of(std::span<const Int> values, std::span<const int> parameters) {
    Int product = 1;
    for (const int parameter : parameters)
        if (__builtin_mul_overflow(product, at(values, parameter), &product))
            return std::numeric_limits<Int>::max();
    return product;
}

bool Term::holds(std::span<const Int> values) const {
    const Int a = is_of_product() ? product_of(values, parameters) : at(values, parameters.front());
    return form_of(*this).holds(a, at(values, parameters.back()), *this);
}

std::string Term::print(std::span<const std::string> names, ValueTexts texts) const {
    std::vector<std::string> mine;
    for (const int parameter : parameters) mine.push_back(at(names, parameter));
    return fmt::format(fmt::runtime(text_of(*this)),
                       fmt::arg("a", has_other() ? mine.front() : joined(mine, " * ")),
                       fmt::arg("b", mine.back()), fmt::arg("m", modulus),
                       fmt::arg("v", print_value(texts, parameters.front(), value)));
}

double Term::cost() const {
    if (is_of_product()) return 1.8 + 0.3 * static_cast<double>(parameters.size() - 1);
    if (kind == Kind::residue && (modulus == 2 || value == 0)) return 1.5;
    if (kind == Kind::other_residue && value == 0) return 1.6;
    return form_of(*this).cost;
}

}  // namespace gradverify
