// SPDX-License-Identifier: Apache-2.0
// What describes a tensor in PyTorch: scalar types, devices, layouts, lists of sizes.
#pragma once
#pragma GCC system_header

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "gradverify_torch/errors.hpp"
#include "gradverify_torch/numbers.hpp"

// The C++ type, the name and PyTorch's number of each type of elements.
#define GRADVERIFY_TORCH_TYPES(TYPE)              \
    TYPE(std::uint8_t, Byte, 0)                   \
    TYPE(std::int8_t, Char, 1)                    \
    TYPE(std::int16_t, Short, 2)                  \
    TYPE(int, Int, 3)                             \
    TYPE(std::int64_t, Long, 4)                   \
    TYPE(c10::Half, Half, 5)                      \
    TYPE(float, Float, 6)                         \
    TYPE(double, Double, 7)                       \
    TYPE(c10::complex<float>, ComplexFloat, 9)    \
    TYPE(c10::complex<double>, ComplexDouble, 10) \
    TYPE(bool, Bool, 11)                          \
    TYPE(c10::BFloat16, BFloat16, 15)             \
    TYPE(c10::Float8_e5m2, Float8_e5m2, 23)       \
    TYPE(c10::Float8_e4m3fn, Float8_e4m3fn, 24)

namespace c10 {

using std::make_optional, std::nullopt, std::nullopt_t, std::optional;
using string_view = std::string_view;

#define GRADVERIFY_TORCH_ENUMERATOR(T, NAME, NUMBER) NAME = NUMBER,
enum class ScalarType : std::int8_t {
    GRADVERIFY_TORCH_TYPES(GRADVERIFY_TORCH_ENUMERATOR) Undefined = 45
};
#undef GRADVERIFY_TORCH_ENUMERATOR

template <class T>
struct CppTypeToScalarType;
namespace impl {
template <ScalarType>
struct ScalarTypeToCPPType;
template <ScalarType type>
using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<type>::type;
}  // namespace impl
#define GRADVERIFY_TORCH_TYPE(T, NAME, NUMBER)                                               \
    constexpr ScalarType k##NAME = ScalarType::NAME;                                         \
    template <>                                                                              \
    struct CppTypeToScalarType<T> : std::integral_constant<ScalarType, ScalarType::NAME> {}; \
    template <>                                                                              \
    struct impl::ScalarTypeToCPPType<ScalarType::NAME> {                                     \
        using type = T;                                                                      \
    };
GRADVERIFY_TORCH_TYPES(GRADVERIFY_TORCH_TYPE)
#undef GRADVERIFY_TORCH_TYPE
constexpr ScalarType kUInt8 = kByte, kInt8 = kChar, kInt16 = kShort, kInt32 = kInt, kInt64 = kLong,
                     kFloat16 = kHalf, kFloat32 = kFloat, kFloat64 = kDouble,
                     kComplexFloat32 = kComplexFloat;

/// `of(T())` for the C++ type T of the elements.
template <class F>
decltype(auto) gradverify_visit(ScalarType type, F of) {
    switch (type) {
#define GRADVERIFY_TORCH_CASE(T, NAME, NUMBER) \
    case ScalarType::NAME:                     \
        return of(T());
        GRADVERIFY_TORCH_TYPES(GRADVERIFY_TORCH_CASE)
#undef GRADVERIFY_TORCH_CASE
        case ScalarType::Undefined:
            break;
    }
    TORCH_CHECK(false, "a tensor of an undefined scalar type");
    __builtin_unreachable();
}
inline const char* toString(ScalarType type) {
#define GRADVERIFY_TORCH_NAME(T, NAME, NUMBER) \
    if (type == ScalarType::NAME) return #NAME;
    GRADVERIFY_TORCH_TYPES(GRADVERIFY_TORCH_NAME)
#undef GRADVERIFY_TORCH_NAME
    return "Undefined";
}
inline std::ostream& operator<<(std::ostream& out, ScalarType type) {
    return out << toString(type);
}
inline std::size_t elementSize(ScalarType type) {
    return gradverify_visit(type, [](auto element) { return sizeof element; });
}
inline bool isComplexType(ScalarType type) {
    return type == kComplexFloat || type == kComplexDouble;
}
inline bool isFloatingType(ScalarType type) {
    return type == kHalf || type == kFloat || type == kDouble || type == kBFloat16 ||
           type == kFloat8_e4m3fn || type == kFloat8_e5m2;
}
inline bool isIntegralType(ScalarType type, bool with_bool = false) {
    return type == kBool ? with_bool : !isFloatingType(type) && !isComplexType(type);
}

enum class DeviceType : std::int8_t { CPU = 0, CUDA = 1, COMPILE_TIME_MAX_DEVICE_TYPES = 21 };
constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA;
constexpr int COMPILE_TIME_MAX_DEVICE_TYPES = int(DeviceType::COMPILE_TIME_MAX_DEVICE_TYPES);
inline std::string DeviceTypeName(DeviceType type, bool lower_case = false) {
    return type == kCPU ? lower_case ? "cpu" : "CPU" : lower_case ? "cuda" : "CUDA";
}
using DeviceIndex = std::int8_t;
struct Device {
    using Type = DeviceType;
    Device(DeviceType type, DeviceIndex index = -1) : type_(type), index_(index) {}
    Device(const std::string& name)
        : Device(name.compare(0, 4, "cuda") == 0 ? kCUDA : kCPU, name == "cuda:0" ? 0 : -1) {
        TORCH_CHECK(name == "cpu" || name == "cuda" || name == "cuda:0", "no device ", name);
    }
    Device(const char* name) : Device(std::string(name)) {}
    DeviceType type() const { return type_; }
    DeviceIndex index() const { return index_; }
    bool has_index() const { return index_ >= 0; }
    bool is_cuda() const { return type_ == kCUDA; }
    bool is_cpu() const { return type_ == kCPU; }
    std::string str() const {
        return is_cpu() ? "cpu" : has_index() ? "cuda:" + std::to_string(index_) : "cuda";
    }
    friend bool operator==(const Device& a, const Device& b) {
        return a.type_ == b.type_ && a.index_ == b.index_;
    }
    friend bool operator!=(const Device& a, const Device& b) { return !(a == b); }
    friend std::ostream& operator<<(std::ostream& out, const Device& a) { return out << a.str(); }

