// SPDX-License-Identifier: Apache-2.0
// What at::Tensor copies and computes: by small kernels on the current stream, so that order, races
// and bounds are checked as for any other. Arithmetic is in double and rounds once.
#pragma once
#pragma GCC system_header

#include "gradverify_torch/views.hpp"

namespace c10::gradverify_detail {

/// A number of any type.
struct Value {
    complex<double> number{};
    std::int64_t whole = 0;
    bool is_whole = false;

    template <class T>
    static Value of(const T& value) {
        Value result;
        if constexpr (std::is_integral_v<T>) {
            result = {static_cast<double>(value), static_cast<std::int64_t>(value), true};
        } else if constexpr (std::is_convertible_v<T, double>) {
            result.number = static_cast<double>(value);
        } else {
            result.number = complex<double>(value);
        }
        return result;
    }
    template <class T>
    T to() const {
        if constexpr (std::is_same_v<T, bool>) {
            return is_whole ? whole != 0 : !(number == complex<double>());
        } else if constexpr (std::is_integral_v<T>) {
            return static_cast<T>(is_whole ? whole : static_cast<std::int64_t>(number.real_));
        } else if constexpr (std::is_class_v<T> && std::is_convertible_v<T, float>) {
            return T(static_cast<float>(number.real_));
        } else if constexpr (std::is_floating_point_v<T>) {
            return static_cast<T>(number.real_);
        } else {
            return T(number);
        }
    }
};

/// The elements of a tensor, in the order of its indices, for a kernel to take by value.
struct Elements {
    char* data;
    ScalarType type;
    Shape shape;

