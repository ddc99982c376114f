// SPDX-License-Identifier: Apache-2.0
// Decides how JSON is read that another process wrote, or another version, or a person: whole
// numbers within the range of their type, and nothing that is nested without end.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

namespace gradverify {

/// As nlohmann's own, which reads 4294967297 as the int 1, and 1e300 as any.
template <class T, class = void>
struct JsonSerializer : nlohmann::adl_serializer<T> {};

template <class T>
struct JsonSerializer<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>> {
    template <class Object>
    static void to_json(Object& object, T value) {
        nlohmann::to_json(object, value);
    }
    template <class Object>
    static void from_json(const Object& object, T& value) {
        const auto take = [&](auto number) {
            if (!std::in_range<T>(number))
                throw std::invalid_argument(object.dump() + " is out of range");
            value = static_cast<T>(number);
        };
        if (object.is_number_unsigned())
            take(object.template get_ref<const typename Object::number_unsigned_t&>());
        else if (object.is_number_integer())
            take(object.template get_ref<const typename Object::number_integer_t&>());
        else
            throw std::invalid_argument(std::string(object.type_name()) + " is no whole number");
    }
};

/// Keeps the order in which its fields were given.
using ordered_json =
    nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool, std::int64_t,
                         std::uint64_t, double, std::allocator, JsonSerializer>;

/// **Errors** ordered_json::parse_error; std::invalid_argument for a text nested too deep.
inline ordered_json parse_json(std::string_view text) {
    // To copy or to print an object takes the stack.
    constexpr int deepest = 64;
    return ordered_json::parse(text, [](int depth, auto, const auto&) {
        if (depth > deepest) throw std::invalid_argument("it is nested too deep");
        return true;
    });
}

/// JSON has no NaN and no infinity: they are written as text.
inline ordered_json json_of_number(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
}

/// **Errors** ordered_json::exception.
inline double number_of(const ordered_json& value) {
    if (value == "nan") return std::nan("");
    if (value == "inf") return HUGE_VAL;
    if (value == "-inf") return -HUGE_VAL;
    return value.get<double>();
}

}  // namespace gradverify
