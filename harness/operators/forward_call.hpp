// SPDX-License-Identifier: Apache-2.0
// Decides what an operator's forward function is given: the problem's parameters and its tensors by
// name, on any scalar of the harness. Checks every access of the forward function.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "harness/numbers/autodiff/decisions.hpp"
#include "harness/numbers/philox.hpp"
#include "harness/operators/operator.hpp"

namespace gradverify {

class Traced;

namespace detail {

/// How many elements forward functions and references have asked for on this thread, and how many
/// operations were recorded.
[[gnu::tls_model("initial-exec")]] inline thread_local std::int64_t work_seen = 0;

[[noreturn]] void refuse_index(const std::string& tensor, const Sizes& sizes,
                               std::span<const std::int64_t> index);
/// The flat offset of an index.
/// **Errors** std::out_of_range that names the tensor, the index and the sizes.
inline std::size_t offset_in(const std::string& tensor, const Sizes& sizes,
                             std::span<const std::int64_t> index) {
    ++work_seen;
    std::int64_t offset = 0;
    bool is_inside = index.size() == sizes.size();
    for (std::size_t axis = 0; is_inside && axis < index.size(); ++axis) {
        is_inside = index[axis] >= 0 && index[axis] < sizes[axis];
        offset = offset * sizes[axis] + index[axis];
    }
    if (!is_inside) [[unlikely]]
        refuse_index(tensor, sizes, index);
    return static_cast<std::size_t>(offset);
}
/// **Errors** std::invalid_argument that lists the names there are.
std::size_t position_of(std::string_view name, const std::vector<TensorSpec>& tensors,
                        std::string_view kind);

/// Why a number is no index, and what is right.
std::string no_index(double value);

template <class T>
double plain_value(const T& value) {
    if constexpr (std::same_as<T, double>)
        return value;
    else
        return plain_value(value.value());
}

}  // namespace detail

/// Whether a value is NaN, on every scalar. It is not counted as a comparison.
template <class T>
bool isnan(const T& value) {
    return std::isnan(detail::plain_value(value));
}

/// The value as a plain number, without slope and error: for a shift that cancels out, as the
/// largest term of a log-sum-exp, whose way to the result a gradient's bound would count twice.
template <class T>
double detached(const T& value) {
    return detail::plain_value(value);
}

/// The whole number that a value holds, mostly behind floor() or rint(), as an index. Where
/// rounding may carry what it is made of over a jump, either index is right, and has no bound.
/// **Errors** std::invalid_argument for any other number.
template <class T>
std::int64_t index_of(const T& value) {
    const double place = detail::plain_value(value);
    if (!(std::abs(place) < 0x1p+62) || place != std::round(place))
        throw std::invalid_argument(detail::no_index(place));
    if constexpr (std::same_as<T, Bounded> || std::same_as<T, Traced>) {
        current_decisions.has_places = true;
        if (may_jump(value)) ++current_decisions.undecided;
    }
    return static_cast<std::int64_t>(place);
}

/// A result that is NaN by definition: a kernel must give NaN there. A NaN from arithmetic, such as
/// infinity less itself, has no bound instead, and any result passes.
template <class T>
T not_a_number() {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    if constexpr (std::same_as<T, Bounded>)
        return Bounded::within(nan, 0.0);
    else
        return T(nan);
}

/// How far a value may be off; 0 on scalars that do not know.
template <class T>
double error_of(const T& value) {
    if constexpr (std::same_as<T, Bounded>)
        return value.error();
    else
        return 0.0;
}

/// The value if `is_taken`, else zero; unless `is_sure`, a kernel may have either.
template <class T>
T taken_or_zero(const T& value, bool is_taken, bool is_sure) {
    if constexpr (std::same_as<T, Bounded>)
        if (!is_sure) {
            const double size = std::abs(value.value());
            return Bounded(
                Bounded::Sum{is_taken ? value.value() : 0.0, size + value.error(), size, 0.0});
        }
    return is_taken ? value : T(0.0);
}

/// The gradient of a ReLU: the cotangent where `x` is above zero, else zero. It is not counted as a
/// comparison; where rounding may turn the sign of x, either is within the bound.
template <class T>
T where_positive(const T& x, const T& cotangent) {
    const double value = detail::plain_value(x), error = error_of(x);
    return taken_or_zero(cotangent, value > 0.0, error == 0.0 || std::abs(value) > error);
}

/// The largest of some numbers and its position, the first of equal ones, as a maximum saves it for
/// its gradient. It is not counted as a comparison: where rounding may choose another value, the
/// bound of `position` reaches to it. Does not look for NaN.
template <class T>
class LargestOf {
  public:
    void see(const T& value, std::int64_t position) {
        largest_ = seen_.empty() ? value : max(largest_, value);
        seen_.push_back(
            {detail::plain_value(value), error_of(value), static_cast<double>(position)});
    }
    /// **Ranges** at least one value has been seen, here and below.
    const T& value() const { return largest_; }
    T position() const {
        const auto best = std::ranges::max_element(seen_, {}, &Seen::value);
        if constexpr (std::same_as<T, Bounded>) {
            double reach = 0.0;
            for (const Seen& other : seen_) {
                const double errors = best->error + other.error;
                if (errors > 0.0 && !(best->value - other.value > errors))
                    reach = std::max(reach, std::abs(best->position - other.position));
            }
            return Bounded::within(best->position, reach);
        } else {
            return T(best->position);
        }
    }