    explicit Elements(const at::Tensor& tensor)
        : data(static_cast<char*>(tensor.data_ptr())),
          type(tensor.scalar_type()),
          shape(tensor.gradverify_shape()) {}
    Value read(std::int64_t offset) const {
        return gradverify_visit(type, [&](auto zero) {
            return Value::of(reinterpret_cast<const decltype(zero)*>(data)[offset]);
        });
    }
    Value operator[](std::int64_t i) const { return read(shape.offset_of(i)); }
    void set(std::int64_t i, const Value& value) const {
        gradverify_visit(type, [&](auto zero) {
            reinterpret_cast<decltype(zero)*>(data)[shape.offset_of(i)] =
                value.to<decltype(zero)>();
        });
    }
};

/// Sets each element of `out` to `value(i)`, for the index's number i.
template <class F>
void set_each(const char* name, const at::Tensor& out, F value) {
    const Elements to(out);
    const std::int64_t count = out.numel();
    if (count == 0) return;
    if (!out.is_cuda()) {
        for (std::int64_t i = 0; i < count; ++i) to.set(i, value(i));
        return;
    }
    using namespace ::gradverify::simt::unit;
    const LaunchConfig config(dim3(static_cast<unsigned>((count + 255) / 256)), dim3(256), 0,
                              cuda::getCurrentCUDAStream());
    launch(name, config, [=] {
        const std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
        if (i < count) to.set(i, value(i));
    });
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}

/// The type of a result of both.
inline ScalarType promoted(ScalarType a, ScalarType b) {
    const auto rank = [](ScalarType type) {
        return isComplexType(type) ? 300 : isFloatingType(type) ? 200 : type == kBool ? 0 : 100;
    };
    if (a == b) return a;
    const bool is_both_narrow =
        isFloatingType(a) && isFloatingType(b) && elementSize(a) == 2 && elementSize(b) == 2;
    if (is_both_narrow) return kFloat;
    return rank(a) + int(elementSize(a)) >= rank(b) + int(elementSize(b)) ? a : b;
}
inline std::vector<std::int64_t> broadcast(IntArrayRef a, IntArrayRef b) {
    std::vector<std::int64_t> sizes(std::max(a.size(), b.size()), 1);
    for (const IntArrayRef of : {a, b})
        for (std::size_t axis = 1; axis <= of.size(); ++axis)
            if (of[of.size() - axis] != 1) sizes[sizes.size() - axis] = of[of.size() - axis];
    return sizes;
}

enum class Arithmetic { add, sub, mul, div };
inline Value compute(Arithmetic what, const Value& a, const Value& b) {
    if (what == Arithmetic::div) return Value::of(a.number / b.number);
    if (a.is_whole && b.is_whole) {
        return Value::of(what == Arithmetic::add   ? a.whole + b.whole
                         : what == Arithmetic::sub ? a.whole - b.whole
                                                   : a.whole * b.whole);
    }
    return Value::of(what == Arithmetic::add   ? a.number + b.number
                     : what == Arithmetic::sub ? a.number - b.number
                                               : a.number * b.number);
}
inline void compute_into(Arithmetic what, const at::Tensor& out, const at::Tensor& a,
                         const at::Tensor& b) {
    const Elements left(a.expand(out.sizes())), right(b.expand(out.sizes()));
    set_each("at::Tensor's arithmetic", out,
             [=](std::int64_t i) { return compute(what, left[i], right[i]); });
}
inline void compute_into(Arithmetic what, const at::Tensor& out, const at::Tensor& a,
                         const Scalar& b) {
    const Elements left(a);
    const Value right = b.isIntegral(false) ? Value::of(b.toLong()) : Value::of(b.toDouble());
    set_each("at::Tensor's arithmetic", out,
             [=](std::int64_t i) { return compute(what, left[i], right); });
}

/// c = beta c + alpha a b, of matrices or of batches of them. Where beta is 0, c may hold anything.
inline void multiply(const char* name, const at::Tensor& c, const at::Tensor& a,
                     const at::Tensor& b, const Scalar& beta, const Scalar& alpha) {
    for (const at::Tensor* const of : {&c, &a})
        TORCH_CHECK(of->dtype() == b.dtype(), of == &c ? "self" : "mat1",
                    " and mat2 must have the same dtype, but got ", of->dtype(), " and ",
                    b.dtype());
    TORCH_CHECK(!isIntegralType(c.scalar_type(), true), '"', name, "\" not implemented for '",
                c.dtype(), "'");
    const Elements left(a), right(b), before(c);
    const complex<double> by = alpha.toDouble(), before_by = beta.toDouble();
    const std::int64_t rows = c.size(-2), columns = c.size(-1), terms = a.size(-1);
    set_each(name, c, [=](std::int64_t i) {
        const std::int64_t row = i / columns, first = row / rows * terms * columns + i % columns;
        complex<double> sum;
        for (std::int64_t k = 0; k < terms; ++k)
            sum += left[row * terms + k].number * right[first + k * columns].number;
        sum *= by;
        return Value::of(before_by == 0.0 ? sum : sum + before_by * before[i].number);
    });
}
/// The sizes of a product, which may be added to another.
inline std::vector<std::int64_t> sizes_of_mm(const at::Tensor& a, const at::Tensor& b, bool added) {
    for (const at::Tensor* const of : {&a, &b})
        TORCH_CHECK(of->dim() == 2,
                    of == &b ? "mat2"
                    : added  ? "mat1"
                             : "self",
                    " must be a matrix", added ? c10::str(", got ", of->dim(), "-D tensor") : "");
    TORCH_CHECK(a.size(1) == b.size(0), "mat1 and mat2 shapes cannot be multiplied (", a.size(0),
                "x", a.size(1), " and ", b.size(0), "x", b.size(1), ")");
    return {a.size(0), b.size(1)};
}
inline std::vector<std::int64_t> sizes_of_bmm(const at::Tensor& a, const at::Tensor& b, bool) {
    TORCH_CHECK(a.dim() == 3, "batch1 must be a 3D tensor");
    TORCH_CHECK(b.dim() == 3, "batch2 must be a 3D tensor");
    TORCH_CHECK(a.size(0) == b.size(0) && a.size(2) == b.size(1),
                "Expected size for first two dimensions of batch2 tensor to be: [", a.size(0), ", ",
                a.size(2), "] but got: [", b.size(0), ", ", b.size(1), "].");
    return {a.size(0), a.size(1), b.size(2)};
}

}  // namespace c10::gradverify_detail

