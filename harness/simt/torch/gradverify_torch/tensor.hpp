// SPDX-License-Identifier: Apache-2.0
// at::Tensor over the CPU device's memory: what launchers of kernels ask of one, and views. Sums
// and the like are in tensor_math.hpp; autograd has no part in it. What else PyTorch's class has is
// declared, and says so when it is called.
#pragma once
#pragma GCC system_header

#include <memory>
#include <optional>
#include <vector>

#include "gradverify_simt/cuda_only.hpp"
#include "gradverify_torch/accessors.hpp"
#include "gradverify_torch/indexing.hpp"
#include "gradverify_torch/shape.hpp"

#define GRADVERIFY_TORCH_REFUSED(SCOPE, RETURN, ...) \
    GRADVERIFY_SIMT_CUDA_ONLY("PyTorch", SCOPE, RETURN, __VA_ARGS__)
#define GRADVERIFY_TORCH_REFUSED_PLAIN(NAME, RETURN)                         \
    [[noreturn]] RETURN NAME(GRADVERIFY_SIMT_PLACE) const {                  \
        GRADVERIFY_SIMT_REFUSE("PyTorch", "at::Tensor::" #NAME, file, line); \
    }

namespace at {

class Tensor {
    using Shape = c10::gradverify_detail::Shape;
    struct Impl {
        std::shared_ptr<void> memory;  ///< none where the caller owns it
        char* data;
        Shape shape;
        ScalarType type;
        Device device;
    };

  public:
    Tensor() = default;
    /// Over memory that `memory` keeps, or that somebody else does.
    Tensor(std::shared_ptr<void> memory, void* data, const Shape& shape, ScalarType type,
           Device device)
        : impl_(std::make_shared<Impl>(
              Impl{std::move(memory), static_cast<char*>(data), shape, type, device})) {}
    static Tensor gradverify_make(const Shape& shape, const TensorOptions& options);
    Tensor(const Tensor&) = default;
    Tensor(Tensor&&) = default;
    Tensor& operator=(const Tensor&) & = default;
    Tensor& operator=(Tensor&&) & = default;
    /// What a call returned, as `x[1]` is, gets the elements.
    Tensor& operator=(const Tensor& from) && { return copy_(from); }
    Tensor& operator=(Scalar value) && { return fill_(value); }

    bool defined() const { return impl_ != nullptr; }
    bool is_same(const Tensor& other) const { return impl_ == other.impl_; }
    /// What is the same for each handle of one tensor.
    auto* unsafeGetTensorImpl() const { return impl_.get(); }
    void reset() { impl_.reset(); }
    std::int64_t dim() const { return shape().rank; }
    std::int64_t ndimension() const { return dim(); }
    std::int64_t numel() const { return shape().elements(); }
    IntArrayRef sizes() const { return shape().size_list(); }
    IntArrayRef strides() const { return shape().stride_list(); }
    std::int64_t size(std::int64_t axis) const { return shape().sizes[axis_of(axis)]; }
    std::int64_t stride(std::int64_t axis) const { return shape().strides[axis_of(axis)]; }
    ScalarType scalar_type() const { return impl().type; }
    caffe2::TypeMeta dtype() const { return {scalar_type()}; }
    std::size_t element_size() const { return elementSize(scalar_type()); }
    std::size_t itemsize() const { return element_size(); }
    std::size_t nbytes() const { return static_cast<std::size_t>(numel()) * element_size(); }
    Device device() const { return impl().device; }
    DeviceIndex get_device() const { return device().index(); }
    bool is_cuda() const { return device().is_cuda(); }
    bool is_cpu() const { return device().is_cpu(); }
    Layout layout() const { return kStrided; }
    TensorOptions options() const { return TensorOptions(device()).dtype(scalar_type()); }
    bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const {
        return shape().is_contiguous(is_channels_last(format));
    }
    MemoryFormat suggest_memory_format() const {
        const bool last =
            dim() == 4 && !is_contiguous() && is_contiguous(MemoryFormat::ChannelsLast);
        return last ? MemoryFormat::ChannelsLast : MemoryFormat::Contiguous;
    }
    /// In elements, of memory that is PyTorch's own.
    std::int64_t storage_offset() const {
        if (impl().memory == nullptr) return 0;
        return (impl().data - static_cast<const char*>(impl().memory.get())) /
               static_cast<std::int64_t>(element_size());
    }
    bool is_non_overlapping_and_dense() const { return shape().like().is_dense_as(shape()); }
    bool is_floating_point() const { return isFloatingType(scalar_type()); }
    bool is_complex() const { return isComplexType(scalar_type()); }
    bool is_sparse() const { return false; }
    bool requires_grad() const { return false; }
    /// The type as old launchers ask for it.
    struct Type {
        ScalarType scalar;
        bool of_cuda;
        operator ScalarType() const { return scalar; }
        ScalarType scalarType() const { return scalar; }
        bool is_cuda() const { return of_cuda; }
        std::string toString() const {
            return std::string(of_cuda ? "CUDA" : "CPU") + at::toString(scalar) + "Type";
        }
    };
    Type type() const { return {scalar_type(), is_cuda()}; }
    std::string toString() const { return type().toString(); }

    void* data_ptr() const { return impl().data; }
    void* mutable_data_ptr() const { return impl().data; }
    const void* const_data_ptr() const { return impl().data; }
    /// **Errors** c10::Error when T is not the type of the elements.
    template <class T>
    T* data_ptr() const {
        constexpr ScalarType wanted = CppTypeToScalarType<std::remove_const_t<T>>::value;
        TORCH_CHECK(scalar_type() == wanted, "expected scalar type ", wanted, " but found ",
                    scalar_type());
        return static_cast<T*>(data_ptr());
    }
    template <class T>
    T* mutable_data_ptr() const {
        return data_ptr<T>();
    }
    template <class T>
    const T* const_data_ptr() const {
        return data_ptr<const T>();
    }
    template <class T>
    T* data() const {
        return data_ptr<T>();
    }

    template <class T, std::size_t rank>
    TensorAccessor<T, rank> accessor() const {
        check_rank(rank);
        return {data_ptr<T>(), shape().sizes, shape().strides};
    }
    template <class T, std::size_t rank, template <class> class Traits = DefaultPtrTraits,
              class Index = std::int64_t>
    GenericPackedTensorAccessor<T, rank, Traits, Index> generic_packed_accessor() const {
        check_rank(rank);
        return {data_ptr<T>(), shape().sizes, shape().strides};
    }
    template <class T, std::size_t rank, template <class> class Traits = DefaultPtrTraits>
    PackedTensorAccessor32<T, rank, Traits> packed_accessor32() const {
        TORCH_CHECK(numel() <= INT32_MAX, "numel needs to be smaller than int32_t max");
        return generic_packed_accessor<T, rank, Traits, std::int32_t>();
    }
    template <class T, std::size_t rank, template <class> class Traits = DefaultPtrTraits>
    PackedTensorAccessor64<T, rank, Traits> packed_accessor64() const {
        return generic_packed_accessor<T, rank, Traits, std::int64_t>();
    }
    template <class T, std::size_t rank, template <class> class Traits = DefaultPtrTraits,
              class Index = std::int64_t>
    GenericPackedTensorAccessor<T, rank, Traits, Index> packed_accessor() const {
        return generic_packed_accessor<T, rank, Traits, Index>();
    }

    // Views, which share the memory (views.hpp).
    Tensor as_strided(IntArrayRef sizes, IntArrayRef strides, std::int64_t offset = 0) const;
    Tensor view(IntArrayRef sizes) const;
    Tensor view(ScalarType type) const;
    Tensor view_as(const Tensor& other) const { return view(other.sizes()); }
    Tensor transpose(std::int64_t a, std::int64_t b) const;
    Tensor permute(IntArrayRef axes) const;
    Tensor t() const { return dim() < 2 ? *this : transpose(0, 1); }
    Tensor select(std::int64_t axis, std::int64_t index) const;
    Tensor narrow(std::int64_t axis, std::int64_t start, std::int64_t length) const;
    Tensor slice(std::int64_t axis = 0, std::optional<std::int64_t> start = {},
                 std::optional<std::int64_t> end = {}, std::int64_t step = 1) const;
    Tensor unsqueeze(std::int64_t axis) const;
    Tensor squeeze(std::int64_t axis) const;
    Tensor squeeze() const;
    Tensor expand(IntArrayRef sizes) const;
    Tensor expand_as(const Tensor& other) const { return expand(other.sizes()); }
    Tensor flatten(std::int64_t first = 0, std::int64_t last = -1) const;
    Tensor operator[](std::int64_t index) const { return select(0, index); }
    Tensor& transpose_(std::int64_t a, std::int64_t b) const { return seen_as(transpose(a, b)); }
    Tensor& unsqueeze_(std::int64_t axis) const { return seen_as(unsqueeze(axis)); }
    Tensor& squeeze_(std::int64_t axis) const { return seen_as(squeeze(axis)); }
    Tensor detach() const { return *this; }
    Tensor variable_data() const { return *this; }

    // What copies and computes (tensor_math.hpp), on the current stream.
    Tensor reshape(IntArrayRef sizes) const;
    Tensor contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;
    Tensor clone(std::optional<MemoryFormat> format = {}) const;
    Tensor to(const TensorOptions& options, bool non_blocking = false, bool copy = false) const;
    Tensor to(Device device, ScalarType type, bool non_blocking = false, bool copy = false) const {
        return to(TensorOptions(device).dtype(type), non_blocking, copy);
    }
    Tensor toType(ScalarType type) const { return to(type); }
    Tensor type_as(const Tensor& other) const { return to(other.options()); }
    Tensor cuda() const { return to(Device(kCUDA, 0)); }
    Tensor cpu() const { return to(Device(kCPU)); }
    Tensor& copy_(const Tensor& from, bool non_blocking = false) const;
    Tensor& zero_() const;
    Tensor& fill_(Scalar value) const;
    template <class T>
    T item() const;
    Scalar item() const;
    /// The memory is freed behind what the stream has been given by then.
    template <class Stream>
    void record_stream(const Stream& stream) const {
        if (auto* free = std::get_deleter<c10::gradverify_detail::FreeInOrder>(impl().memory))
            free->recorded.push_back(stream);
    }
    bool is_pinned() const;
    /// On the host, for copies beside it.
    Tensor pin_memory() const;
    Tensor index(std::initializer_list<indexing::TensorIndex> indices) const;
    Tensor sum(std::optional<ScalarType> type = {}) const {
        return sum(IntArrayRef(), false, type);
    }
    Tensor sum(IntArrayRef axes, bool keepdim = false, std::optional<ScalarType> type = {}) const;
#define GRADVERIFY_TORCH_ARITHMETIC(NAME)       \
    Tensor NAME(const Tensor& other) const;     \
    Tensor NAME(Scalar other) const;            \
    Tensor& NAME##_(const Tensor& other) const; \
    Tensor& NAME##_(Scalar other) const;
    GRADVERIFY_TORCH_ARITHMETIC(add)
    GRADVERIFY_TORCH_ARITHMETIC(sub)
    GRADVERIFY_TORCH_ARITHMETIC(mul)
    GRADVERIFY_TORCH_ARITHMETIC(div)
#undef GRADVERIFY_TORCH_ARITHMETIC
    Tensor matmul(const Tensor& b) const;
#define GRADVERIFY_TORCH_PRODUCT(NAME, ADDED)                                                \
    Tensor NAME(const Tensor& b) const;                                                      \
    Tensor ADDED(const Tensor& a, const Tensor& b, Scalar beta = 1, Scalar alpha = 1) const; \
    Tensor& ADDED##_(const Tensor& a, const Tensor& b, Scalar beta = 1, Scalar alpha = 1) const;
    GRADVERIFY_TORCH_PRODUCT(mm, addmm)
    GRADVERIFY_TORCH_PRODUCT(bmm, baddbmm)
#undef GRADVERIFY_TORCH_PRODUCT
    Tensor neg() const { return mul(-1); }
    Tensor operator-() const { return neg(); }
#define GRADVERIFY_TORCH_OPERATOR(OP, NAME)                                           \
    friend Tensor operator OP(const Tensor& a, const Tensor& b) { return a.NAME(b); } \
    friend Tensor operator OP(const Tensor& a, Scalar b) { return a.NAME(b); }        \
    Tensor& operator OP##=(const Tensor & b) { return NAME##_(b); }                   \
    Tensor& operator OP##=(Scalar b) { return NAME##_(b); }
    GRADVERIFY_TORCH_OPERATOR(+, add)
    GRADVERIFY_TORCH_OPERATOR(-, sub)
    GRADVERIFY_TORCH_OPERATOR(*, mul)
    GRADVERIFY_TORCH_OPERATOR(/, div)
#undef GRADVERIFY_TORCH_OPERATOR
    friend Tensor operator+(Scalar a, const Tensor& b) { return b.add(a); }
    friend Tensor operator*(Scalar a, const Tensor& b) { return b.mul(a); }
    friend Tensor operator-(Scalar a, const Tensor& b) {
        return b.beside(a).sub(b).to(b.type_beside(a, false));
    }
    friend Tensor operator/(Scalar a, const Tensor& b) {
        return b.beside(a).div(b).to(b.type_beside(a, true));
    }

    Tensor new_empty(IntArrayRef sizes, const TensorOptions& options = {}) const {
        return made(sizes, options);
    }
    Tensor new_zeros(IntArrayRef sizes, const TensorOptions& options = {}) const {
        return made(sizes, options).zero_();
    }
    Tensor new_ones(IntArrayRef sizes, const TensorOptions& options = {}) const {
        return made(sizes, options).fill_(1);
    }
    Tensor new_full(IntArrayRef sizes, Scalar value, const TensorOptions& options = {}) const {
        return made(sizes, options).fill_(value);
    }

    // Static, for constant tensors too.
    GRADVERIFY_TORCH_REFUSED("at::Tensor::", static Tensor, all, amax, amin, any, argmax,
                             bitwise_and, chunk, clamp, clamp_, cumsum, eq, ge, gather, gt,
                             index_put_, index_select, le, lt, masked_fill, masked_fill_, max, mean,
                             min, mv, ne, norm, pow, prod, register_hook, repeat, resize_, scatter_,
                             scatter_add_, set_, softmax, sort, split, topk, unbind, var, where)
    GRADVERIFY_SIMT_EACH(GRADVERIFY_TORCH_REFUSED_PLAIN, (Tensor), abs, exp, log, max, mean, min,
                         nonzero, reciprocal, rsqrt, sigmoid, sqrt)

    const Shape& gradverify_shape() const { return shape(); }
    Tensor gradverify_as(const Shape& shape, ScalarType type) const {
        return Tensor(impl().memory, impl().data, shape, type, device());
    }
    static bool is_channels_last(MemoryFormat format) {
        return format == MemoryFormat::ChannelsLast || format == MemoryFormat::ChannelsLast3d;
    }

  private:
    const Impl& impl() const {
        TORCH_CHECK(defined(), "the tensor is undefined");
        return *impl_;
    }
    const Shape& shape() const { return impl().shape; }
    int axis_of(std::int64_t axis) const {
        return c10::gradverify_detail::axis_of(axis, shape().rank);
    }
    void check_rank(std::size_t rank) const {
        TORCH_CHECK(std::int64_t(rank) == dim(), "TensorAccessor expected ", rank,
                    " dims but tensor has ", dim());
    }
    /// The same memory, from an element on, seen otherwise.
    Tensor viewed(const Shape& shape, std::int64_t first = 0) const {
        return Tensor(impl().memory,
                      impl().data + first * static_cast<std::int64_t>(element_size()), shape,
                      scalar_type(), device());
    }
    Tensor made(IntArrayRef sizes, const TensorOptions& options) const {
        return gradverify_make(Shape(sizes), options.or_else(this->options()));
    }
    /// A number as a tensor without axes; arithmetic with it is in double.
    Tensor beside(Scalar number) const {
        return made({}, options().dtype(number.isIntegral(false) ? kLong : kDouble)).fill_(number);
    }
    /// The type of what is computed of this tensor and a number.
    ScalarType type_beside(Scalar number, bool divides) const {
        const bool is_whole = number.isIntegral(false) && !divides;
        return is_whole || !isIntegralType(scalar_type(), true) ? scalar_type() : kFloat;
    }
    /// Each handle of the tensor sees it so.
    Tensor& seen_as(const Tensor& view) const {
        impl_->shape = view.shape();
        return self();
    }
    Tensor& self() const { return const_cast<Tensor&>(*this); }

    std::shared_ptr<Impl> impl_;
};
using TensorBase = Tensor;
using TensorList = ArrayRef<Tensor>;

}  // namespace at
