// SPDX-License-Identifier: Apache-2.0
#include "harness/numbers/differences.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace gradverify {

Derivative linear_derivative(const FunctionOfStep& function) {
    return {.value = function(1.0) - function(0.0), .error = 0.0};
}

Derivative smooth_derivative(const FunctionOfStep& function, double step) {
    constexpr std::size_t rows = 10;
    constexpr double shrink = 1.4;
    // Beyond this factor over the best error, further rows only add rounding.
    constexpr double give_up = 2.0;

    const auto central = [&](double h) {
        // The step really taken is h as it is rounded beside one.
        const volatile double up = 1.0 + h;
        const double taken = up - 1.0;
        return (function(taken) - function(-taken)) / (2.0 * taken);
    };
    std::array<std::array<double, rows>, rows> tableau{};
    Derivative best{.value = central(step), .error = std::numeric_limits<double>::infinity()};
    tableau[0][0] = best.value;
    for (std::size_t column = 1; column < rows; ++column) {
        step /= shrink;
        tableau[0][column] = central(step);
        double factor = shrink * shrink;
        for (std::size_t order = 1; order <= column; ++order, factor *= shrink * shrink) {
            const double coarse = tableau[order - 1][column - 1];
            const double fine = tableau[order - 1][column];
            tableau[order][column] = (fine * factor - coarse) / (factor - 1.0);
            const double error = std::max(std::abs(tableau[order][column] - fine),
                                          std::abs(tableau[order][column] - coarse));
            if (error <= best.error) best = {.value = tableau[order][column], .error = error};
        }
        const double drift = std::abs(tableau[column][column] - tableau[column - 1][column - 1]);
        if (drift >= give_up * best.error) break;
    }
    return best;
}

}  // namespace gradverify