  private:
    struct Seen {
        double value, error, position;
    };
    std::vector<Seen> seen_;
    T largest_{};
};

/// A tensor of a forward function: `x(row, column)`.
template <class T>
class TensorOf {
  public:
    TensorOf(T* data, const Sizes& sizes, const std::string& name)
        : data_(data), sizes_(&sizes), name_(&name) {}

    /// **Errors** std::out_of_range for another number of indices, or one outside.
    template <std::integral... Index>
    T& operator()(Index... index) const {
        const std::array<std::int64_t, sizeof...(Index)> all{static_cast<std::int64_t>(index)...};
        return data_[detail::offset_in(*name_, *sizes_, all)];
    }
    std::int64_t size(int axis) const { return sizes_->at(static_cast<std::size_t>(axis)); }
    std::int64_t elements() const { return element_count(*sizes_); }
    /// The elements in row-major order, as if there were one axis.
    T& flat(std::int64_t index) const {
        const Sizes all{elements()};
        return data_[detail::offset_in(*name_, all, {&index, 1})];
    }

  private:
    T* data_;
    const Sizes* sizes_;
    const std::string* name_;
};

/// An input of whole numbers: `labels(n)` is a std::int64_t.
template <class T>
class IndicesOf {
  public:
    explicit IndicesOf(TensorOf<const T> values) : values_(values) {}
    template <std::integral... Index>
    std::int64_t operator()(Index... index) const {
        // They are whole: rounding them would take longer than all else here.
        return static_cast<std::int64_t>(detail::plain_value(values_(index...)));
    }
    std::int64_t size(int axis) const { return values_.size(axis); }

  private:
    TensorOf<const T> values_;
};

/// Notes the names that references give to numbers on this thread until the end of the scope.
class RoundingNames {
  public:
    RoundingNames() : before_(current) { current = this; }
    ~RoundingNames() { current = before_; }
    RoundingNames(const RoundingNames&) = delete;
    RoundingNames& operator=(const RoundingNames&) = delete;

    static void note(std::string_view name) {
        if (current && !current->names_.contains(name)) current->names_.emplace(name);
    }
    const std::set<std::string, std::less<>>& names() const { return names_; }

  private:
    inline static thread_local RoundingNames* current = nullptr;
    std::set<std::string, std::less<>> names_;
    RoundingNames* before_;
};

/// One run of a forward function. Outputs hold zeros at first.
template <class T>
class ForwardCall {
  public:
    using Scalar = T;

    ForwardCall(const Operator& op, const Problem& problem, Inputs<T> inputs, Outputs<T> outputs)
        : op_(op), problem_(problem), inputs_(inputs), outputs_(outputs) {}

    /// **Errors** std::invalid_argument for a name that was not declared, here and below.
    TensorOf<const T> input(std::string_view name) const {
        const std::size_t at = detail::position_of(name, op_.inputs, "input");
        return {inputs_[at].data.data(), inputs_[at].sizes, op_.inputs[at].name};
    }
    IndicesOf<T> indices(std::string_view name) const { return IndicesOf<T>(input(name)); }
    TensorOf<T> output(std::string_view name) const {
        const std::size_t at = detail::position_of(name, op_.outputs, "output");
        return {outputs_[at].data.data(), outputs_[at].sizes, op_.outputs[at].name};
    }
    /// A parameter that is a whole number, and one that is a real number.
    std::int64_t parameter(std::string_view name) const { return problem_.scalar(name); }
    T attribute(std::string_view name) const { return T(problem_.real(name)); }
    const Problem& problem() const { return problem_; }
    /// The random words that curand4() returns first after curand_init(seed, index, offset), with
    /// the state of Philox4x32-10: what a dropout's thread `index` has.
    static RandomWords philox(std::int64_t seed, std::int64_t offset, std::int64_t index) {
        return gradverify::philox(static_cast<std::uint64_t>(seed),
                                  static_cast<std::uint64_t>(offset),
                                  static_cast<std::uint64_t>(index));
    }
    /// The float in (0, 1] that curand_uniform() makes of a word.
    static double uniform(std::uint32_t bits) { return uniform_float(bits); }
    /// The value, under a name: a kernel may declare that it rounds this number to a narrower type,
    /// `.rounds("p", DType::bf16)`, and in a derived gradient its cotangent, "dp".
    T rounds(std::string_view name, const T& value) const {
        if constexpr (std::same_as<T, double>) {
            RoundingNames::note(name);
            return value;
        } else {
            return rounded_by_name(name, value);
        }
    }

  private:
    const Operator& op_;
    const Problem& problem_;
    Inputs<T> inputs_;
    Outputs<T> outputs_;
};

}  // namespace gradverify
