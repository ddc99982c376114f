// SPDX-License-Identifier: Apache-2.0
// PyTorch's TensorOptions, its Scalar, and ranges of indices.
#pragma once
#pragma GCC system_header

#include <cstdint>
#include <optional>
#include <type_traits>

#include "gradverify_torch/types.hpp"

namespace c10 {

/// `for (const auto i : c10::irange(n))`.
template <class I>
struct gradverify_range {
    struct Iterator {
        I i;
        I operator*() const { return i; }
        void operator++() { ++i; }
        bool operator!=(Iterator end) const { return i < end.i; }
    };
    I first, last;
    Iterator begin() const { return {first}; }
    Iterator end() const { return {last}; }
};
template <class I>
gradverify_range<I> irange(I end) {
    return {I(), end};
}
template <class A, class I>
gradverify_range<I> irange(A begin, I end) {
    return {static_cast<I>(begin), end};
}

/// A number of whichever type.
class Scalar {
  public:
    template <class T>
    requires(std::is_arithmetic_v<T>)
    Scalar(T value)
        : real_(static_cast<double>(value)),
          whole_(static_cast<std::int64_t>(value)),
          is_whole_(std::is_integral_v<T>) {}
    Scalar(Half value) : Scalar(static_cast<float>(value)) {}
    Scalar(BFloat16 value) : Scalar(static_cast<float>(value)) {}
    bool isIntegral(bool) const { return is_whole_; }
    bool isFloatingPoint() const { return !is_whole_; }
    template <class T>
    T to() const {
        return is_whole_ ? static_cast<T>(whole_) : static_cast<T>(real_);
    }
    double toDouble() const { return to<double>(); }
    float toFloat() const { return to<float>(); }
    std::int64_t toLong() const { return to<std::int64_t>(); }
    int toInt() const { return to<int>(); }

  private:
    double real_;
    std::int64_t whole_;
    bool is_whole_;
};

class TensorOptions {
  public:
    TensorOptions() = default;
    TensorOptions(ScalarType type) : dtype_(type) {}
    TensorOptions(caffe2::TypeMeta type) : dtype_(type.type) {}
    TensorOptions(Device device) : device_(device) {}
    TensorOptions(DeviceType device) : device_(device) {}
    TensorOptions(Layout) {}
    TensorOptions(MemoryFormat) {}

    ScalarType dtype() const { return dtype_.value_or(kFloat); }
    Device device() const { return device_.value_or(Device(kCPU)); }
    Layout layout() const { return kStrided; }
    bool has_dtype() const { return dtype_.has_value(); }
    bool has_device() const { return device_.has_value(); }
    bool requires_grad() const { return false; }
    bool pinned_memory() const { return is_pinned_; }
    TensorOptions dtype(std::optional<ScalarType> type) const {
        TensorOptions changed = *this;
        changed.dtype_ = type;
        return changed;
    }
    template <class T>
    TensorOptions dtype() const {
        return dtype(CppTypeToScalarType<T>::value);
    }
    TensorOptions device(std::optional<Device> device) const {
        TensorOptions changed = *this;
        changed.device_ = device;
        return changed;
    }
    TensorOptions device(DeviceType type, DeviceIndex index) const {
        return device(Device(type, index));
    }
    TensorOptions device_index(DeviceIndex index) const { return device(Device(kCUDA, index)); }
    /// With what it leaves open taken from `others`.
    TensorOptions or_else(const TensorOptions& others) const {
        TensorOptions filled = others;
        if (dtype_.has_value()) filled.dtype_ = dtype_;
        if (device_.has_value()) filled.device_ = device_;
        filled.is_pinned_ |= is_pinned_;
        return filled;
    }
    TensorOptions layout(Layout) const { return *this; }
    TensorOptions requires_grad(bool) const { return *this; }
    TensorOptions pinned_memory(bool is_pinned) const {
        TensorOptions changed = *this;
        changed.is_pinned_ = is_pinned;
        return changed;
    }
    TensorOptions memory_format(MemoryFormat) const { return *this; }

  private:
    std::optional<ScalarType> dtype_;
    std::optional<Device> device_;
    bool is_pinned_ = false;
};
inline TensorOptions dtype(ScalarType type) { return TensorOptions(type); }
inline TensorOptions device(Device device) { return TensorOptions(device); }
inline TensorOptions layout(Layout) { return {}; }
inline TensorOptions requires_grad(bool = true) { return {}; }

}  // namespace c10

namespace at {
using namespace c10;
}  // namespace at
namespace torch {
using namespace at;
using Dtype = at::ScalarType;
}  // namespace torch
