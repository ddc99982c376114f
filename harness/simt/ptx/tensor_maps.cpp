// SPDX-License-Identifier: Apache-2.0
// The driver's functions that make tensor maps, with the checks of their arguments that the driver
// API documents (CUDA driver API, tensor map object management).
#include "harness/simt/ptx/tensor_maps.hpp"

#include <algorithm>
#include <cstring>

#include "gradverify_simt/ptx/tensor.hpp"
#include "gradverify_simt/runtime_types.hpp"
#include "harness/simt/execute/executor.hpp"
#include "harness/simt/execute/watcher.hpp"
#include "harness/simt/runtime/buffers.hpp"
#include "harness/simt/runtime/host_memory.hpp"
#include "harness/simt/runtime/mapping.hpp"
#include "harness/simt/runtime/streams.hpp"

namespace gradverify::simt {
namespace {

constexpr unsigned rank_maximum = 5;

bool is_float(CUtensorMapDataType type) {
    return type == CU_TENSOR_MAP_DATA_TYPE_FLOAT16 || type == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 ||
           type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32 || type == CU_TENSOR_MAP_DATA_TYPE_FLOAT64 ||
           type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
}

/// What both kinds of maps are given.
struct EncodedTensor {
    CUtensorMapDataType type;
    cuuint32_t rank;
    void* address;
    const cuuint64_t *dimensions, *strides;
    const cuuint32_t* element_strides;
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapFloatOOBfill fill;
};

CUresult refuse(const char* what) {
    Executor::of_this_thread().fail(
        cudaErrorNotSupported, std::string("a tensor map with ") + what + " runs on cuda only");
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult why_refused(const EncodedTensor& of) {
    if (of.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) return refuse("an interleaved layout");
    if (of.swizzle > CU_TENSOR_MAP_SWIZZLE_128B) return refuse("a swizzle of larger atoms");
    if (of.type > CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ) return refuse("packed elements");
    if (of.type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ ||
        of.type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ)
        return refuse("elements that are flushed to zero");
    return CUDA_SUCCESS;
}

bool has_valid_shape(const EncodedTensor& of) {
    if (of.rank == 0 || of.rank > rank_maximum || number(of.address) % 16 != 0 ||
        of.dimensions == nullptr || of.element_strides == nullptr ||
        (of.rank > 1 && of.strides == nullptr))
        return false;
    for (unsigned i = 0; i < of.rank; ++i) {
        if (of.dimensions[i] == 0 || of.dimensions[i] > std::uint64_t{1} << 32) return false;
        if (of.element_strides[i] == 0 || of.element_strides[i] > 8) return false;
        if (i + 1 < of.rank && (of.strides[i] % 16 != 0 || of.strides[i] >= std::uint64_t{1} << 40))
            return false;
    }
    return of.fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE || is_float(of.type);
}

TensorMap map_of(const EncodedTensor& of) {
    TensorMap map;
    map.mark = TensorMap::valid_mark;
    map.type = static_cast<std::uint8_t>(of.type);
    map.rank = static_cast<std::uint8_t>(of.rank);
    map.swizzle = static_cast<std::uint8_t>(of.swizzle);
    map.fills_with_nan = of.fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
    map.address = number(of.address);
    for (unsigned i = 0; i < of.rank; ++i) {
        map.last[i] = static_cast<std::uint32_t>(of.dimensions[i] - 1);
        // The first is ignored without an interleaved layout.
        map.element_strides[i] = static_cast<std::uint8_t>(i == 0 ? 1 : of.element_strides[i]);
        if (i + 1 < of.rank) map.strides[i] = of.strides[i];
    }
    return map;
}

/// Whether a row of shared memory may be this long.
bool has_valid_rows(const TensorMap& map) {
    const std::uint32_t bytes = map.box[0] * map.element_bytes();
    return map.box[0] > 0 && map.box[0] <= 256 && bytes % 16 == 0 &&
           (map.swizzle == 0 || bytes <= map.swizzle_bytes());
}

CUresult put(CUtensorMap* to, const TensorMap& map) {
    *to = {};
    std::memcpy(to, &map, sizeof map);
    if (is_lent(number(to), number(to) + sizeof map) ||
        find_device_memory(number(to), number(to) + 1).bytes > 0)
        OfCall<Streams>()->write_on_host("a tensor map that is encoded", to, sizeof *to);
    return CUDA_SUCCESS;
}

bool is_map(const CUtensorMap* map) { return map != nullptr && number(map) % 64 == 0; }

}  // namespace

const TensorElement& TensorMap::element() const {
    using enum ptx::BulkType;
    static constexpr TensorElement of_type[] = {// in the order of CUtensorMapDataType
                                                {1, {}},  {2, {}},  {4, u32}, {4, s32}, {8, u64},
                                                {8, s64}, {2, f16}, {4, f32}, {8, f64}, {2, bf16},
                                                {4, f32}, {4, f32}, {4, f32}};
    return of_type[type];
}

std::optional<TensorMap> TensorMap::read(const void* map) {
    TensorMap read;
    std::memcpy(&read, map, sizeof read);
    if (read.mark != valid_mark) return std::nullopt;
    return read;
}

extern "C" {

CUresult cuTensorMapEncodeTiled(CUtensorMap* to, CUtensorMapDataType type, cuuint32_t rank,
                                void* address, const cuuint64_t* dimensions,
                                const cuuint64_t* strides, const cuuint32_t* box,
                                const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                                CUtensorMapFloatOOBfill fill) {
    const EncodedTensor tensor{type,       rank,    address, dimensions, strides, element_strides,
                               interleave, swizzle, fill};
    if (const CUresult refused = why_refused(tensor); refused != CUDA_SUCCESS) return refused;
    if (!is_map(to) || box == nullptr || !has_valid_shape(tensor)) return CUDA_ERROR_INVALID_VALUE;
    TensorMap map = map_of(tensor);
    for (unsigned i = 0; i < rank; ++i) {
        if (box[i] == 0 || box[i] > 256) return CUDA_ERROR_INVALID_VALUE;
        map.box[i] = static_cast<std::uint16_t>(box[i]);
    }
    return has_valid_rows(map) ? put(to, map) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap* to, CUtensorMapDataType type, cuuint32_t rank,
                                 void* address, const cuuint64_t* dimensions,
                                 const cuuint64_t* strides, const int* lower_corner,
                                 const int* upper_corner, cuuint32_t channels, cuuint32_t pixels,
                                 const cuuint32_t* element_strides,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
    const EncodedTensor tensor{type,       rank,    address, dimensions, strides, element_strides,
                               interleave, swizzle, fill};
    if (const CUresult refused = why_refused(tensor); refused != CUDA_SUCCESS) return refused;
    if (!is_map(to) || rank < 3 || lower_corner == nullptr || upper_corner == nullptr ||
        !has_valid_shape(tensor) || channels > 256 || pixels == 0 || pixels > 1024)
        return CUDA_ERROR_INVALID_VALUE;
    TensorMap map = map_of(tensor);
    map.is_im2col = true;
    map.box[0] = static_cast<std::uint16_t>(channels);
    map.box[1] = static_cast<std::uint16_t>(pixels);
    // [-32768, 32767], [-128, 127] or [-16, 15], the more dimensions there are.
    const int reach = rank == 3 ? 32768 : rank == 4 ? 128 : 16;
    for (unsigned i = 0; i + 2 < rank; ++i) {
        for (const int corner : {lower_corner[i], upper_corner[i]})
            if (corner < -reach || corner >= reach) return CUDA_ERROR_INVALID_VALUE;
        if (std::int64_t{map.last[i + 1]} + upper_corner[i] < lower_corner[i])
            return CUDA_ERROR_INVALID_VALUE;
        map.lower_corner[i] = static_cast<std::int16_t>(lower_corner[i]);
        map.upper_corner[i] = static_cast<std::int16_t>(upper_corner[i]);
    }
    return has_valid_rows(map) ? put(to, map) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* to, void* address) {
    if (!is_map(to) || number(address) % 16 != 0) return CUDA_ERROR_INVALID_VALUE;
    std::optional<TensorMap> map = TensorMap::read(to);
    if (!map) return CUDA_ERROR_INVALID_VALUE;
    map->address = number(address);
    return put(to, *map);
}

}  // extern "C"

namespace {

/// False where the value is none of the field's.
bool set(TensorMap& map, ptx::TensorMapField field, std::uint32_t index, std::uint64_t value) {
    using enum ptx::TensorMapField;
    switch (field) {
        case global_address:
            map.address = value;
            return value % 16 == 0;
        case rank:  // one less
            map.rank = static_cast<std::uint8_t>(value + 1);
            return value < rank_maximum;
        case box_dim:
            map.box[index] = static_cast<std::uint16_t>(value);
            return value > 0 && value <= 256;
        case global_dim:
            map.last[index] = static_cast<std::uint32_t>(value - 1);
            return value > 0;
        case global_stride:
            if (index < rank_maximum - 1) map.strides[index] = value;
            return index < rank_maximum - 1 && value % 16 == 0;
        case element_stride:
            if (index > 0) map.element_strides[index] = static_cast<std::uint8_t>(value);
            return value > 0 && value <= 8;
        case swizzle_mode:
            map.swizzle = static_cast<std::uint8_t>(value);
            return value <= CU_TENSOR_MAP_SWIZZLE_128B;
    }
    return false;
}

}  // namespace

namespace ptx {
extern "C" void gradverify_simt_tensor_map_replace(void* at, TensorMapField field,
                                                   std::uint32_t index, std::uint64_t value,
                                                   const char* file, int line) {
    std::optional<TensorMap> map = TensorMap::read(at);
    if (!map || index >= rank_maximum || !set(*map, field, index, value))
        Executor::of_this_thread().trap(
            cudaErrorIllegalInstruction,
            {map ? "tensormap.replace of a value that its field can't have"
                 : "tensormap.replace in what is no tensor map"},
            {file, line});
    if (watching != nullptr)
        watching->access({.address = number(at),
                          .bytes = sizeof *map,
                          .pc = __builtin_return_address(0),
                          .reads = false,
                          .writes = true});
    std::memcpy(at, &*map, sizeof *map);
}
}  // namespace ptx

}  // namespace gradverify::simt
