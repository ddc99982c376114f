// SPDX-License-Identifier: Apache-2.0
// Accessors: elements of a tensor by index, in launchers and, packed, in kernels.
#pragma once
#pragma GCC system_header

#include <cstddef>
#include <cstdint>

#include "gradverify_simt/forced.hpp"

namespace at {

template <class T>
struct DefaultPtrTraits {
    using PtrType = T*;
};
template <class T>
struct RestrictPtrTraits {
    using PtrType = T* __restrict__;
};

/// Points to sizes and strides that live elsewhere.
template <class T, std::size_t rank, template <class> class Traits = DefaultPtrTraits,
          class Index = std::int64_t>
class TensorAccessor {
  public:
    using PtrType = typename Traits<T>::PtrType;
    TensorAccessor(PtrType data, const Index* sizes, const Index* strides)
        : data_(data), sizes_(sizes), strides_(strides) {}
    Index size(Index axis) const { return sizes_[axis]; }
    Index stride(Index axis) const { return strides_[axis]; }
    PtrType data() const { return data_; }
    decltype(auto) operator[](Index i) const {
        if constexpr (rank == 1) {
            return (data_[i * strides_[0]]);
        } else {
            return TensorAccessor<T, rank - 1, Traits, Index>(data_ + i * strides_[0], sizes_ + 1,
                                                              strides_ + 1);
        }
    }

  private:
    PtrType data_;
    const Index *sizes_, *strides_;
};

/// Holds sizes and strides, so that a launch can take it by value.
template <class T, std::size_t rank, template <class> class Traits = DefaultPtrTraits,
          class Index = std::int64_t>
class GenericPackedTensorAccessor {
  public:
    using PtrType = typename Traits<T>::PtrType;
    GenericPackedTensorAccessor(PtrType data, const std::int64_t* sizes,
                                const std::int64_t* strides)
        : data_(data) {
        for (std::size_t axis = 0; axis < rank; ++axis) {
            sizes_[axis] = static_cast<Index>(sizes[axis]);
            strides_[axis] = static_cast<Index>(strides[axis]);
        }
    }
    Index size(Index axis) const { return sizes_[axis]; }
    Index stride(Index axis) const { return strides_[axis]; }
    PtrType data() const { return data_; }
    decltype(auto) operator[](Index i) const {
        return TensorAccessor<T, rank, Traits, Index>(data_, sizes_, strides_)[i];
    }

  private:
    PtrType data_;
    Index sizes_[rank], strides_[rank];
};
template <class T, std::size_t rank, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, rank, Traits, std::int32_t>;
template <class T, std::size_t rank, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, rank, Traits, std::int64_t>;
template <class T, std::size_t rank, template <class> class Traits = DefaultPtrTraits,
          class Index = std::int64_t>
using PackedTensorAccessor = GenericPackedTensorAccessor<T, rank, Traits, Index>;

}  // namespace at
