// SPDX-License-Identifier: Apache-2.0
// Tensor copies: boxes of each rank, type and swizzle that lie inside of their tensor, partly or
// wholly outside, as the operands say; their model counts elements one by one.
#include "harness/simt/include/gradverify_simt/narrow_float.hpp"
#include "harness/simt/tests/ptx/conformance/blocks.hpp"
#include "harness/simt/tests/tensor_maps.hpp"

namespace conformance {
namespace {

using Type = CUtensorMapDataType;
constexpr Type type_u8 = CU_TENSOR_MAP_DATA_TYPE_UINT8, type_u16 = CU_TENSOR_MAP_DATA_TYPE_UINT16,
               type_u32 = CU_TENSOR_MAP_DATA_TYPE_UINT32, type_s32 = CU_TENSOR_MAP_DATA_TYPE_INT32,
               type_u64 = CU_TENSOR_MAP_DATA_TYPE_UINT64, type_s64 = CU_TENSOR_MAP_DATA_TYPE_INT64,
               type_f16 = CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
               type_f32 = CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
               type_f64 = CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
               type_bf16 = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
__host__ __device__ constexpr int size_of(Type type) {
    return type == type_u8                                             ? 1
           : type == type_u16 || type == type_f16 || type == type_bf16 ? 2
           : type == type_u64 || type == type_s64 || type == type_f64  ? 8
                                                                       : 4;
}

/// How a tensor of a block's bytes is copied.
struct Kind {
    int rank;
    Type type = type_f32;
    int swizzle = 0;     ///< 1, 2, 3: 32, 64, 128 bytes
    int row_bytes = 48;  ///< of a box
    int step = 1;        ///< in the second dimension
    bool fills_with_nan = false;
    bool is_im2col = false;
    int corner = -1;  ///< pixels lie from here to as much before the end
};
// Rows end within 16 bytes, all of which a store writes; the tensor has gaps between them.
constexpr int tensor_row_bytes = 72, tensor_row_stride = 80;
__host__ __device__ constexpr int tensor_size(int dimension) {
    return dimension == 1 ? 4 : dimension == 2 ? 3 : 2;
}
__host__ __device__ constexpr int box_size(int dimension) { return dimension == 1 ? 3 : 2; }
constexpr int pixel_count = 10;

/// Where a box begins, and by how much its pixels are moved.
struct Place {
    int at[5], offset[3];
};
__host__ __device__ inline Place place_of(const Kind& kind, u64 pick, bool loads) {
    Place place{};
    const int least = loads ? -4 : 0;
    place.at[0] = (static_cast<int>(pick % 11) + least) * 16 / size_of(kind.type);
    for (int i = 1; i < kind.rank; ++i) {
        pick = mixed(pick + 1);
        const int size = tensor_size(i);
        place.at[i] = static_cast<int>(pick % u64(size + 4)) + (loads ? -2 : 0);
        // Pixels begin within their bounds, images within the batch, and no store below 0.
        if (kind.is_im2col)
            place.at[i] =
                static_cast<int>(pick % u64(size)) + (i + 1 < kind.rank ? kind.corner : 0);
        if (i < 4 && loads) place.offset[i - 1] = static_cast<int>(mixed(pick) % 4);
    }
    return place;
}
__host__ __device__ inline int row_count(const Kind& kind) {
    if (kind.is_im2col) return pixel_count;
    int rows = 1;
    for (int i = 1; i < kind.rank; ++i)
        rows *= i == 1 ? (box_size(i) + kind.step - 1) / kind.step : box_size(i);
    return rows;
}

/// Elements of the box as they lie in shared memory: `visit(shared byte, tensor byte or -1)`.
template <class Visit>
void each_element(const Kind& kind, const Place& place, bool loads, Visit visit) {
    const int row_end = loads ? tensor_row_bytes : (tensor_row_bytes + 15) / 16 * 16;
    const int size = size_of(kind.type), pitch = kind.row_bytes;
    for (int row = 0; row < row_count(kind); ++row) {
        int at[5] = {}, rest = row;
        if (kind.is_im2col) {
            // Number of the pixel within its bounds, of all images.
            int number = 0, width = 1;
            for (int i = 1; i + 1 < kind.rank; ++i) {
                number += (place.at[i] - kind.corner) * width;
                width *= tensor_size(i);
            }
            rest = number + row + place.at[kind.rank - 1] * width;
            for (int i = 1; i + 1 < kind.rank; rest /= tensor_size(i++))
                at[i] = rest % tensor_size(i) + kind.corner + place.offset[i - 1];
            at[kind.rank - 1] = rest;
        } else {
            for (int i = 1; i < kind.rank; ++i) {
                const int step = i == 1 ? kind.step : 1, count = (box_size(i) + step - 1) / step;
                at[i] = place.at[i] + rest % count * step;
                rest /= count;
            }
        }
        for (int k = 0; k < kind.row_bytes / size; ++k) {
            at[0] = place.at[0] + k;
            bool is_inside = at[0] >= 0 && at[0] < row_end / size;
            int stride = tensor_row_stride, byte = at[0] * size;
            for (int i = 1; i < kind.rank; stride *= tensor_size(i++)) {
                is_inside = is_inside && at[i] >= 0 && at[i] < tensor_size(i);
                byte += at[i] * stride;
            }
            int shared = row * pitch + k * size;
            shared ^= shared / 128 % (1 << kind.swizzle) * 16;
            visit(shared, is_inside ? byte : -1);
        }
    }
}

/// Elements outside that are NaN.
constexpr u64 nan_fill = 0x7ff77ff77ff77ff7;

template <class K>
struct LoadedBox {
    static constexpr bool in_shared = true;
    static void run(ModelBlock& block) {
        const u64 fill = K::kind.fills_with_nan ? nan_fill : 0;
        const auto size = static_cast<std::size_t>(size_of(K::kind.type));
        each_element(K::kind, place_of(K::kind, block.pick, true), true,
                     [&](int shared, int tensor) {
                         if (tensor < 0)
                             std::memcpy(block.shared + shared, &fill, size);
                         else
                             std::memcpy(block.shared + shared, block.global + tensor, size);
                     });
    }
};
/// Which bits of random words make the numbers that a copy meets.
struct AnyBits {
    static constexpr u64 keep = ~0ull, set = 0;
};
struct HalvesFromOneOn {
    static constexpr u64 keep = 0x83ff83ff83ff83ff, set = 0x3c003c003c003c00;
};
struct Bfloats16FromOneOn {
    static constexpr u64 keep = 0x807f807f807f807f, set = 0x3f803f803f803f80;
};
struct FloatsFromOneOn {
    static constexpr u64 keep = 0x807fffff807fffff, set = 0x3f8000003f800000;
};
struct DoublesFromOneOn {
    static constexpr u64 keep = 0x800fffffffffffff, set = 0x3ff0000000000000;
};
template <class Bits>
__host__ __device__ void make_numbers(void* memory, u32 first, u32 step) {
    for (u32 i = first; i < block_bytes / 8; i += step) {
        u64& word = static_cast<u64*>(memory)[i];
        word = (word & Bits::keep) | Bits::set;
    }
}
struct Stored : AnyBits {
    static u64 of(u64, u64 from) { return from; }
};
template <class K, class Operation>
struct StoredBox {
    static constexpr bool in_shared = false;
    static void run(ModelBlock& block) {
        const auto size = static_cast<std::size_t>(size_of(K::kind.type));
        make_numbers<Operation>(block.global, 0, 1);
        make_numbers<Operation>(block.shared, 0, 1);
        each_element(K::kind, place_of(K::kind, block.pick, false), false,
                     [&](int shared, int tensor) {
                         if (tensor < 0) return;
                         u64 to = 0, from = 0;
                         std::memcpy(&to, block.global + tensor, size);
                         std::memcpy(&from, block.shared + shared, size);
                         to = Operation::of(to, from);
                         std::memcpy(block.global + tensor, &to, size);
                     });
    }
};

template <class K>
struct MapsOf {
    static std::vector<CUtensorMap> maps(u64* global, std::size_t blocks) {
        constexpr Kind kind = K::kind;
        Shape shape;
        Pixels pixels;
        pixels.channels = static_cast<cuuint32_t>(kind.row_bytes / size_of(kind.type));
        pixels.count = pixel_count;
        for (int i = 0; i < kind.rank; ++i) {
            shape.size.push_back(
                cuuint64_t(i == 0 ? tensor_row_bytes / size_of(kind.type) : tensor_size(i)));
            shape.box.push_back(i == 0 ? pixels.channels : cuuint32_t(box_size(i)));
            shape.steps.push_back(i == 1 ? kind.step : 1);
            if (i == 0 || i + 1 == kind.rank) continue;
            pixels.lower.push_back(kind.corner);
            pixels.upper.push_back(kind.corner);
        }
        shape.row_bytes = tensor_row_stride;
        std::vector<CUtensorMap> maps(blocks);
        const auto swizzle = static_cast<CUtensorMapSwizzle>(kind.swizzle);
        for (std::size_t i = 0; i < blocks; ++i) {
            auto* const bytes = reinterpret_cast<unsigned char*>(global) + i * block_bytes;
            const CUresult result =
                kind.is_im2col
                    ? encode_columns(maps[i], bytes, kind.type, shape, pixels, swizzle,
                                     kind.fills_with_nan)
                    : encode(maps[i], bytes, kind.type, shape, swizzle, kind.fills_with_nan);
            if (result != CUDA_SUCCESS) throw std::runtime_error("a tensor map is refused");
        }
        return maps;
    }
};

__device__ void prepare(const Block& block, u32 bytes) {
    if (block.lane == 0)
        PTX_90(
            "mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster; "
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1; "
            "fence.proxy.tensormap::generic.acquire.gpu [%2], 128;" ::"r"(
                shared_address(block.mbarriers)),
            "r"(bytes), "l"(block.map) : "memory");
    PTX_90("fence.proxy.async;" :: : "memory");
    __syncwarp();
}

// clang-format off
#define AT_1 "{%3}"
#define AT_2 "{%3, %4}"
#define AT_3 "{%3, %4, %5}"
#define AT_4 "{%3, %4, %5, %6}"
#define AT_5 "{%3, %4, %5, %6, %7}"
#define MOVED_3 ", {%8}"
#define MOVED_4 ", {%8, %9}"
#define MOVED_5 ", {%8, %9, %10}"
// A form's kind is what its last arguments say.
#define KIND(N, ...) struct FORM_NAME(Kind, N) { static constexpr Kind kind = {__VA_ARGS__}; };
#define ADD_TENSOR_FORM(N, TEXT, MODEL) \
    ADD_FORM(N, TEXT, "lll", 64, (&run_blocks<FORM_NAME(Form, N), MapsOf<FORM_NAME(Kind, N)>>), nullptr, sm_90, (&want_of_blocks<FORM_TYPE MODEL>))
#define LOAD_OF(...) LOAD_NUMBERED(__COUNTER__, __VA_ARGS__)
#define LOAD_NUMBERED(N, TEXT, WHAT, COORDINATES, END, ...) \
    KIND(N, __VA_ARGS__) \
    BODY(N, constexpr Kind kind = FORM_NAME(Kind, N)::kind; \
         prepare(block, u32(row_count(kind) * kind.row_bytes)); \
         const Place place = place_of(kind, pick, true); \
         if (lane == 0) PTX_90(TEXT " [%0], [%1, " COORDINATES "], [%2]" END ";" \
             ::"r"(shared_address(block.shared)), "l"(block.map), "r"(shared_address(block.mbarriers)), "r"(place.at[0]), "r"(place.at[1]), \
               "r"(place.at[2]), "r"(place.at[3]), "r"(place.at[4]), "h"(u16(place.offset[0])), "h"(u16(place.offset[1])), \
               "h"(u16(place.offset[2])), "l"(0x14f0000000000000ull) : "memory"); \
         return has_ended(block.mbarriers, 0) ? block.seen(true) : 0;) \
    ADD_TENSOR_FORM(N, TEXT WHAT, (LoadedBox<FORM_NAME(Kind, N)>))
#define LOAD(RANK, TYPE, WHAT, ...) \
    LOAD_OF("cp.async.bulk.tensor." #RANK "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes", " " #TYPE WHAT, AT_##RANK, "", RANK, type_##TYPE, __VA_ARGS__)
#define LOAD_TYPE(TYPE, RANK) LOAD(RANK, TYPE, "", 0)
#define LOAD_NAN(TYPE, RANK) LOAD(RANK, TYPE, " nan", 0, 48, 1, true)
EACH(LOAD, (f32, "", 0), 1, 2, 3, 4, 5)
LOAD_TYPE(u8, 1)
EACH(LOAD_TYPE, (2), u8, u16, u32, s32, u64, s64, f16, bf16, f64)
EACH(LOAD_NAN, (2), f16, bf16, f64)
LOAD_NAN(f32, 3)
LOAD(2, bf16, " 32B", 1, 32)
LOAD(2, bf16, " 64B", 2, 64)
LOAD(2, bf16, " 128B", 3, 128)
LOAD(3, u8, " 32B", 1, 32)
LOAD(3, f32, " 64B", 2, 64)
LOAD(3, f64, " 128B", 3, 128)
LOAD(5, f32, " 32B nan", 1, 32, 1, true)
LOAD(2, f32, " 32B", 1, 32)
LOAD(2, f32, " 64B nan", 2, 64, 1, true)
LOAD(2, f32, " 128B nan", 3, 128, 1, true)
LOAD(2, f32, " step 2 128B", 3, 128, 2)
LOAD(2, f32, " step 2", 0, 48, 2)
LOAD(3, f16, " step 2 128B", 3, 128, 2)
LOAD(4, u8, " step 3", 0, 48, 3)
LOAD_OF("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes", " f32", AT_2, "", 2)
LOAD_OF("cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes", " f32", AT_3, "", 3)
LOAD_OF("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint", " f32", AT_2, ", %11", 2)
#define IM2COL(RANK, TYPE, WHAT, SWIZZLE, ROW_BYTES, FILLS_WITH_NAN) \
    LOAD_OF("cp.async.bulk.tensor." #RANK "d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes", " " #TYPE WHAT, AT_##RANK, MOVED_##RANK, \
            RANK, type_##TYPE, SWIZZLE, ROW_BYTES, 1, FILLS_WITH_NAN, true)
EACH(IM2COL, (f32, "", 0, 48, false), 3, 4, 5)
IM2COL(4, u8, "", 0, 48, false)
IM2COL(4, f16, " 64B", 2, 64, false)
IM2COL(5, f64, " 128B nan", 3, 128, true)
LOAD_OF("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.L2::cache_hint", " bf16 32B", AT_4, MOVED_4 ", %11", 4, type_bf16, 1, 32, 1, false, true)

#define PREFETCH(...) PREFETCH_NUMBERED(__COUNTER__, __VA_ARGS__)
#define PREFETCH_NUMBERED(N, TEXT, COORDINATES, END, ...) \
    KIND(N, __VA_ARGS__) \
    BODY(N, constexpr Kind kind = FORM_NAME(Kind, N)::kind; \
         prepare(block, 0); \
         const Place place = place_of(kind, pick, true); \
         if (lane == 0) PTX_90(TEXT " [%0, " COORDINATES "]" END ";" \
             ::"l"(block.map), "l"(0x14f0000000000000ull), "r"(0), "r"(place.at[0]), "r"(place.at[1]), "r"(place.at[2]), "r"(place.at[3]), \
               "r"(place.at[4]), "h"(u16(place.offset[0])), "h"(u16(place.offset[1])), "h"(u16(place.offset[2])) : "memory"); \
         return block.seen(false);) \
    ADD_TENSOR_FORM(N, TEXT, (NoChange))
PREFETCH("cp.async.bulk.prefetch.tensor.1d.L2.global.tile", AT_1, "", 1)
PREFETCH("cp.async.bulk.prefetch.tensor.2d.L2.global.tile", AT_2, "", 2)
PREFETCH("cp.async.bulk.prefetch.tensor.5d.L2.global.tile.L2::cache_hint", AT_5, ", %1", 5)
PREFETCH("cp.async.bulk.prefetch.tensor.4d.L2.global.im2col", AT_4, MOVED_4, 4, type_f32, 0, 48, 1, false, true)

// %2 is no operand of a store.
#define STORE_OF(...) STORE_NUMBERED(__COUNTER__, __VA_ARGS__)
#define STORE_NUMBERED(N, TEXT, WHAT, MODEL, COORDINATES, END, ...) \
    using FORM_NAME(Model, N) = FORM_TYPE MODEL; \
    KIND(N, __VA_ARGS__) \
    BODY(N, constexpr Kind kind = FORM_NAME(Kind, N)::kind; \
         make_numbers<FORM_NAME(Model, N)>(block.global, lane, 32); \
         make_numbers<FORM_NAME(Model, N)>(block.shared, lane, 32); \
         __threadfence(); \
         prepare(block, 0); \
         const Place place = place_of(kind, pick, false); \
         if (lane == 0) PTX_90(TEXT " [%0, " COORDINATES "], [%1]" END "; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" \
             ::"l"(block.map), "r"(shared_address(block.shared)), "l"(0x14f0000000000000ull), "r"(place.at[0]), "r"(place.at[1]), \
               "r"(place.at[2]), "r"(place.at[3]), "r"(place.at[4]) : "memory"); \
         return block.seen(false);) \
    ADD_TENSOR_FORM(N, TEXT WHAT, (StoredBox<FORM_NAME(Kind, N), FORM_NAME(Model, N)>))
#define TENSOR_STORE(RANK, TYPE, WHAT, ...) \
    STORE_OF("cp.async.bulk.tensor." #RANK "d.global.shared::cta.tile.bulk_group", " " #TYPE WHAT, (Stored), AT_##RANK, "", RANK, type_##TYPE, __VA_ARGS__)
EACH(TENSOR_STORE, (f32, "", 0), 1, 2, 3, 4, 5)
TENSOR_STORE(2, u8, "", 0)
TENSOR_STORE(2, u16, "", 0)
TENSOR_STORE(2, f64, "", 0)
TENSOR_STORE(2, bf16, " 32B", 1, 32)
TENSOR_STORE(2, f16, " 64B", 2, 64)
TENSOR_STORE(3, f16, "", 0)
TENSOR_STORE(3, f32, " 128B", 3, 128)
TENSOR_STORE(2, f32, " step 2", 0, 48, 2)
STORE_OF("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group", " f32", (Stored), AT_2, "", 2)
STORE_OF("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint", " f32", (Stored), AT_2, ", %2", 2)
#define STORE_COLUMNS(RANK, TYPE, WHAT, SWIZZLE, ROW_BYTES) \
    STORE_OF("cp.async.bulk.tensor." #RANK "d.global.shared::cta.im2col_no_offs.bulk_group", " " #TYPE WHAT, (Stored), AT_##RANK, "", RANK, type_##TYPE, SWIZZLE, ROW_BYTES, 1, false, true, 0)
EACH(STORE_COLUMNS, (f32, "", 0, 48), 3, 4)
STORE_COLUMNS(5, bf16, " 32B", 1, 32)

// Operations on elements of a type T; Numbers says which there are.
#define OPERATION(NAME, ...) \
    template <class T, class Numbers = AnyBits> struct NAME : Numbers { \
        static u64 of(u64 to, u64 from) { \
            T x, y; \
            std::memcpy(&x, &to, sizeof x); \
            std::memcpy(&y, &from, sizeof y); \
            const T result = __VA_ARGS__; \
            u64 bits = 0; \
            std::memcpy(&bits, &result, sizeof result); \
            return bits; \
        } \
    };
OPERATION(Add, T(x + y))
OPERATION(Least, x < y ? x : y)
OPERATION(Greatest, x < y ? y : x)
OPERATION(Increment, x >= y ? T(0) : T(x + 1))
OPERATION(Decrement, x == 0 || x > y ? y : T(x - 1))
OPERATION(And, T(x & y))
OPERATION(Or, T(x | y))
OPERATION(Xor, T(x ^ y))
/// A half float: a sum in float rounds once more without an effect.
template <class Format>
struct Narrow {
    u16 bits;
    operator float() const { return Format::to_float(bits); }
    Narrow() = default;
    explicit Narrow(float value) : bits(Format::from_float(value)) {}
};
using Half = Narrow<gradverify::simt::unit::HalfFormat>;
using Bfloat16 = Narrow<gradverify::simt::unit::Bfloat16Format>;
#define REDUCE(RANK, TYPE, WHAT, OPERATION, MODEL, ...) \
    STORE_OF("cp.reduce.async.bulk.tensor." #RANK "d.global.shared::cta." OPERATION ".tile.bulk_group", " " #TYPE WHAT, MODEL, AT_##RANK, "", RANK, type_##TYPE, __VA_ARGS__)
#define REDUCE_TYPE(TYPE, OPERATION, MODEL) REDUCE(2, TYPE, "", OPERATION, (MODEL<TYPE>), 0)
EACH(REDUCE, (u32, "", "add", (Add<u32>), 0), 1, 2)
REDUCE(3, s32, "", "add", (Add<s32>), 0)
REDUCE(4, u64, "", "add", (Add<u64>), 0)
REDUCE(5, u32, " 32B", "add", (Add<u32>), 1, 32)
EACH(REDUCE_TYPE, ("min", Least), u32, s32, u64, s64)
EACH(REDUCE_TYPE, ("max", Greatest), u32, s32, u64, s64)
REDUCE_TYPE(u32, "inc", Increment)
REDUCE_TYPE(u32, "dec", Decrement)
EACH(REDUCE_TYPE, ("and", And), u32, u64)
EACH(REDUCE_TYPE, ("or", Or), u32, u64)
REDUCE(3, u32, " 128B", "xor", (Xor<u32>), 3, 128)
REDUCE_TYPE(u64, "xor", Xor)
REDUCE(2, f32, "", "add", (Add<float, FloatsFromOneOn>), 0)
REDUCE(2, f64, "", "add", (Add<double, DoublesFromOneOn>), 0)
#define REDUCE_NARROW(TYPE, T, NUMBERS) \
    REDUCE(2, TYPE, "", "add", (Add<T, NUMBERS>), 0) REDUCE(2, TYPE, "", "min", (Least<T, NUMBERS>), 0) REDUCE(2, TYPE, "", "max", (Greatest<T, NUMBERS>), 0)
REDUCE(3, f16, "", "add", (Add<Half, HalvesFromOneOn>), 0)
REDUCE_NARROW(f16, Half, HalvesFromOneOn)
REDUCE_NARROW(bf16, Bfloat16, Bfloats16FromOneOn)
// clang-format on

}  // namespace
}  // namespace conformance
