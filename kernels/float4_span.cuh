// SPDX-License-Identifier: Apache-2.0
// Decides which elements of some tensors of one length can be read and written as float4: those
// from the first aligned address on, if the tensors are aligned alike, without what is left at the
// end.
#pragma once

#include <cstdint>
#include <initializer_list>

/// Elements of a tensor of floats: `head` single ones, `vectors` of four, and single ones.
struct Float4Span {
    long long head, vectors, elements;

    long long items() const { return head + vectors + (elements - head - 4 * vectors); }
    /// Whether an item is a vector, and the element that it is or begins at.
    __host__ __device__ bool is_vector(long long item) const {
        return item >= head && item < head + vectors;
    }
    __host__ __device__ long long element(long long item) const {
        if (item < head) return item;
        return item < head + vectors ? head + 4 * (item - head) : item + 3 * vectors;
    }
};

inline Float4Span float4_span(std::initializer_list<const void*> tensors, long long elements) {
    const auto misaligned = [](const void* tensor) {
        return static_cast<long long>(reinterpret_cast<std::uintptr_t>(tensor) % sizeof(float4) /
                                      sizeof(float));
    };
    for (const void* tensor : tensors)
        if (misaligned(tensor) != misaligned(*tensors.begin())) return {elements, 0, elements};
    const long long head = (4 - misaligned(*tensors.begin())) % 4;
    if (head >= elements) return {elements, 0, elements};
    return {head, (elements - head) / 4, elements};
}
