// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/tests/ptx/conformance/oracle.hpp"

#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace conformance {
namespace {

using u64 = std::uint64_t;
__extension__ typedef __int128 i128;
__extension__ typedef unsigned __int128 u128;
constexpr double infinity = std::numeric_limits<double>::infinity(),
                 not_a_number = std::numeric_limits<double>::quiet_NaN();

/// A type of the ISA; floats have bits of exponent and mantissa, and a precision.
struct Type {
    std::string name;
    char kind;  ///< u, s, b or f
    int width, exponent = 0, mantissa = 0, precision = mantissa + 1;
    int bias() const { return (1 << (exponent - 1)) - 1; }
    double least_normal() const { return std::ldexp(1.0, 1 - bias()); }
    double greatest() const {
        return name == "e4m3" ? 448 : std::ldexp(2 - std::ldexp(1.0, -mantissa), bias());
    }
    i128 lowest() const { return kind == 's' ? -(i128{1} << (width - 1)) : 0; }
    i128 highest() const { return (i128{1} << (kind == 's' ? width - 1 : width)) - 1; }
};
// clang-format off
const std::vector<Type>& types() {
    static const std::vector<Type> all = {
        {"f16", 'f', 16, 5, 10}, {"bf16", 'f', 16, 8, 7}, {"f32", 'f', 32, 8, 23},
        {"f64", 'f', 64, 11, 52}, {"e4m3", 'f', 8, 4, 3}, {"e5m2", 'f', 8, 5, 2}, {"tf32", 'f', 32, 8, 23, 11},
        {"pred", 'b', 1}, {"b1", 'u', 1}, {"u4", 'u', 4}, {"s4", 's', 4},
        {"u8", 'u', 8}, {"s8", 's', 8}, {"u16", 'u', 16}, {"s16", 's', 16}, {"b16", 'b', 16}, {"u32", 'u', 32}, {"s32", 's', 32},
        {"b32", 'b', 32}, {"u64", 'u', 64}, {"s64", 's', 64}, {"b64", 'b', 64}};
    return all;
}
// clang-format on
const Type* find_type(const std::string& name) {
    for (const Type& type : types())
        if (type.name == name) return &type;
    return nullptr;
}

/// `cvt.rn.f16x2.f32 a note`: its parts, and the types among them, of which some are pairs.
struct Opcode {
    std::string name, note;
    std::vector<std::string> parts;
    std::vector<Type> types;
    std::vector<bool> is_pair;
    explicit Opcode(const std::string& text) {
        const std::size_t space = std::min(text.find(' '), text.size());
        if (space < text.size()) note = text.substr(space + 1);
        std::istringstream all(text.substr(0, space));
        for (std::string part; std::getline(all, part, '.');) {
            if (parts.empty()) name = part;
            const bool pair = part.size() > 2 && part.ends_with("x2");
            const Type* const type = find_type(pair ? part.substr(0, part.size() - 2) : part);
            if (type != nullptr) types.push_back(*type), is_pair.push_back(pair);
            parts.push_back(part);
        }
    }
    bool has(const char* part) const {
        return std::find(parts.begin(), parts.end(), part) != parts.end();
    }
    mpfr_rnd_t mode() const {
        return has("rz") || has("rzi")   ? MPFR_RNDZ
               : has("rm") || has("rmi") ? MPFR_RNDD
               : has("rp") || has("rpi") ? MPFR_RNDU
                                         : MPFR_RNDN;
    }
};

i128 integer(const Type& type, u128 bits) {
    const u128 sign = u128{1} << (type.width - 1), low = bits & ((sign << 1) - 1);
    return type.kind == 's' ? static_cast<i128>((low ^ sign) - sign) : static_cast<i128>(low);
}
i128 clamped(const Type& type, i128 x) { return std::clamp(x, type.lowest(), type.highest()); }

double decoded(const Type& type, u64 bits) {
    const u64 top = (u64{1} << type.exponent) - 1,
              mantissa = bits & ((u64{1} << type.mantissa) - 1);
    const auto exponent = static_cast<int>(bits >> type.mantissa & top);
    const double sign = (bits >> (type.width - 1) & 1) != 0 ? -1 : 1;
    const double fraction = std::ldexp(static_cast<double>(mantissa), -type.mantissa);
    if (type.name == "e4m3" ? (bits & 0x7f) == 0x7f : u64(exponent) == top)
        return type.name == "e4m3" || mantissa != 0 ? std::copysign(not_a_number, sign)
                                                    : sign * infinity;
    return exponent == 0 ? sign * std::ldexp(fraction, 1 - type.bias())
                         : sign * std::ldexp(1 + fraction, exponent - type.bias());
}
/// Bits of a number that the type has.
u64 encoded(const Type& type, double x) {
    const u64 sign = u64{std::signbit(x)} << (type.width - 1), unit = u64{1} << type.mantissa;
    if (std::isnan(x)) return (u64{1} << (type.width - 1)) - 1;
    if (std::isinf(x)) return sign | ((u64{1} << type.exponent) - 1) << type.mantissa;
    const double size = std::fabs(x);
    if (size < type.least_normal())
        return sign | static_cast<u64>(std::ldexp(size, type.bias() - 1 + type.mantissa));
    const int exponent = std::ilogb(size);
    return sign | (static_cast<u64>(std::ldexp(size, type.mantissa - exponent)) - unit +
                   (static_cast<u64>(exponent + type.bias()) << type.mantissa));
}
double flushed(const Type& type, double x) {
    return std::fabs(x) < type.least_normal() ? std::copysign(0.0, x) : x;
}

/// A number in MPFR, exactly.
class Exact {
  public:
    explicit Exact(double x) : Exact(64) { mpfr_set_d(value_, x, MPFR_RNDN); }
    explicit Exact(i128 x) : Exact(64) {
        if (x < 0)
            mpfr_set_si(value_, static_cast<long>(x), MPFR_RNDN);
        else
            mpfr_set_ui(value_, static_cast<unsigned long>(x), MPFR_RNDN);
    }
    explicit Exact(int precision) { mpfr_init2(value_, precision); }
    ~Exact() { mpfr_clear(value_); }
    Exact(const Exact&) = delete;
    Exact& operator=(const Exact&) = delete;
    operator mpfr_ptr() { return value_; }
    operator mpfr_srcptr() const { return value_; }

