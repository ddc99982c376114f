// SPDX-License-Identifier: Apache-2.0
// What ATen/TensorUtils.h checks of a launcher's arguments, in PyTorch's words. Undefined tensors
// pass the checks of several.
#pragma once
#pragma GCC system_header

#include "gradverify_torch/tensor.hpp"

namespace at {

using CheckedFrom = const char*;
/// A tensor, its name, and which argument it is from 1 on; 0 stands for `self`.
struct TensorArg {
    const Tensor& tensor;
    const char* name;
    int pos;
    TensorArg(const Tensor& tensor, const char* name, int pos)
        : tensor(tensor), name(name), pos(pos) {}
    const Tensor* operator->() const { return &tensor; }
    const Tensor& operator*() const { return tensor; }
    friend std::ostream& operator<<(std::ostream& out, const TensorArg& t) {
        return out << (t.pos == 0 ? "" : c10::str("argument #", t.pos, " ")) << "'" << t.name
                   << "'";
    }
};
using TensorGeometryArg = TensorArg;

// checkNAME(from, t, PARAMETERS), and checkAllNAME of several.
#define GRADVERIFY_TORCH_CHECKS(NAME, PARAMETERS, CONDITION, ...)                                  \
    inline void check##NAME(CheckedFrom c, const TensorArg& t GRADVERIFY_SIMT_OPENED PARAMETERS) { \
        TORCH_CHECK(CONDITION, __VA_ARGS__, " (while checking arguments for ", c, ")");            \
    }
#define GRADVERIFY_TORCH_CHECKS_ALL(NAME, APPLIES)                           \
    inline void checkAll##NAME(CheckedFrom c, ArrayRef<TensorArg> tensors) { \
        for (const TensorArg& t : tensors)                                   \
            if (APPLIES) check##NAME(c, t);                                  \
    }
#define GRADVERIFY_TORCH_CHECKS_SAME(NAME, BEFORE, OF, WHAT)                                      \
    GRADVERIFY_TORCH_CHECKS(Same##NAME, (, const TensorArg& other), t->OF() == other->OF(),       \
                            "Expected tensor for ", t, " to have " WHAT " as tensor for ", other, \
                            "; but " BEFORE, t->OF(), " does not equal ", other->OF())            \
    GRADVERIFY_TORCH_CHECKS_ALL_SAME(NAME)
#define GRADVERIFY_TORCH_CHECKS_ALL_SAME(NAME)                                   \
    inline void checkAllSame##NAME(CheckedFrom c, ArrayRef<TensorArg> tensors) { \
        const TensorArg* first = nullptr;                                        \
        for (const TensorArg& t : tensors) {                                     \
            if (first != nullptr && t->defined()) checkSame##NAME(c, *first, t); \
            if (first == nullptr && t->defined()) first = &t;                    \
        }                                                                        \
    }
GRADVERIFY_TORCH_CHECKS(Defined, (), t->defined(), "Expected tensor for ", t,
                        " to be non-null, but it was undefined ")
GRADVERIFY_TORCH_CHECKS_ALL(Defined, true)
GRADVERIFY_TORCH_CHECKS(Contiguous, (), t->is_contiguous(),
                        "Expected contiguous tensor, but got non-contiguous tensor for ", t)
GRADVERIFY_TORCH_CHECKS_ALL(Contiguous, t->defined())
GRADVERIFY_TORCH_CHECKS(Dim, (, std::int64_t dim), t->dim() == dim, "Expected ", dim,
                        "-dimensional tensor, but got ", t->dim(), "-dimensional tensor for ", t)
GRADVERIFY_TORCH_CHECKS(Size, (, std::int64_t dim, std::int64_t size), t->size(dim) == size,
                        "Expected tensor to have size ", size, " at dimension ", dim,
                        ", but got size ", t->size(dim), " for ", t)
GRADVERIFY_TORCH_CHECKS(Size, (, IntArrayRef sizes),
                        (checkDim(c, t, std::int64_t(sizes.size())), t->sizes() == sizes),
                        "Expected tensor of size ", sizes, ", but got tensor of size ", t->sizes(),
                        " for ", t)
GRADVERIFY_TORCH_CHECKS(ScalarType, (, ScalarType type), t->scalar_type() == type,
                        "Expected tensor for ", t, " to have scalar type ", type, "; but got ",
                        t->toString(), " instead")
GRADVERIFY_TORCH_CHECKS(ScalarTypes, (, ArrayRef<ScalarType> types),
                        std::count(types.begin(), types.end(), t->scalar_type()) > 0,
                        "Expected tensor for ", t, " to have one of the following scalar types: ",
                        c10::str(types).substr(1, c10::str(types).size() - 2), "; but got ",
                        t->toString(), " instead")
GRADVERIFY_TORCH_CHECKS_SAME(Size, "", sizes, "same size")
GRADVERIFY_TORCH_CHECKS_SAME(Type, "type ", toString, "the same type")
GRADVERIFY_TORCH_CHECKS(SameGPU, (, const TensorArg& other), t->is_cuda() && other->is_cuda(),
                        t->is_cpu() ? c10::str("Tensor for ", t, " is on CPU, ") : "",
                        other->is_cpu() ? c10::str("Tensor for ", other, " is on CPU, ") : "",
                        "but expected it to be on GPU")
GRADVERIFY_TORCH_CHECKS_ALL_SAME(GPU)

}  // namespace at
