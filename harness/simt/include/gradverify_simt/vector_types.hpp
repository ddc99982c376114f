// SPDX-License-Identifier: Apache-2.0
// CUDA's vector types (float4, uint3, dim3 ...), with its alignments, and their make_ functions.
#pragma once
#pragma GCC system_header

// Alignment is the size, but at most 16 bytes.
#define GRADVERIFY_SIMT_VECTORS(NAME, T, ALIGNMENT2, ALIGNMENT4)                  \
    struct NAME##1 { T x; };                                                      \
    struct alignas(ALIGNMENT2) NAME##2 { T x, y; };                               \
    struct NAME##3 { T x, y, z; };                                                \
    struct alignas(ALIGNMENT4) NAME##4 { T x, y, z, w; };                         \
    constexpr NAME##1 make_##NAME##1(T x) { return NAME##1 {x}; }                 \
    constexpr NAME##2 make_##NAME##2(T x, T y) { return NAME##2 {x, y}; }         \
    constexpr NAME##3 make_##NAME##3(T x, T y, T z) { return NAME##3 {x, y, z}; } \
    constexpr NAME##4 make_##NAME##4(T x, T y, T z, T w) { return NAME##4 {x, y, z, w}; }
GRADVERIFY_SIMT_VECTORS(char, signed char, 2, 4)
GRADVERIFY_SIMT_VECTORS(uchar, unsigned char, 2, 4)
GRADVERIFY_SIMT_VECTORS(short, short, 4, 8)
GRADVERIFY_SIMT_VECTORS(ushort, unsigned short, 4, 8)
GRADVERIFY_SIMT_VECTORS(int, int, 8, 16)
GRADVERIFY_SIMT_VECTORS(uint, unsigned int, 8, 16)
GRADVERIFY_SIMT_VECTORS(long, long, 16, 16)
GRADVERIFY_SIMT_VECTORS(ulong, unsigned long, 16, 16)
GRADVERIFY_SIMT_VECTORS(longlong, long long, 16, 16)
GRADVERIFY_SIMT_VECTORS(ulonglong, unsigned long long, 16, 16)
GRADVERIFY_SIMT_VECTORS(float, float, 8, 16)
GRADVERIFY_SIMT_VECTORS(double, double, 16, 16)

#undef GRADVERIFY_SIMT_VECTORS

struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
        : x(vx), y(vy), z(vz) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return uint3{x, y, z}; }
};
