// SPDX-License-Identifier: Apache-2.0
// What the tests that kernels usually have say of a piece of the museum: a comparison with a
// tolerance, and finite differences in a unit step of each element. Both are PyTorch's, by its
// documentation, computed here without it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "harness/registry/registry.hpp"

namespace gradverify {

/// |got - want| <= absolute + relative |want|
struct Tolerance {
    double relative = 0.0, absolute = 0.0;
};

/// A project's own test, as nearly as our operator has it.
struct UsualTest {
    std::string_view problem;  ///< as `--problem` takes it
    /// Nothing: that of torch.testing.assert_close for an output's type.
    std::optional<Tolerance> tolerance{};
    std::string_view ones{};        ///< a tensor that it fills with ones
    bool distinct_indices = false;  ///< no row is looked up twice
    std::string_view small{};       ///< a problem of few outputs for gradcheck; empty: `problem`

    constexpr std::string_view problem_of_gradcheck() const {
        return small.empty() ? problem : small;
    }
};

inline constexpr int usual_draws = 20;

/// In how many draws of normal numbers and uniform indices a kernel of the device cpu is not close
/// to the reference, of all outputs. **Errors** std::invalid_argument for a problem that the kernel
/// does not take.
int draws_seen_by_allclose(const std::string& kernel, const UsualTest& test);

/// In how many draws a gradient kernel's Jacobian, a call for each output with a unit cotangent, is
/// not close to central differences of the forward function in double. Nothing for a forward
/// kernel, which gradcheck takes for granted. **Errors** as above.
std::optional<int> draws_seen_by_gradcheck(const std::string& kernel, const UsualTest& test);

/// What people give gradcheck for floats; its defaults (1e-6, 1e-5 and 1e-3) are for double.
inline constexpr double gradcheck_step = 1e-3;
inline constexpr Tolerance gradcheck_tolerance{.relative = 1e-2, .absolute = 1e-2};

}  // namespace gradverify