  private:
    mpfr_t value_;
};
/// `operation(result, mode)` rounded once to a type, subnormal numbers too. Under .ftz a result is
/// zero whose exact value is below all normal numbers.
template <class Operation>
double rounded(const Type& type, mpfr_rnd_t mode, bool flushes, Operation operation) {
    Exact result(type.precision);
    operation(result, MPFR_RNDZ);
    if (flushes && mpfr_number_p(result) && mpfr_get_exp(result) < 2 - type.bias())
        return mpfr_signbit(result) ? -0.0 : 0.0;
    int direction = operation(result, mode);
    mpfr_set_emin(3 - type.bias() - type.precision);
    mpfr_set_emax(std::ilogb(type.greatest()) + 1);
    direction = mpfr_check_range(result, direction, mode);
    mpfr_subnormalize(result, direction, mode);
    mpfr_set_emin(mpfr_get_emin_min());
    mpfr_set_emax(mpfr_get_emax_max());
    return mpfr_get_d(result, MPFR_RNDN);
}

/// What modifiers do to a result.
double limited(const Opcode& op, const Type& type, double x) {
    if (op.has("ftz") && (op.name != "cvt" || type.name == "f32")) x = flushed(type, x);
    if (op.has("sat")) return x > 0 ? std::min(x, 1.0) : 0.0;
    if (op.has("relu") && x <= 0) return 0.0;
    if (op.has("satfinite") && std::fabs(x) > type.greatest())
        return std::copysign(type.greatest(), x);
    return x;
}

double arithmetic(const Opcode& op, const Type& type, double x, double y, double z) {
    if (op.name == "div" && op.has("approx") && std::isfinite(y) && std::fabs(y) > 0x1p126)
        return x * 0;
    if (op.name == "rsqrt" && x == 0) return std::copysign(infinity, x);
    const Exact a(x), b(y), c(z);
    const std::string& name = op.name;
    return rounded(type, op.mode(), op.has("ftz"), [&](mpfr_ptr to, mpfr_rnd_t mode) {
        if (name == "add") return mpfr_add(to, a, b, mode);
        if (name == "sub") return mpfr_sub(to, a, b, mode);
        if (name == "mul") return mpfr_mul(to, a, b, mode);
        if (name == "fma") return mpfr_fma(to, a, b, c, mode);
        if (name == "div") return mpfr_div(to, a, b, mode);
        if (name == "rcp") return mpfr_ui_div(to, 1, a, mode);
        if (name == "sqrt") return mpfr_sqrt(to, a, mode);
        if (name == "rsqrt") return mpfr_rec_sqrt(to, a, mode);
        if (name == "ex2") return mpfr_exp2(to, a, mode);
        if (name == "lg2") return mpfr_log2(to, a, mode);
        if (name == "sin") return mpfr_sin(to, a, mode);
        if (name == "cos") return mpfr_cos(to, a, mode);
        if (name == "tanh") return mpfr_tanh(to, a, mode);
        throw std::invalid_argument("no instruction of floats: " + name);
    });
}
/// The number of a number and a NaN, unless .NaN; -0 is below +0.
double extreme(const Opcode& op, double a, double b) {
    const bool differ = std::signbit(a) != std::signbit(b);
    if (op.has("xorsign")) a = std::fabs(a), b = std::fabs(b);
    double x = std::isnan(a) ? b : a;
    if (std::isnan(a) || std::isnan(b)) {
        if (op.has("NaN")) return not_a_number;
    } else {
        const bool first = a < b || (a == b && std::signbit(a));
        x = first == (op.name == "min") ? a : b;
    }
    return op.has("xorsign") ? std::copysign(x, differ ? -1.0 : 1.0) : x;
}
u64 float_element(const Opcode& op, const Type& type, const Arguments& bits) {
    const u64 sign = u64{1} << (type.width - 1);
    double x[3];
    for (int i = 0; i < 3; ++i) {
        x[i] = decoded(type, bits[i]);
        if (op.has("ftz")) x[i] = flushed(type, x[i]);
    }
    if (op.name == "copysign") return (bits[0] & sign) | (bits[1] & (sign - 1));
    if (op.name == "abs") return encoded(type, std::fabs(x[0]));
    if (op.name == "neg") return encoded(type, -x[0]);
    const bool is_extreme = op.name == "min" || op.name == "max";
    const double result =
        is_extreme ? extreme(op, x[0], x[1]) : arithmetic(op, type, x[0], x[1], x[2]);
    return encoded(type, limited(op, type, result));
}
u64 floats(const Opcode& op, const Arguments& x) {
    const Type& type = op.types.at(0);
    if (!op.is_pair[0]) return float_element(op, type, x);
    Arguments high = {};
    for (int i = 0; i < 4; ++i) high[i] = x[i] >> 16;
    return float_element(op, type, high) << 16 | (float_element(op, type, x) & 0xffff);
}

bool compares(const Opcode& op, const Type& type, u64 of_a, u64 of_b) {
    const std::string cmp = op.parts[1];
    const auto holds = [](const std::string& c, auto a, auto b) {
        if (c == "eq") return a == b;
        if (c == "ne") return a != b;
        if (c == "lt" || c == "lo") return a < b;
        if (c == "le" || c == "ls") return a <= b;
        if (c == "gt" || c == "hi") return a > b;
        if (c == "ge" || c == "hs") return a >= b;
        throw std::invalid_argument("no comparison: " + c);
    };
    if (type.kind != 'f') return holds(cmp, integer(type, of_a), integer(type, of_b));
    double a = decoded(type, of_a), b = decoded(type, of_b);
    if (op.has("ftz")) a = flushed(type, a), b = flushed(type, b);
    const bool is_nan = std::isnan(a) || std::isnan(b);
    if (cmp == "num" || cmp == "nan") return is_nan == (cmp == "nan");
    return is_nan ? cmp.ends_with("u") : holds(cmp.substr(0, 2), a, b);
}
u64 selection(const Opcode& op, const Arguments& x) {
    if (op.name == "testp")
        return std::fpclassify(static_cast<float>(decoded(op.types[0], x[0]))) == FP_SUBNORMAL;
    if (op.name == "slct") {
        const Type& of_c = op.types.at(1);
        return (of_c.kind == 'f' ? decoded(of_c, x[2]) >= 0 : integer(of_c, x[2]) >= 0) ? x[0]
                                                                                        : x[1];
    }
    const bool is_true = compares(op, op.types.back(), x[0], x[1]);
    if (op.name == "set") return !is_true ? 0 : op.types[0].kind == 'f' ? 0x3f800000 : ~u64{0};
    if (op.note != "p|q") return is_true;
    return x[2] == 0 ? 0 : is_true ? 1 : 2;
}

u64 float_to_integer(const Opcode& op, const Type& to, const Type& from, double x) {
    if (std::isnan(x)) return to.width == 64 || from.width == 64 ? u64{1} << (to.width - 1) : 0;
    const mpfr_rnd_t mode = op.mode();
    x = mode == MPFR_RNDZ   ? std::trunc(x)
        : mode == MPFR_RNDD ? std::floor(x)
        : mode == MPFR_RNDU ? std::ceil(x)
                            : std::nearbyint(x);
    return static_cast<u64>(clamped(to, static_cast<i128>(std::clamp(x, -0x1p100, 0x1p100))));
}
u64 float_to_float(const Opcode& op, const Type& to, const Type& from, u64 bits) {
    double x = decoded(from, bits);
    if (op.has("ftz") && from.name == "f32") x = flushed(from, x);
    if (op.has("rna"))  // half of a unit is added to the size
        return std::isnan(x) ? encoded(to, x)
                             : (bits + (std::isinf(x) ? 0 : 0x1000)) & ~u64{0x1fff};
    const bool to_whole = op.has("rni") || op.has("rzi") || op.has("rmi") || op.has("rpi");
    const Exact exact(x);
    x = rounded(to, op.mode(), op.has("ftz") && to.name == "f32", [&](mpfr_ptr r, mpfr_rnd_t mode) {
        return to_whole ? mpfr_rint(r, exact, mode), 0 : mpfr_set(r, exact, mode);
    });
    return encoded(to, limited(op, to, x));
}
u64 converted_element(const Opcode& op, const Type& to, const Type& from, u64 bits) {
    if (from.kind == 'f' && to.kind == 'f') return float_to_float(op, to, from, bits);
    if (from.kind == 'f') {
        const double x = decoded(from, bits);
        return float_to_integer(op, to, from, op.has("ftz") ? flushed(from, x) : x);
    }
    const i128 number = integer(from, bits);
    if (to.kind != 'f')
        return static_cast<u64>(op.has("sat") ? clamped(to, number)
                                              : integer(to, static_cast<u128>(number)));
    const Exact exact(number);
    return encoded(to, rounded(to, op.mode(), false, [&](mpfr_ptr r, mpfr_rnd_t mode) {
                       return mpfr_set(r, exact, mode);
                   }));
}
u64 conversion(const Opcode& op, const Arguments& x) {
    const Type &to = op.types.at(0), &from = op.types.at(1);
    const auto each = [&](u64 bits) { return converted_element(op, to, from, bits); };
    const u64 mask = ~u64{0} >> (64 - to.width);
    if (op.has("pack")) {  // what was packed before, or nothing, is above
        const u64 before = op.types.size() > 2 ? x[2] << 2 * to.width : 0;
        return before | (each(x[0]) & mask) << to.width | (each(x[1]) & mask);
    }
    if (!op.is_pair[0]) return each(x[0]);
    if (op.is_pair[1])
        return each(x[0] >> from.width) << to.width | each(x[0] & ((u64{1} << from.width) - 1));
    return each(x[0]) << to.width | each(x[1]);
}

/// 9.7.9.7 prmt: which of eight bytes each of four is.
u64 permuted(const Opcode& op, const Arguments& x) {
    const u64 bytes = (x[1] & 0xffffffff) << 32 | (x[0] & 0xffffffff);
    u64 all = 0;
    for (u64 i = 0; i < 4; ++i) {
        const u64 s = x[2] & 3, nibble = x[2] >> 4 * i & 15;
        const u64 from = op.has("f4e")    ? s + i
                         : op.has("b4e")  ? (s + 8 - i) % 8
                         : op.has("rc8")  ? s
                         : op.has("ecl")  ? std::max(s, i)
                         : op.has("ecr")  ? std::min(s, i)
                         : op.has("rc16") ? s % 2 * 2 + i % 2
                                          : nibble % 8;
        u64 byte = bytes >> 8 * from & 255;
        if (op.parts.size() == 2 && nibble >= 8) byte = byte >= 128 ? 255 : 0;
        all |= byte << 8 * i;
    }
    return all;
}
/// Fields of bits, and their places. Places above 255 are as GPUs have them: the ISA says nothing.
u64 bits_of_word(const Opcode& op, const Arguments& x) {
    const Type& type = op.types.at(0);
    const u64 width = type.width, mask = ~u64{0} >> (64 - width), a = x[0] & mask;
    const auto place = [&](u64 of) { return width == 64 ? std::min<u64>(of, 255) : of & 255; };
    const auto bit = [](u64 of, u64 i) { return of >> i & 1; };
    if (op.name == "popc" || op.name == "clz") {
        u64 ones = 0, zeros = 0;
        for (u64 i = 0; i < width; ++i) ones += bit(a, i), zeros = bit(a, i) ? 0 : zeros + 1;
        return op.name == "popc" ? ones : zeros;
    }
    if (op.name == "brev") {
        u64 all = 0;
        for (u64 i = 0; i < width; ++i) all |= bit(a, i) << (width - 1 - i);
        return all;
    }
    if (op.name == "bfind") {
        const u64 of = type.kind == 's' && bit(a, width - 1) ? ~a & mask : a;
        for (u64 i = width; i-- > 0;)
            if (bit(of, i)) return op.has("shiftamt") ? width - 1 - i : i;
        return ~u64{0};
    }
    if (op.name == "bfe") {
        const u64 first = place(x[1]), length = place(x[2]);
        u64 sign = 0, all = 0;
        if (type.kind == 's' && length != 0) sign = bit(a, std::min(first + length, width) - 1);
        for (u64 i = 0; i < width; ++i)
            all |= (i < length && first + i < width ? bit(a, first + i) : sign) << i;
        return all;
    }
    const u64 first = place(x[2]), length = place(x[3]);  // bfi
    u64 all = x[1];
    for (u64 i = 0; i < length && first + i < width; ++i)
        all = (all & ~(u64{1} << (first + i))) | bit(a, i) << (first + i);
    return all;
}
u64 shifted(const Opcode& op, const Arguments& x) {
    const Type& type = op.types.at(0);
    if (op.name == "shf") {
        const u64 n = op.has("clamp") ? std::min<u64>(x[2], 32) : x[2] & 31,
                  both = x[1] << 32 | x[0];
        return op.has("l") ? static_cast<u64>(u128{both} << n >> 32)
                           : static_cast<u64>(u128{both} >> n);
    }
    const auto n = static_cast<int>(std::min<u64>(x[1] & 0xffffffff, 64));
    const i128 a = integer(type, x[0]);
    return static_cast<u64>(op.name == "shl" ? static_cast<i128>(static_cast<u128>(a) << n)
                                             : a >> n);
}
u64 sum_of_bytes(const Opcode& op, const Arguments& x) {
    u64 sum = x[2];
    for (int i = 0; i < 32; i += 8) {
        const Type a{"", op.types.at(0).kind, 8}, b{"", op.types.at(1).kind, 8};
        sum += static_cast<u64>(integer(a, x[0] >> i) * integer(b, x[1] >> i));
    }
    return sum;
}
/// By zero the ISA leaves a division open: all bits are set, as on GPUs.
i128 quotient(const Opcode& op, i128 a, i128 b) {
    if (b == 0) return -1;
    return op.name == "div" ? a / b : a % b;
}
u64 product(const Opcode& op, const Arguments& x) {
    Type type = op.types.at(0);
    const bool is_24 = op.name.ends_with("24");
    if (is_24) type.width = 24;
    const auto all = static_cast<i128>(static_cast<u128>(integer(type, x[0])) *
                                       static_cast<u128>(integer(type, x[1])));
    const i128 part = op.has("hi") ? all >> (is_24 ? 16 : type.width) : all;
    if (op.has("sat")) return static_cast<u64>(clamped(type, part + integer(type, x[2])));
    return static_cast<u64>(part) + (op.name.starts_with("mad") ? x[2] : 0);
}
u64 integers(const Opcode& op, const Arguments& x) {
    const std::string& name = op.name;
    const Type& type = op.types.at(0);
    const i128 a = integer(type, x[0]), b = integer(type, x[1]), c = integer(type, x[2]);
    const auto result = [&]() -> i128 {
        if (name == "add") return a + b;
        if (name == "sub") return a - b;
        if (name == "min") return std::min(a, b);
        if (name == "max") return std::max(a, b);
        if (name == "abs") return a < 0 ? -a : a;
        if (name == "neg") return -a;
        if (name == "and") return a & b;
        if (name == "or") return a | b;
        if (name == "xor") return a ^ b;
        if (name == "not") return ~a;
        if (name == "cnot") return a == 0;
        if (name == "sad") return c + (a < b ? b - a : a - b);
        if (name == "inc") return a >= b ? 0 : a + 1;
        if (name == "dec") return a == 0 || a > b ? b : a - 1;
        if (name == "div" || name == "rem") return quotient(op, a, b);
        throw std::invalid_argument("no instruction of integers: " + name);
    }();
    return static_cast<u64>(op.has("sat") ? clamped(type, result) : result);
}
u64 looked_up(const Opcode& op, const Arguments& x) {
    const u64 table = std::stoul(op.note);
    u64 all = 0;
    for (int i = 0; i < 32; ++i)
        all |= (table >> ((x[0] >> i & 1) * 4 + (x[1] >> i & 1) * 2 + (x[2] >> i & 1)) & 1) << i;
    return all;
}
u64 of_lane(const Opcode& op, const Arguments& x) {
    const auto is = [&](const std::string& names) {
        return (" " + names + " ").find(" " + op.name + " ") != std::string::npos;
    };
    if (is("bra")) return 5 * x[0];
    if (is("mov")) return op.types.empty() ? x[0] >> 16 : x[1] << op.types[0].width / 2 | x[0];
    if (is("cvt")) return conversion(op, x);
    if (is("setp set slct testp")) return selection(op, x);
    if (op.types.at(0).kind == 'f') return floats(op, x);
    if (is("mul mad mul24 mad24")) return product(op, x);
    if (is("popc clz brev bfind bfe bfi")) return bits_of_word(op, x);
    if (is("shl shr shf")) return shifted(op, x);
    if (is("prmt")) return permuted(op, x);
    if (is("dp4a")) return sum_of_bytes(op, x);
    if (is("lop3")) return looked_up(op, x);
    return integers(op, x);
}

/// 9.7.9.6 shfl.sync, as the ISA writes it down. The form adds 77 where the predicate is false.
u64 shuffled(const Opcode& op, const Arguments* lanes, u64 lane) {
    const Arguments& x = lanes[lane];
    const u64 b = x[1] & 31, c = x[2] & 31, segment = x[2] >> 8 & 31;
    const u64 first = lane & segment, last = first | (c & ~segment);
    const u64 from = op.has("up")     ? lane - b
                     : op.has("down") ? lane + b
                     : op.has("bfly") ? lane ^ b
                                      : first | (b & ~segment);
    const bool is_within = op.has("up")
                               ? static_cast<std::int64_t>(from) >= static_cast<std::int64_t>(last)
                               : from <= last;
    return lanes[is_within ? from : lane][0] + (is_within || op.note != "d|p" ? 0 : 77);
}
u64 reduced(const Opcode& op, const Arguments* lanes) {
    Opcode step = op;
    step.name = op.parts.at(2);
    u64 all = lanes[0][0];
    for (int i = 1; i < 32; ++i) all = integers(step, {all, lanes[i][0]});
    return all;
}
u64 of_warp(const Opcode& op, const Arguments* lanes, u64 lane) {
    const u64 own = lanes[lane][0];
    u64 equal = 0, ones = 0;
    for (u64 i = 0; i < 32; ++i) {
        equal |= u64{lanes[i][0] == own} << i;
        ones |= u64{lanes[i][0] != 0} << i;
    }
    if (op.name == "shfl") return shuffled(op, lanes, lane);
    if (op.name == "redux") return reduced(op, lanes);
    if (op.name == "activemask") return own ^ 0xffffffff;
    if (op.note == "%lanemask_lt") return own ^ ((u64{1} << lane) - 1);
    if (op.name == "match" && op.has("any")) return equal;
    if (op.name == "match") return equal == 0xffffffff ? equal + 5 : 0;
    if (op.name == "vote" && op.has("ballot")) return ones;
    if (op.name == "vote" && op.has("any")) return ones != 0;
    if (op.name == "vote") return ones == 0xffffffff || (op.has("uni") && ones == 0);
    u64 row = 0;  // movmatrix: row lane / 4 of the transpose, two elements from 2 (lane % 4) on
    for (u64 i = 0; i < 2; ++i) {
        const u64 from = lane % 4 * 2 + i, column = lane / 4;
        row |= (lanes[from * 4 + column / 2][0] >> column % 2 * 16 & 0xffff) << 16 * i;
    }
    return row;
}

}  // namespace

