// SPDX-License-Identifier: Apache-2.0
// Decides how a reference multiplies matrices: by Eigen's product for double, and by several of
// these for Bounded, so that a bound costs a few matrix products instead of a scalar loop.
#pragma once

#include <Eigen/Core>

#include "harness/numbers/rounding_bound.hpp"

namespace Eigen {
template <>
struct NumTraits<gradverify::Bounded> : GenericNumTraits<gradverify::Bounded> {
    enum { IsSigned = 1, ReadCost = 4, AddCost = 8, MulCost = 16 };
};
}  // namespace Eigen

namespace gradverify {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// a times b. **Shapes** a `m, l`; b `l, n`; result `m, n`.
template <class A, class B>
Matrix<double> product(const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b)
requires std::same_as<typename A::Scalar, double>
{
    Matrix<double> result(a.rows(), b.cols());
    result.noalias() = a.derived() * b.derived();
    return result;
}

/// The same with a bound: each product rounds once and may underflow, but exact zeros.
template <class A, class B>
Matrix<Bounded> product(const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b)
requires std::same_as<typename A::Scalar, Bounded>
{
    const auto value_of = [](const Bounded& x) { return x.value(); };
    const auto error_of = [](const Bounded& x) { return x.as_factor().error(); };
    const auto is_term = [](const Bounded& x) {
        return x.value() == 0.0 && x.error() == 0.0 ? 0.0 : 1.0;
    };
    const Matrix<double> va = a.unaryExpr(value_of), vb = b.unaryExpr(value_of);
    const Matrix<double> ea = a.unaryExpr(error_of), eb = b.unaryExpr(error_of);
    const Matrix<double> abs_a = va.cwiseAbs(), abs_b = vb.cwiseAbs();

    const Matrix<double> value = product(va, vb);
    const Matrix<double> terms =
        product(Matrix<double>(a.unaryExpr(is_term)), Matrix<double>(b.unaryExpr(is_term)));
    // |a||b| and the operands' own errors.
    Matrix<double> reach = product(abs_a, abs_b);
    Matrix<double> error = Matrix<double>::Zero(reach.rows(), reach.cols());
    const bool exact_operands = ea.isZero(0.0) && eb.isZero(0.0);
    if (!exact_operands) {
        error = product(abs_a, eb) + product(ea, abs_b) + product(ea, eb);
        reach += error;
    }
    const double unit = current_rounding.gamma(1.0);
    const double tiny = current_rounding.smallest_normal;
    Matrix<Bounded> result(value.rows(), value.cols());
    for (Eigen::Index i = 0; i < result.size(); ++i) {
        const double count = terms(i);
        if (count == 0.0) continue;
        const double products = error(i) + unit * reach(i) + count * tiny;
        result(i) = Bounded(Bounded::Sum{value(i), products, reach(i), count - 1.0});
    }
    return result;
}

}  // namespace gradverify