  private:
    DeviceType type_;
    DeviceIndex index_;
};

enum class Layout : std::int8_t { Strided };
constexpr Layout kStrided = Layout::Strided;
enum class MemoryFormat : std::int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };

}  // namespace c10
namespace caffe2 {
/// A type, as a tensor's dtype() gives it.
struct TypeMeta {
    c10::ScalarType type;
    operator c10::ScalarType() const { return type; }
    c10::ScalarType toScalarType() const { return type; }
    std::size_t itemsize() const { return c10::elementSize(type); }
    const char* name() const { return c10::toString(type); }
    friend std::ostream& operator<<(std::ostream& out, TypeMeta type) { return out << type.name(); }
};
}  // namespace caffe2
namespace c10 {

/// A view of values that live elsewhere, as PyTorch's.
template <class T>
class ArrayRef {
  public:
    constexpr ArrayRef() = default;
    constexpr ArrayRef(const T& one) : data_(&one), size_(1) {}
    constexpr ArrayRef(const T* data, std::size_t size) : data_(data), size_(size) {}
    constexpr ArrayRef(const T* begin, const T* end) : ArrayRef(begin, std::size_t(end - begin)) {}
    ArrayRef(const std::vector<T>& values) : ArrayRef(values.data(), values.size()) {}
    template <std::size_t count>
    constexpr ArrayRef(const std::array<T, count>& values) : ArrayRef(values.data(), count) {}
    template <std::size_t count>
    constexpr ArrayRef(const T (&values)[count]) : ArrayRef(values, count) {}
    // Its values live as long as the call's full expression.
    constexpr ArrayRef(const std::initializer_list<T>& values)
        : data_(values.begin()), size_(values.size()) {}

    constexpr const T* begin() const { return data_; }
    constexpr const T* end() const { return data_ + size_; }
    constexpr const T* data() const { return data_; }
    constexpr std::size_t size() const { return size_; }
    constexpr bool empty() const { return size_ == 0; }
    const T& operator[](std::size_t i) const { return at(i); }
    const T& at(std::size_t i) const {
        TORCH_CHECK_INDEX(i < size_, "index ", i, " of a list of ", size_);
        return data_[i];
    }
    const T& front() const { return at(0); }
    const T& back() const { return at(size_ - 1); }
    ArrayRef slice(std::size_t from, std::size_t count) const {
        TORCH_CHECK_INDEX(from + count <= size_, "a slice beyond a list of ", size_);
        return {data_ + from, count};
    }
    ArrayRef slice(std::size_t from) const { return slice(from, size_ - from); }
    std::vector<T> vec() const { return {begin(), end()}; }
    bool equals(ArrayRef other) const {
        return size_ == other.size_ && std::equal(begin(), end(), other.begin());
    }
    friend bool operator==(ArrayRef a, ArrayRef b) { return a.equals(b); }
    friend bool operator!=(ArrayRef a, ArrayRef b) { return !a.equals(b); }
    friend bool operator==(const std::vector<T>& a, ArrayRef b) { return b.equals(a); }
    friend bool operator==(ArrayRef a, const std::vector<T>& b) { return a.equals(b); }
    friend std::ostream& operator<<(std::ostream& out, ArrayRef a) {
        out << '[';
        for (std::size_t i = 0; i < a.size_; ++i) out << (i > 0 ? ", " : "") << a.data_[i];
        return out << ']';
    }

  private:
    const T* data_ = nullptr;
    std::size_t size_ = 0;
};
using IntArrayRef = ArrayRef<std::int64_t>;
using IntList = IntArrayRef;
using OptionalIntArrayRef = std::optional<IntArrayRef>;

}  // namespace c10