u64 result_of(const std::string& opcode, const Arguments& operands) {
    return of_lane(Opcode(opcode), operands);
}

std::vector<u64> results_of(const std::string& opcode, const std::vector<Arguments>& lanes) {
    const Opcode op(opcode);
    const bool together =
        op.note == "%lanemask_lt" ||
        std::string(" shfl redux activemask match vote movmatrix ").find(" " + op.name + " ") !=
            std::string::npos;
    std::vector<u64> results;
    for (std::size_t i = 0; i < lanes.size(); ++i)
        results.push_back(together ? of_warp(op, &lanes[i / 32 * 32], i % 32)
                                   : of_lane(op, lanes[i]));
    return results;
}

namespace {

/// A number of a matrix: integers and floats of products are small, and doubles hold their sums.
double element(const Type& type, u64 bits) {
    return type.kind == 'f' ? decoded(type, bits) : static_cast<double>(integer(type, bits));
}
/// Element `i` of a lane's, in registers of 32 bits, or of 64 for f64.
double held(const Type& type, const std::vector<u64>& registers, std::size_t i) {
    const std::size_t each = type.width == 64 ? 1 : 32 / static_cast<std::size_t>(type.width);
    return element(type, registers[i / each] >> i % each * static_cast<std::size_t>(type.width));
}

}  // namespace

