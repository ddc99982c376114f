// SPDX-License-Identifier: Apache-2.0
// Every form gives on each device what the oracle or plain C++ says, and the bits that the other
// device gives: equal but for NaNs, and near for approximations.
#include <doctest/doctest.h>

#include <bit>
#include <cctype>
#include <cmath>
#include <iostream>
#include <map>
#include <sstream>

#include "harness/simt/simt.hpp"
#include "harness/simt/tests/device_run.hpp"
#include "harness/simt/tests/ptx/conformance/forms.hpp"

namespace conformance {
namespace {

std::map<std::string, std::map<std::string, Form>>& forms() {
    static std::map<std::string, std::map<std::string, Form>> all;
    return all;
}
struct Device {
    int (*count)();
    Needs (*compiled_for)();
};
std::map<std::string, Device>& devices() {
    static std::map<std::string, Device> all;
    return all;
}

bool contains(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
}

std::uint64_t next_random(std::uint64_t& state) {  // splitmix64
    std::uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/// Numbers at the borders of integers and floats of this width.
// clang-format off
std::vector<std::uint64_t> edges_of(char constraint) {
    if (constraint == 'h')
        return {0, 1, 2, 3, 0x7fff, 0x8000, 0x8001, 0xffff, 0x0400, 0x03ff, 0x3c00, 0xbc00, 0x3555,
                0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x3f80, 0x7f7f, 0x7f80, 0xff80, 0x4248};
    if (constraint == 'r')
        return {0, 1, 2, 5, 31, 32, 33, 0xff, 0xffff,
                0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0x3f800000, 0xbf800000, 0x3f7fffff,
                0x3effffff, 0x40490fdb, 0x00800000, 0x007fffff, 0x7f7fffff, 0x7f800000, 0xff800000,
                0x7fc00000, 0x4b000001, 0x477fe000, 0x477ff000, 0x33800000, 0x3c003c00, 0x7bff0400,
                0xfc007e00, 0x03ff8001, 0xbf000000, 0x4f000000, 0x43e10000};
    return {0, 1, 63, 64, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff,
            0x3ff0000000000000, 0xbff0000000000001, 0x7fefffffffffffff, 0x7ff0000000000000,
            0xfff0000000000000, 0x7ff8000000000000, 0x0010000000000000, 0x000fffffffffffff,
            0x41dfffffffc00000, 0x41e0000000000000, 0x36a0000000000000, 0x47efffffe0000000,
            0x47effffff0000000, 0x3fe0000000000000, 0x4059000000000000};
}
// clang-format on

/// A number of about ordinary size half of the time, when it is read as a float.
std::uint64_t draw(std::uint64_t& state, char constraint) {
    const std::uint64_t bits = next_random(state);
    if (next_random(state) % 2 == 0) return bits;
    const double value = (static_cast<double>(bits % 2000001) - 1e6) / 65536.0;
    if (constraint == 'l') return std::bit_cast<std::uint64_t>(value);
    if (constraint == 'r') return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    return result_of("cvt.rn.f16.f64", {std::bit_cast<std::uint64_t>(value)});
}

std::vector<Operands> operands_of(const Form& form) {
    std::vector<Operands> all;
    std::uint64_t state = 7;
    const auto constraint = [&](std::size_t i) {
        return i < form.inputs.size() ? form.inputs[i] : 'r';
    };
    for (const std::uint64_t a : edges_of(constraint(0)))
        for (const std::uint64_t b : edges_of(constraint(1))) {
            const auto third = edges_of(constraint(2));
            all.push_back({a, b, third[next_random(state) % third.size()]});
        }
    // Whole warps: what their lanes do together needs all of them.
    const std::size_t enough = all.size() + 2000;
    while (all.size() < enough || all.size() % 32 != 0)
        all.push_back(
            {draw(state, constraint(0)), draw(state, constraint(1)), draw(state, constraint(2))});
    return all;
}

/// The first type in the opcode is the result's; nothing when it is not a float.
std::string result_type(const std::string& text) {
    if (text.starts_with("setp") || text.starts_with("testp")) return "";
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, '.');) {
        if (part == "f16" || part == "bf16" || part == "f32" || part == "f64" || part == "f16x2" ||
            part == "bf16x2" || part == "tf32")
            return part;
        const bool is_whole = part.size() > 1 && std::string("usb").find(part[0]) < 3 &&
                              std::isdigit(static_cast<unsigned char>(part[1])) != 0;
        if (is_whole) return "";
    }
    return "";
}

bool is_approximate(const std::string& text) {
    return contains(text, ".approx") || contains(text, ".full");
}

/// What a result is worth, one number for each half of a pair.
std::vector<double> values(const std::string& type, std::uint64_t bits) {
    if (!type.ends_with("x2")) return {number_of(type, bits)};
    const std::string half = type.substr(0, type.size() - 2);
    return {number_of(half, bits & 0xffff), number_of(half, bits >> 16)};
}

/// Between two devices, each of which is as near as the PTX ISA says.
Error error_between_devices(const std::string& text, const std::string& type) {
    if (!is_approximate(text)) return {0, 0};
    const double absolute =
        contains(text, "sin") || contains(text, "cos") || contains(text, "lg2") ? 0x1p-20 : 0.0;
    if (type.starts_with("bf16")) return {0x1p-7, absolute};
    if (type.starts_with("f16")) return {0x1p-9, 0x1p-24};  // the smallest half
    return {contains(text, "tanh") ? 0x1p-9 : 0x1p-20, absolute};
}

bool agree(const Form& form, std::uint64_t got, std::uint64_t want,
           decltype(allowed_error)* error) {
    const std::string& text = form.text;
    const std::string type = result_type(text);
    if (got == want) return true;
    if (type.empty() || form.is_digest) return false;
    const auto [relative, absolute] = error(text, type);
    const auto first = values(type, got), second = values(type, want);
    for (std::size_t i = 0; i < first.size(); ++i) {
        const double a = first[i], b = second[i];
        if (a != a && b != b) continue;
        if (!is_approximate(text) &&
            !(a == b && type.ends_with("x2") && std::signbit(a) == std::signbit(b)))
            return false;
        if (is_approximate(text) &&
            !(a == b || std::abs(a - b) <= relative * std::abs(b) + absolute))
            return false;
    }
    return true;
}

/// Sines of large angles are left open.
bool is_bounded(const Form& form, const Operands& of) {
    if (!contains(form.text, "sin") && !contains(form.text, "cos")) return true;
    return std::abs(std::bit_cast<float>(static_cast<std::uint32_t>(of.a))) <= 3.14f;
}

std::string hex(std::uint64_t value) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

/// Differences are counted, and the first is shown.
void compare(const Form& form, const std::vector<Operands>& operands,
             const std::vector<std::uint64_t>& got, const std::vector<std::uint64_t>& want,
             decltype(allowed_error)* error = &error_between_devices) {
    std::size_t compared = 0, different = 0;
    std::string first;
    CHECK(got.size() == want.size());
    if (got.size() != want.size()) return;
    for (std::size_t i = 0; i < got.size(); ++i) {
        if (!is_bounded(form, operands[i])) continue;
        ++compared;
        if (agree(form, got[i], want[i], error)) continue;
        if (different++ == 0)
            first = hex(operands[i].a) + ", " + hex(operands[i].b) + ", " + hex(operands[i].c) +
                    ": got " + hex(got[i]) + ", want " + hex(want[i]);
    }
    CAPTURE(form.text);
    CAPTURE(first);
    CHECK(compared > 0);
    CHECK(different == 0);
}

/// Forms without an oracle, as the ISA leaves open what they give.
const std::map<std::string, std::string>& open_forms() {
    static const std::map<std::string, std::string> all = {
        {"elect.sync", "which lane is elected"},
    };
    return all;
}
/// By the oracle, or by plain C++ of the form's own.
std::vector<std::uint64_t> plain(const Form& form, const std::vector<Operands>& operands) {
    if (form.want_all != nullptr) return form.want_all(operands);
    std::vector<std::uint64_t> want;
    if (form.arguments != nullptr) {
        std::vector<Arguments> arguments;
        for (const auto& [a, b, c] : operands) arguments.push_back(form.arguments(a, b, c));
        want = results_of(form.text, arguments);
    } else {
        for (const Operands& of : operands) want.push_back(form.want(of));
    }
    for (std::uint64_t& bits : want) bits &= ~std::uint64_t{0} >> (64 - form.result_bits);
    return want;
}

/// Nothing where the form ends by an error, which is a failed check.
std::vector<std::uint64_t> results(const Form& form, const std::vector<Operands>& operands) {
    std::string error;
    std::vector<std::uint64_t> all;
    try {
        all = form.run(operands);
    } catch (const std::exception& thrown) {
        error = thrown.what();
    }
    const std::string more = gradverify::simt::take_error();
    CHECK_MESSAGE(error + more == "", form.text << ": " << error << " " << more);
    return all;
}

/// Forms that need more than `most` are left out.
void compare_with_plain(const std::string& device, Needs most) {
    for (const auto& [text, form] : forms_of(device)) {
        if (open_forms().contains(text) || form.needs > most) continue;
        const std::vector<Operands> operands = operands_of(form);
        compare(form, operands, results(form, operands), plain(form, operands), &allowed_error);
    }
}

}  // namespace