namespace at {

inline Tensor Tensor::gradverify_make(const Shape& shape, const TensorOptions& options) {
    const ScalarType type = options.dtype();
    Device device = options.device();
    if (device.is_cuda()) device = Device(kCUDA, 0);
    auto memory = c10::gradverify_detail::allocate(
        static_cast<std::size_t>(shape.elements()) * elementSize(type), device,
        options.pinned_memory());
    void* const data = memory.get();
    return Tensor(std::move(memory), data, shape, type, device);
}

// Memory that is not pinned is waited for by the copy itself, or staged.
inline Tensor& Tensor::copy_(const Tensor& given, bool non_blocking) const {
    Tensor from = given.expand(sizes());
    const bool is_plain = from.scalar_type() == scalar_type() && is_non_overlapping_and_dense() &&
                          from.shape().is_dense_as(shape());
    if (numel() == 0) return self();
    if (is_plain) {
        C10_CUDA_CHECK(cudaMemcpyAsync(data_ptr(), from.data_ptr(), nbytes(), cudaMemcpyDefault,
                                       c10::cuda::getCurrentCUDAStream()));
        if (is_cuda() != from.is_cuda() && !non_blocking)
            C10_CUDA_CHECK(cudaStreamSynchronize(c10::cuda::getCurrentCUDAStream()));
    } else if (is_cuda() == from.is_cuda()) {
        const c10::gradverify_detail::Elements elements(from);
        c10::gradverify_detail::set_each("at::Tensor::copy_", *this,
                                         [=](std::int64_t i) { return elements[i]; });
    } else {
        // The types and strides change where the elements are, then the bytes move.
        const Tensor here = gradverify_make(Shape(sizes()), from.options().dtype(scalar_type()));
        here.copy_(from);
        const Tensor there = gradverify_make(Shape(sizes()), options());
        there.copy_(here);
        copy_(there, non_blocking);
    }
    return self();
}
inline Tensor& Tensor::zero_() const {
    if (is_non_overlapping_and_dense() && numel() > 0) {
        C10_CUDA_CHECK(cudaMemsetAsync(data_ptr(), 0, nbytes(), c10::cuda::getCurrentCUDAStream()));
        return self();
    }
    return fill_(0);
}
inline Tensor& Tensor::fill_(Scalar scalar) const {
    using c10::gradverify_detail::Value;
    const Value value =
        scalar.isIntegral(false) ? Value::of(scalar.toLong()) : Value::of(scalar.toDouble());
    c10::gradverify_detail::set_each("at::Tensor::fill_", *this,
                                     [=](std::int64_t) { return value; });
    return self();
}
inline Tensor Tensor::contiguous(MemoryFormat format) const {
    if (is_contiguous(format)) return *this;
    return gradverify_make(Shape(sizes(), is_channels_last(format)), options()).copy_(*this);
}
inline Tensor Tensor::clone(std::optional<MemoryFormat> format) const {
    const MemoryFormat wanted = format.value_or(MemoryFormat::Preserve);
    const Shape shape = wanted == MemoryFormat::Preserve ? this->shape().like()
                                                         : Shape(sizes(), is_channels_last(wanted));
    return gradverify_make(shape, options()).copy_(*this);
}
inline Tensor Tensor::reshape(IntArrayRef sizes) const {
    const std::optional<Shape> seen = shape().viewed(sizes);
    return seen.has_value() ? viewed(*seen) : contiguous().view(sizes);
}
inline bool Tensor::is_pinned() const {
    return std::get_deleter<c10::gradverify_detail::FreePinned>(impl().memory) != nullptr;
}
inline Tensor Tensor::pin_memory() const {
    if (is_pinned()) return *this;
    TORCH_CHECK(is_cpu(), "cannot pin memory of the device");
    return gradverify_make(shape().like(), options().pinned_memory(true)).copy_(*this);
}
inline Tensor Tensor::to(const TensorOptions& wanted, bool non_blocking, bool copy) const {
    const TensorOptions all = wanted.or_else(options());
    const bool stays = all.dtype() == scalar_type() && all.device().is_cuda() == device().is_cuda();
    if (stays && !copy) return *this;
    return gradverify_make(shape().like(), all).copy_(*this, non_blocking);
}
template <class T>
T Tensor::item() const {
    TORCH_CHECK(numel() == 1, "item: a tensor of one element");
    return *to(kCPU).to(CppTypeToScalarType<T>::value).template data_ptr<T>();
}
inline Scalar Tensor::item() const {
    if (isIntegralType(scalar_type(), true)) return item<std::int64_t>();
    return item<double>();
}
inline Tensor Tensor::sum(IntArrayRef axes, bool keepdim, std::optional<ScalarType> type) const {
    Shape kept = shape(), summed = shape();
    bool is_summed[c10::gradverify_detail::max_rank] = {};
    for (int axis = 0; axis < dim(); ++axis) is_summed[axis] = axes.empty();
    for (const std::int64_t axis : axes) is_summed[axis_of(axis)] = true;
    for (int axis = 0; axis < dim(); ++axis) (is_summed[axis] ? kept : summed).sizes[axis] = 1;
    const ScalarType natural = isIntegralType(scalar_type(), true) ? kLong : scalar_type();
    const Tensor out =
        gradverify_make(Shape(kept.size_list()), options().dtype(type.value_or(natural)));
    const c10::gradverify_detail::Elements from(*this);
    const std::int64_t terms = summed.elements();
    c10::gradverify_detail::set_each("at::Tensor::sum", out, [=](std::int64_t i) {
        using namespace c10::gradverify_detail;
        const std::int64_t first = kept.offset_of(i);
        Value sum = Value::of(std::int64_t{0});
        for (std::int64_t term = 0; term < terms; ++term)
            sum = compute(Arithmetic::add, sum, from.read(first + summed.offset_of(term)));
        return sum;
    });
    if (keepdim) return out;
    Shape rest(out.sizes());
    for (int axis = rest.rank - 1; axis >= 0; --axis)
        if (is_summed[axis]) rest.drop(axis);
    return out.viewed(rest);
}

#define GRADVERIFY_TORCH_ARITHMETIC(NAME)                                                  \
    inline Tensor Tensor::NAME(const Tensor& other) const {                                \
        using namespace c10::gradverify_detail;                                            \
        const bool divides = Arithmetic::NAME == Arithmetic::div;                          \
        const ScalarType both = promoted(scalar_type(), other.scalar_type());              \
        const Tensor out = gradverify_make(                                                \
            Shape(broadcast(sizes(), other.sizes())),                                      \
            options().dtype(divides && isIntegralType(both, true) ? kFloat : both));       \
        compute_into(Arithmetic::NAME, out, *this, other);                                 \
        return out;                                                                        \
    }                                                                                      \
    inline Tensor Tensor::NAME(Scalar other) const {                                       \
        using namespace c10::gradverify_detail;                                            \
        const bool divides = Arithmetic::NAME == Arithmetic::div;                          \
        const Tensor out =                                                                 \
            gradverify_make(shape().like(), options().dtype(type_beside(other, divides))); \
        compute_into(Arithmetic::NAME, out, *this, other);                                 \
        return out;                                                                        \
    }                                                                                      \
    inline Tensor& Tensor::NAME##_(const Tensor& other) const {                            \
        using namespace c10::gradverify_detail;                                            \
        compute_into(Arithmetic::NAME, *this, *this, other);                               \
        return self();                                                                     \
    }                                                                                      \
    inline Tensor& Tensor::NAME##_(Scalar other) const {                                   \
        using namespace c10::gradverify_detail;                                            \
        compute_into(Arithmetic::NAME, *this, *this, other);                               \
        return self();                                                                     \
    }