// 9.7.14: eight groups of four lanes. Each lane has a row of A and a column of B that its group
// gives, and in them as many elements after one another as fill a register.
Fragments product_of(const std::string& opcode, const Fragments& a, const Fragments& b,
                     const Fragments& c) {
    const Opcode op(opcode);
    const Type &of_d = op.types.at(0), &of_a = op.types.at(1), &of_b = op.types.at(2);
    std::size_t rows = 0, columns = 0, depth = 0;
    if (std::sscanf(op.parts.at(3).c_str(), "m%zun%zuk%zu", &rows, &columns, &depth) != 3)
        throw std::invalid_argument("no shape: " + opcode);
    std::vector<double> of_rows(rows * depth), of_columns(columns * depth);
    for (std::size_t lane = 0; lane < 32; ++lane) {
        const std::size_t group = lane / 4,
                          each = of_a.width == 64 ? 1 : 32 / static_cast<std::size_t>(of_a.width);
        for (std::size_t i = 0; i < a[lane].size() * each; ++i) {
            const std::size_t r = i / each, row = rows == 8 ? group : group + r % 2 * 8,
                              k = (rows == 8 ? r : r / 2) * 4 * each + lane % 4 * each + i % each;
            of_rows.at(row * depth + k) = held(of_a, a[lane], i);
        }
        for (std::size_t i = 0; i < b[lane].size() * each; ++i)
            of_columns.at(group * depth + i / each * 4 * each + lane % 4 * each + i % each) =
                held(of_b, b[lane], i);
    }
    Fragments d = c;
    const std::size_t each = of_d.width == 16 ? 2 : 1;
    for (std::size_t lane = 0; lane < 32; ++lane) {
        for (std::size_t i = 0; i < c[lane].size() * each; ++i) {
            const std::size_t row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
            double sum = held(of_d, c[lane], i);
            for (std::size_t k = 0; k < depth; ++k) {
                const double x = of_rows.at(row * depth + k), y = of_columns.at(column * depth + k);
                sum += op.has("xor") ? x != y : x * y;
            }
            const auto whole = static_cast<i128>(sum);
            const u64 bits =
                of_d.kind == 'f'
                    ? encoded(of_d, sum)
                    : static_cast<u64>(op.has("satfinite") ? clamped(of_d, whole) : whole) &
                          0xffffffff;
            u64& in = d[lane][i / each];
            in = each == 1 ? bits : i % 2 == 0 ? bits : in | bits << 16;
        }
    }
    return d;
}

double number_of(const std::string& type, u64 bits) { return decoded(*find_type(type), bits); }

Error allowed_error(const std::string& opcode, const std::string& type) {
    const Opcode op(opcode);
    if (!op.has("approx") && !op.has("full")) return {0, 0};
    const bool is_f16 = type.starts_with("f16");
    // Bounds of the ISA, and the half of a unit by which the result here is off.
    if (op.name == "tanh" && type != "f32")
        return is_f16 ? Error{0x1p-11, 0x1.03p-11} : Error{0x1p-8, 0x1p-8};
    if (type != "f32")
        return is_f16 ? Error{0x1.12p-10 + 0x1p-11, 0x1p-24} : Error{0x1p-7 + 0x1p-8, 0};
    if (op.name == "tanh") return {0x1.03p-11, 0};
    if (op.name == "sin" || op.name == "cos") return {0x1p-24, 0x1.13p-21};
    if (op.name == "lg2") return {0x1p-22 + 0x1p-24, 0x1p-22};
    return {(op.name == "div" || op.name == "ex2" ? 0x1p-22 : 0x1.12p-23) + 0x1p-24, 0x1p-148};
}

}  // namespace conformance
