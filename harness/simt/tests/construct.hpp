// SPDX-License-Identifier: Apache-2.0
// A construct of CUDA C++: a function of a `.cu` file that uses it on its device, and reports its
// results beside those of the standard, or of plain host code.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace construct {

/// `value(i)` for i from 0 on.
template <class F>
auto table(int count, F value) {
    std::vector<decltype(value(0))> values;
    for (int i = 0; i < count; ++i) values.push_back(value(i));
    return values;
}

template <class T>
std::vector<T> as(const auto& values) {
    return table(int(values.size()), [&](int i) { return T(values[std::size_t(i)]); });
}
/// Part `k` of a vector of parts of `count` values.
template <class T>
std::vector<T> part(const std::vector<T>& values, int count, int k) {
    return {values.begin() + k * count, values.begin() + (k + 1) * count};
}

class Report {
  public:
    std::vector<std::string> wrong;
    int compared = 0;

    void holds(const std::string& what, bool is_right) {
        ++compared;
        if (!is_right) wrong.push_back(what);
    }
    /// Compares the bits, except those of NaN. `want` holds the values, or gives the i-th of them.
    template <class T>
    void equal(const std::string& what, const std::vector<T>& got,
               const std::type_identity_t<std::vector<T>>& want) {
        each(what, got, want, [](const T& a, const T& b) {
            return std::memcmp(&a, &b, sizeof(T)) == 0 || (a != a && b != b);
        });
    }
    template <class T, class F>
    requires(std::is_invocable_r_v<T, F, int>)
    void equal(const std::string& what, const std::vector<T>& got, F want) {
        equal(what, got, table(int(got.size()), [&](int i) { return T(want(i)); }));
    }
    /// Allows a relative or an absolute distance.
    template <class T>
    void near(const std::string& what, const std::vector<T>& got,
              const std::type_identity_t<std::vector<T>>& want, double relative,
              double absolute = 0.0) {
        each(what, got, want, [=](T a, T b) {
            const double off = std::abs(double(a) - double(b));
            return off <= relative * std::abs(double(b)) || off <= absolute || a == b;
        });
    }

  private:
    template <class T, class Same>
    void each(const std::string& what, const std::vector<T>& got, const std::vector<T>& want,
              Same same) {
        holds(what + ": as many as wanted, and any", got.size() == want.size() && !got.empty());
        for (std::size_t i = 0; i < got.size() && i < want.size(); ++i) {
            ++compared;
            if (same(got[i], want[i])) continue;
            wrong.push_back(what + "[" + std::to_string(i) + "]: got " + text(got[i]) + ", want " +
                            text(want[i]));
            return;
        }
    }
    template <class T>
    static std::string text(const T& value) {
        char buffer[32];
        std::snprintf(buffer, sizeof buffer, "%.9g", double(value));
        return buffer;
    }
};

using Run = void (*)(Report& report);
using DeviceCount = int (*)();
/// Defined outside of the units.
bool add(const char* device, const char* name, Run run);
bool add_device(const char* device, DeviceCount count);

inline std::vector<float> numbers(int count, float first = 0.0f, float step = 1.0f) {
    return table(count, [=](int i) { return first + step * float(i); });
}

}  // namespace construct

// For kernel files.
#ifdef __CUDACC__
#include "harness/simt/tests/device_array.hpp"

namespace construct {
[[maybe_unused]] static const bool is_known =
    add_device(GRADVERIFY_UNIT_DEVICE, &simt_test::device_count);
}  // namespace construct

using construct::as;
using construct::numbers;
using construct::part;
using construct::table;
using simt_test::Array;

#define CONSTRUCT(NAME)                                            \
    static void NAME(::construct::Report& report);                 \
    [[maybe_unused]] static const bool construct_is_added_##NAME = \
        ::construct::add(GRADVERIFY_UNIT_DEVICE, #NAME, &NAME);    \
    static void NAME([[maybe_unused]] ::construct::Report& report)
#endif