const std::map<std::string, Form>& forms_of(const std::string& device) { return forms()[device]; }
bool add(const char* device, const Form& form) {
    return forms()[device].emplace(form.text, form).second;
}
bool add_device(const char* device, int (*count)(), Needs (*compiled_for)()) {
    return devices().emplace(device, Device{count, compiled_for}).second;
}

TEST_CASE("every form but one has something to compare with") {
    CHECK(forms_of("cpu").size() > 1000);
    CHECK(open_forms().size() == 1);
    for (const auto& [text, form] : forms_of("cpu")) {
        CAPTURE(text);
        const bool has_want = form.want != nullptr || form.want_all != nullptr;
        CHECK(has_want + (form.arguments != nullptr) == 1);
    }
}

TEST_CASE("on the cpu device every form is what the PTX ISA says") {
    compare_with_plain("cpu", Needs::sm_90a);
}

TEST_CASE("in a random order each form gives the same, and the race detector finds nothing") {
    if (!devices().contains("cpu-checked")) return;
    const simt_test::ScheduleScope scope(
        {.threads = gradverify::simt::Order::random_threads, .seed = 5});
    CHECK(forms_of("cpu-checked").size() == forms_of("cpu").size());
    for (const auto& [text, form] : forms_of("cpu-checked")) {
        const std::vector<Operands> operands = operands_of(form);
        compare(form, operands, results(form, operands),
                results(forms_of("cpu").at(text), operands));
    }
    CHECK(gradverify::simt::take_findings().empty());
}

TEST_CASE("on a GPU every form gives the cpu device's bits") {
    if (!devices().contains("cuda") || devices()["cuda"].count() == 0) {
        MESSAGE("not run: no device cuda");
        return;
    }
    CHECK(forms_of("cuda").size() == forms_of("cpu").size());
    const Needs most = devices()["cuda"].compiled_for();
    compare_with_plain("cuda", most);
    std::size_t compared = 0;
    for (const auto& [text, form] : forms_of("cuda")) {
        if (form.needs > most) continue;
        ++compared;
        const std::vector<Operands> operands = operands_of(form);
        compare(form, operands, results(forms_of("cpu").at(text), operands),
                results(form, operands));
    }
    std::cout << compared << " of " << forms_of("cuda").size() << " forms of PTX compared\n";
    if (most != Needs::sm_90a)
        std::cout << "The others need a build for sm_90" << (most == Needs::any ? "" : "a")
                  << ".\n";
}

}  // namespace conformance
