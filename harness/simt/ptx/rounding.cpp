// SPDX-License-Identifier: Apache-2.0
// Directed roundings of PTX's float and double arithmetic (PTX ISA, 6.5.2), by the processor's.
#include <cfenv>
#include <cmath>

#include "gradverify_simt/ptx/floats.hpp"

namespace gradverify::simt::ptx {
namespace {

int mode_of(Rounding rounding) {
    if (rounding == Rounding::toward_zero) return FE_TOWARDZERO;
    if (rounding == Rounding::down) return FE_DOWNWARD;
    return rounding == Rounding::up ? FE_UPWARD : FE_TONEAREST;
}

// volatile: the operation must not leave the lines between the two changes of mode.
template <class F>
F rounded(Operation operation, Rounding rounding, F of_a, F of_b, F of_c) {
    volatile F a = of_a, b = of_b, c = of_c;
    const int before = std::fegetround();
    std::fesetround(mode_of(rounding));
    volatile F result = 0;
    if (operation == Operation::add) result = a + b;
    if (operation == Operation::multiply) result = a * b;
    if (operation == Operation::divide) result = a / b;
    if (operation == Operation::root) result = std::sqrt(a);
    if (operation == Operation::fused) result = std::fma(a, b, c);
    std::fesetround(before);
    return result;
}

}  // namespace

extern "C" {
float gradverify_simt_rounded_float(Operation operation, Rounding rounding, float a, float b,
                                    float c) {
    return rounded<float>(operation, rounding, a, b, c);
}
double gradverify_simt_rounded_double(Operation operation, Rounding rounding, double a, double b,
                                      double c) {
    return rounded<double>(operation, rounding, a, b, c);
}
}

}  // namespace gradverify::simt::ptx
