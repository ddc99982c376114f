// SPDX-License-Identifier: Apache-2.0
// Writes a struct as a JSON object and reads it again, by one list of its fields:
//
//   static void fields(auto& self, auto& visit) {
//       visit.needed("kernel", self.kernel);    // always written, and refused where it is missing
//       visit.always("passed", self.passed);    // always written
//       visit("refused", self.refused);         // written unless it is empty, zero or false
//       visit.kept("line", self.line);          // likewise; not added up where two structs are
//       visit.whole("place", self.place);       // a number that may be negative; needed
//       visit.word("met", self.met);            // a word of bits; needed
//   }
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "harness/base/checked_json.hpp"

namespace gradverify {

/// A number of cases, problems or elements, which is so small that a million can be added.
/// **Errors** ordered_json::exception or std::invalid_argument.
inline std::int64_t count_of(const ordered_json& value) {
    const auto count = value.get<std::int64_t>();
    if (count < 0 || count > std::int64_t{1} << 40)
        throw std::invalid_argument(value.dump() + " is no count");
    return count;
}

// Words of bits are written in base 16, since JSON's numbers are not exact everywhere.
inline std::string print_word(std::uint64_t word) { return fmt::format("{:x}", word); }
/// **Errors** std::invalid_argument.
inline std::uint64_t parse_word(std::string_view text) {
    std::uint64_t word = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), word, 16);
    if (wrong != std::errc() || end != text.data() + text.size())
        throw std::invalid_argument(fmt::format("'{}' is no number in base 16", text));
    return word;
}

/// Writes fields into an object, in their order.
class FieldWriter {
  public:
    explicit FieldWriter(ordered_json& object) : object_(object) {}

    void needed(const char* name, const auto& value) { object_[name] = json_of(value); }
    void always(const char* name, const auto& value) { needed(name, value); }
    void operator()(const char* name, const auto& value) {
        if (!is_empty(value)) needed(name, value);
    }
    void kept(const char* name, const auto& value) { (*this)(name, value); }
    void whole(const char* name, std::int64_t value) { needed(name, value); }
    void whole(const char* name, std::optional<std::int64_t> value) { (*this)(name, value); }
    void word(const char* name, std::uint64_t bits) { needed(name, print_word(bits)); }
    /// One of these by its name. An optional one, or one that has no name, may be missing, or of a
    /// name that nobody knows.
    template <class T>
    void one_of(const char* name, const T& value, const auto& /*all*/, const auto& name_of) {
        (*this)(name, std::string(name_of(value)));
    }
    template <class T>
    void one_of(const char* name, const std::optional<T>& value, const auto& all,
                const auto& name_of) {
        if (value) one_of(name, *value, all, name_of);
    }
    /// The fields of a struct as if they were the outer one's.
    template <class T>
    void inner(const std::optional<T>& value) {
        if (value) T::fields(*value, *this);
    }
    /// A value whose name says one thing more.
    void either(const char* name, const char* other, bool is_first, const auto& value) {
        (*this)(is_first ? name : other, value);
    }
    /// What is derived of others, and so is not read.
    void told(const char* name, const auto& value) { (*this)(name, value); }
    /// The fields of `names` as they are, in an object; null: none.
    void rest(const auto& /*names*/, const ordered_json& fields) {
        if (fields.is_object()) object_.update(fields);
    }

  private:
    template <class T>
    static bool is_empty(const T& value) {
        if constexpr (requires { value.empty(); })
            return value.empty();
        else
            return value == T{};
    }
    template <class T>
    static bool is_empty(const std::optional<T>& value) {
        return !value;
    }

    template <class T>
    static ordered_json json_of(const T& value) {
        return value;
    }
    static ordered_json json_of(double value) { return json_of_number(value); }
    static ordered_json json_of(const std::vector<double>& values) {
        ordered_json numbers = ordered_json::array();
        for (const double value : values) numbers.push_back(json_of_number(value));
        return numbers;
    }
    template <class T>
    static ordered_json json_of(const std::optional<T>& value) {
        return json_of(*value);
    }

    ordered_json& object_;
};

/// Reads fields from an object; one that may be missing then stays as it is.
/// **Errors** ordered_json::exception or std::invalid_argument.
class FieldReader {
  public:
    explicit FieldReader(const ordered_json& object) : object_(object) {}

    void needed(const char* name, auto&& value) { take(object_.at(name), value); }
    void always(const char* name, auto&& value) { (*this)(name, value); }
    void operator()(const char* name, auto&& value) {
        if (const auto found = object_.find(name); found != object_.end()) take(*found, value);
    }
    void kept(const char* name, auto&& value) { (*this)(name, value); }
    void whole(const char* name, std::int64_t& value) { value = object_.at(name); }
    void whole(const char* name, std::optional<std::int64_t>& value) {
        if (object_.contains(name)) whole(name, value.emplace());
    }
    void word(const char* name, std::uint64_t& bits) {
        bits = parse_word(object_.at(name).get<std::string>());
    }
    template <class T>
    void one_of(const char* name, T& value, const auto& all, const auto& name_of) {
        std::optional<T> found;
        one_of(name, found, all, name_of);
        if (!found && !std::string(name_of(value)).empty())
            throw std::invalid_argument(
                fmt::format("there is no {} '{}'", name, object_.at(name).get<std::string>()));
        value = found.value_or(value);
    }
    template <class T>
    void one_of(const char* name, std::optional<T>& value, const auto& all, const auto& name_of) {
        if (!object_.contains(name)) return;
        const std::string text = object_[name];
        for (const T one : all)
            if (name_of(one) == text) value = one;
    }
    template <class T>
    void inner(std::optional<T>& value) {
        T read;
        T::fields(read, *this);
        if (read != T{}) value = std::move(read);
    }
    void either(const char* name, const char* other, bool& is_first, auto& value) {
        is_first = object_.contains(name);
        (*this)(is_first ? name : other, value);
    }
    void told(const char* /*name*/, const auto& /*value*/) {}
    void rest(const auto& names, ordered_json& fields) {
        for (const char* const name : names)
            if (object_.contains(name)) fields[name] = object_[name];
    }

  private:
    template <class T>
    static void take(const ordered_json& from, T& value) {
        value = from.get<T>();
    }
    static void take(const ordered_json& from, double& value) { value = number_of(from); }
    static void take(const ordered_json& from, std::vector<double>& values) {
        for (const ordered_json& value : from.get_ref<const ordered_json::array_t&>())
            values.push_back(number_of(value));
    }
    static void take(const ordered_json& from, std::int64_t& value) { value = count_of(from); }
    template <class Key>
    static void take(const ordered_json& from, std::map<Key, std::int64_t>& counts) {
        counts = from.get<std::map<Key, std::int64_t>>();
        for (const auto& [key, count] : counts) count_of(count);  // throws
    }
    template <class T>
    static void take(const ordered_json& from, std::optional<T>& value) {
        take(from, value.emplace());
    }

    const ordered_json& object_;
};

template <class T>
concept HasFields = requires(T& of, FieldWriter& visit) { T::fields(of, visit); };

/// Such a struct is read and written as any other value of JSON.
template <class T>
struct JsonSerializer<T, std::enable_if_t<HasFields<T>>> {
    static void to_json(ordered_json& object, const T& value) {
        object = ordered_json::object();
        FieldWriter visit(object);
        T::fields(value, visit);
    }
    static void from_json(const ordered_json& object, T& value) {
        FieldReader visit(object);
        T::fields(value, visit);
    }
};

}  // namespace gradverify
