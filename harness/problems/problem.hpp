// SPDX-License-Identifier: Apache-2.0
// Decides what a problem is: a point of an operator's parameter space, how it prints and parses,
// and the order that defines the smallest. CUDA units include this file.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gradverify {

/// Whether a parameter has one value, one for each spatial axis, or two for each: left and right.
enum class ParameterKind { scalar, per_axis, per_axis_pair };

/// One named parameter of an operator.
struct ParameterSpec {
    std::string name;
    ParameterKind kind = ParameterKind::scalar;
    std::int64_t default_value = 1;
    std::int64_t minimum = 1;
    /// The product of two, such as dilation times filter, must stay inside 64 bits.
    std::int64_t maximum = std::int64_t{1} << 30;
    bool carries_rank = false;  ///< always printed: its number of values is the problem's rank
    bool is_padding = false;    ///< counts towards the problem's total padding
    /// The values of a real parameter, the default first; a problem holds a value's position.
    std::vector<double> values{};

    bool is_real() const { return !values.empty(); }
    /// The number of its slots in a problem of this rank; they lie one behind the other.
    std::size_t slot_count(int rank) const {
        if (kind == ParameterKind::scalar) return 1;
        return static_cast<std::size_t>(kind == ParameterKind::per_axis ? rank : 2 * rank);
    }
};

/// A parameter that is one of a few real numbers, such as an epsilon or a slope.
ParameterSpec real_parameter(std::string name, std::vector<double> values);

/// Numbers of spatial axes, from one to another.
struct RankRange {
    int least = 0, most = 0;

    bool contains(int rank) const { return least <= rank && rank <= most; }
    bool operator==(const RankRange&) const = default;
    /// `2 spatial axes`, `1 to 3 spatial axes`.
    std::string print() const;
};

/// Which side of an axis a value belongs to.
enum class Side { none, left, right };

/// One number of a problem: a parameter on an axis, on a side.
struct Slot {
    std::string name;  ///< `n`, `stride_h`, `padding_left_w`
    int parameter = 0;
    int axis = -1;
    Side side = Side::none;
};

/// An operator's parameters, in the order in which problems print and compare.
class ParameterSpace {
  public:
    /// **Ranges** the number of spatial axes is in `[rank_min, rank_max]`, which is `[0, 0]` for
    /// operators without any. **Errors** std::invalid_argument.
    ParameterSpace(std::vector<ParameterSpec> parameters, int rank_min, int rank_max);

    const std::vector<ParameterSpec>& parameters() const { return parameters_; }
    RankRange ranks() const { return {rank_min_, rank_max_}; }
    int rank_min() const { return rank_min_; }
    int rank_max() const { return rank_max_; }

    /// The slots of a problem of this rank, in order.
    const std::vector<Slot>& slots(int rank) const;
    const Slot& slot(int rank, int at) const { return slots(rank)[static_cast<std::size_t>(at)]; }

    const ParameterSpec& spec(const Slot& slot) const {
        return parameters_[static_cast<std::size_t>(slot.parameter)];
    }
    /// The parameter that a problem's value at this position belongs to.
    const ParameterSpec& spec(int rank, int at) const { return spec(slot(rank, at)); }

    /// The slots of a parameter (`stride`: on every axis), of a parameter on an axis (`padding_h`:
    /// on both sides), on a side (`padding_left`: on every axis), or a single slot
    /// (`padding_left_h`). Empty for any other name.
    std::vector<int> find(std::string_view name, int rank) const;
    /// Every name that `find` accepts at this rank.
    std::vector<std::string> names(int rank) const;

  private:
    std::vector<ParameterSpec> parameters_;
    int rank_min_, rank_max_;
    std::vector<std::vector<Slot>> slots_by_rank_;
};

/// One point of an operator's parameter space.
class Problem {
  public:
    /// The smallest problem of this rank: every parameter at its default.
    explicit Problem(const ParameterSpace& space, int rank);

    /// Reads `n=2,in=5x4,filter=3x2,padding=1+0x0+0`. A parameter that is left out is at its
    /// default. One value for a parameter with axes means every axis.
    /// **Errors** std::invalid_argument that says what is accepted.
    static Problem parse(const ParameterSpace& space, std::string_view text);

    /// Leaves out parameters at their default, except the one that carries the rank.
    std::string print() const;

    const ParameterSpace& space() const { return *space_; }
    int rank() const { return rank_; }
    const std::vector<Slot>& slots() const { return space_->slots(rank_); }

    std::int64_t operator[](int slot) const { return values_[static_cast<std::size_t>(slot)]; }
    std::int64_t& operator[](int slot) { return values_[static_cast<std::size_t>(slot)]; }
    std::span<const std::int64_t> values() const { return values_; }

    /// The value of a scalar parameter. **Errors** std::invalid_argument for an unknown name.
    std::int64_t scalar(std::string_view name) const;
    /// The value of a real parameter. **Errors** std::invalid_argument for an unknown name.
    double real(std::string_view name) const;
    /// The value of a parameter on an axis; for a pair the given side.
    std::int64_t on_axis(std::string_view name, int axis, Side side = Side::none) const;
    /// All values of a parameter: one, or one for each axis, or the left and the right one of each
    /// axis. **Errors** std::invalid_argument for an unknown name.
    std::span<const std::int64_t> all_of(std::string_view name) const;

    /// The sum of |value - default|; a right side counts by its difference from the left one.
    std::int64_t distance() const;
    /// The same for the parameters that are padding.
    std::int64_t total_padding() const;

    /// Orders problems by distance, total padding, rank, then their values from the left.
    std::strong_ordering operator<=>(const Problem& other) const;
    bool operator==(const Problem& other) const {
        return rank_ == other.rank_ && values_ == other.values_;
    }

  private:
    const ParameterSpace* space_;
    int rank_;
    std::vector<std::int64_t> values_;
};

}  // namespace gradverify