GRADVERIFY_TORCH_ARITHMETIC(add)
GRADVERIFY_TORCH_ARITHMETIC(sub)
GRADVERIFY_TORCH_ARITHMETIC(mul)
GRADVERIFY_TORCH_ARITHMETIC(div)
#undef GRADVERIFY_TORCH_ARITHMETIC

#define GRADVERIFY_TORCH_PRODUCT(NAME, ADDED)                                                    \
    inline Tensor& Tensor::ADDED##_(const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha) \
        const {                                                                                  \
        const auto wanted = c10::gradverify_detail::sizes_of_##NAME(a, b, true);                 \
        TORCH_CHECK(sizes() == wanted, "Bad in-place call: input tensor size ", sizes(),         \
                    " and output tensor size ", IntArrayRef(wanted), " should match");           \
        c10::gradverify_detail::multiply(#ADDED "_cuda", *this, a, b, beta, alpha);              \
        return self();                                                                           \
    }                                                                                            \
    inline Tensor Tensor::ADDED(const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha)     \
        const {                                                                                  \
        const auto sizes = c10::gradverify_detail::sizes_of_##NAME(a, b, true);                  \
        return expand(sizes).clone(MemoryFormat::Contiguous).ADDED##_(a, b, beta, alpha);        \
    }                                                                                            \
    inline Tensor Tensor::NAME(const Tensor& b) const {                                          \
        return new_empty(c10::gradverify_detail::sizes_of_##NAME(*this, b, false))               \
            .ADDED##_(*this, b, 0);                                                              \
    }                                                                                            \
    inline Tensor NAME(const Tensor& a, const Tensor& b) { return a.NAME(b); }                   \
    template <class... Scalars>                                                                  \
    Tensor ADDED(const Tensor& self, const Tensor& a, const Tensor& b, Scalars... scalars) {     \
        return self.ADDED(a, b, scalars...);                                                     \
    }
GRADVERIFY_TORCH_PRODUCT(mm, addmm)
GRADVERIFY_TORCH_PRODUCT(bmm, baddbmm)
#undef GRADVERIFY_TORCH_PRODUCT
inline Tensor& mm_out(Tensor& out, const Tensor& a, const Tensor& b) { return out.addmm_(a, b, 0); }
inline Tensor Tensor::matmul(const Tensor& b) const {
    TORCH_CHECK(dim() != 0 && b.dim() != 0,
                "both arguments to matmul need to be at least 1D, but they are ", dim(), "D and ",
                b.dim(), "D");
    TORCH_CHECK(dim() != 2 || b.dim() != 1 || size(1) == b.size(0), "size mismatch, got input (",
                size(0), "), mat (", size(0), "x", size(-1), "), vec (", b.size(0), ")");
    if (dim() == 1) return unsqueeze(0).matmul(b).squeeze(b.dim() == 1 ? 0 : -2);
    if (b.dim() == 1) return matmul(b.unsqueeze(1)).squeeze(-1);
    if (dim() == 2 && b.dim() == 2) return mm(b);
    const auto batch_of = [](const Tensor& t) { return t.sizes().slice(0, t.sizes().size() - 2); };
    std::vector<std::int64_t> sizes =
        c10::gradverify_detail::broadcast(batch_of(*this), batch_of(b));
    const std::int64_t count = Shape(sizes).elements();
    sizes.resize(sizes.size() + 2, -1);
    const Tensor left = expand(sizes), right = b.expand(sizes);
    sizes.end()[-2] = size(-2), sizes.back() = b.size(-1);
    return left.reshape({count, size(-2), size(-1)})
        .bmm(right.reshape({count, b.size(-2), b.size(-1)}))
        .view(sizes);
}
inline Tensor matmul(const Tensor& a, const Tensor& b) { return a.matmul(b); }

}  // namespace at
