// SPDX-License-Identifier: Apache-2.0
// What runs on cuda only: textures, surfaces, graphs. The types are here so that a file which uses
// them builds, and its other kernels run; a call is an error that names its line.
#pragma once
#pragma GCC system_header

#include "gradverify_simt/runtime_launch.hpp"

using cudaTextureObject_t = unsigned long long;
using cudaSurfaceObject_t = unsigned long long;
struct cudaArray;
using cudaArray_t = cudaArray*;
enum cudaResourceType {
    cudaResourceTypeArray = 0,
    cudaResourceTypeMipmappedArray = 1,
    cudaResourceTypeLinear = 2,
    cudaResourceTypePitch2D = 3,
};
enum cudaChannelFormatKind {
    cudaChannelFormatKindSigned = 0,
    cudaChannelFormatKindUnsigned = 1,
    cudaChannelFormatKindFloat = 2,
};
struct cudaChannelFormatDesc {
    int x, y, z, w;
    cudaChannelFormatKind f;
};
struct cudaResourceDesc {
    cudaResourceType resType;
    union {
        struct {
            cudaArray_t array;
        } array;
        struct {
            void* devPtr;
            cudaChannelFormatDesc desc;
            std::size_t sizeInBytes;
        } linear;
        struct {
            void* devPtr;
            cudaChannelFormatDesc desc;
            std::size_t width, height, pitchInBytes;
        } pitch2D;
    } res;
};
enum cudaTextureAddressMode {
    cudaAddressModeWrap = 0,
    cudaAddressModeClamp = 1,
    cudaAddressModeMirror = 2,
    cudaAddressModeBorder = 3,
};
enum cudaTextureFilterMode { cudaFilterModePoint = 0, cudaFilterModeLinear = 1 };
enum cudaTextureReadMode { cudaReadModeElementType = 0, cudaReadModeNormalizedFloat = 1 };
struct cudaTextureDesc {
    cudaTextureAddressMode addressMode[3];
    cudaTextureFilterMode filterMode;
    cudaTextureReadMode readMode;
    int sRGB;
    float borderColor[4];
    int normalizedCoords;
};
struct cudaResourceViewDesc;
template <class T>
inline cudaChannelFormatDesc cudaCreateChannelDesc() {
    return {};
}
inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   cudaChannelFormatKind f) {
    return {x, y, z, w, f};
}

struct CUgraph_st;
struct CUgraphExec_st;
struct CUgraphNode_st;
using cudaGraph_t = CUgraph_st*;
using cudaGraphExec_t = CUgraphExec_st*;
using cudaGraphNode_t = CUgraphNode_st*;
enum cudaStreamCaptureMode {
    cudaStreamCaptureModeGlobal = 0,
    cudaStreamCaptureModeThreadLocal = 1,
    cudaStreamCaptureModeRelaxed = 2,
};
enum cudaStreamCaptureStatus {
    cudaStreamCaptureStatusNone = 0,
    cudaStreamCaptureStatusActive = 1,
    cudaStreamCaptureStatusInvalidated = 2,
};
inline cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
    *status = cudaStreamCaptureStatusNone;
    return cudaSuccess;
}

// The place comes last, behind all that the user may write.
#define GRADVERIFY_SIMT_REFUSED_CALL(NAME, WHAT, ...)                                             \
    inline cudaError_t NAME(__VA_ARGS__ __VA_OPT__(, ) GRADVERIFY_SIMT_PLACE) {                   \
        return gradverify_simt_refuse(cudaErrorNotSupported, #NAME ": " WHAT " run on cuda only", \
                                      file, line);                                                \
    }
GRADVERIFY_SIMT_REFUSED_CALL(cudaCreateTextureObject, "texture objects", cudaTextureObject_t*,
                             const cudaResourceDesc*, const cudaTextureDesc*,
                             const cudaResourceViewDesc*)
GRADVERIFY_SIMT_REFUSED_CALL(cudaDestroyTextureObject, "texture objects", cudaTextureObject_t)
GRADVERIFY_SIMT_REFUSED_CALL(cudaCreateSurfaceObject, "surface objects", cudaSurfaceObject_t*,
                             const cudaResourceDesc*)
GRADVERIFY_SIMT_REFUSED_CALL(cudaDestroySurfaceObject, "surface objects", cudaSurfaceObject_t)
GRADVERIFY_SIMT_REFUSED_CALL(cudaMallocArray, "CUDA arrays", cudaArray_t*,
                             const cudaChannelFormatDesc*, std::size_t, std::size_t = 0,
                             unsigned = 0)
GRADVERIFY_SIMT_REFUSED_CALL(cudaFreeArray, "CUDA arrays", cudaArray_t)
GRADVERIFY_SIMT_REFUSED_CALL(cudaMemcpy2DToArray, "CUDA arrays", cudaArray_t, std::size_t,
                             std::size_t, const void*, std::size_t, std::size_t, std::size_t,
                             cudaMemcpyKind)
GRADVERIFY_SIMT_REFUSED_CALL(cudaStreamBeginCapture, "graphs", cudaStream_t, cudaStreamCaptureMode)
GRADVERIFY_SIMT_REFUSED_CALL(cudaStreamEndCapture, "graphs", cudaStream_t, cudaGraph_t*)
GRADVERIFY_SIMT_REFUSED_CALL(cudaGraphCreate, "graphs", cudaGraph_t*, unsigned)
GRADVERIFY_SIMT_REFUSED_CALL(cudaGraphInstantiate, "graphs", cudaGraphExec_t*, cudaGraph_t,
                             unsigned long long = 0)
GRADVERIFY_SIMT_REFUSED_CALL(cudaGraphInstantiate, "graphs", cudaGraphExec_t*, cudaGraph_t,
                             cudaGraphNode_t*, char*, std::size_t)
GRADVERIFY_SIMT_REFUSED_CALL(cudaGraphLaunch, "graphs", cudaGraphExec_t, cudaStream_t)
GRADVERIFY_SIMT_REFUSED_CALL(cudaGraphDestroy, "graphs", cudaGraph_t)
GRADVERIFY_SIMT_REFUSED_CALL(cudaGraphExecDestroy, "graphs", cudaGraphExec_t)
#undef GRADVERIFY_SIMT_REFUSED_CALL

#define GRADVERIFY_SIMT_REFUSED_FETCH(NAME, WHAT, ...)                                          \
    template <class T>                                                                          \
    [[noreturn]] inline T NAME(__VA_ARGS__, GRADVERIFY_SIMT_PLACE) {                            \
        gradverify::simt::unit::gradverify_simt_trap(801, #NAME ": " WHAT " runs on cuda only", \
                                                     file, line);                               \
    }
GRADVERIFY_SIMT_REFUSED_FETCH(tex1Dfetch, "a texture", cudaTextureObject_t, int)
GRADVERIFY_SIMT_REFUSED_FETCH(tex1D, "a texture", cudaTextureObject_t, float)
GRADVERIFY_SIMT_REFUSED_FETCH(tex2D, "a texture", cudaTextureObject_t, float, float)
GRADVERIFY_SIMT_REFUSED_FETCH(tex2DLayered, "a texture", cudaTextureObject_t, float, float, int)
GRADVERIFY_SIMT_REFUSED_FETCH(tex3D, "a texture", cudaTextureObject_t, float, float, float)
GRADVERIFY_SIMT_REFUSED_FETCH(surf1Dread, "a surface", cudaSurfaceObject_t, int)
GRADVERIFY_SIMT_REFUSED_FETCH(surf2Dread, "a surface", cudaSurfaceObject_t, int, int)
#undef GRADVERIFY_SIMT_REFUSED_FETCH
template <class T>
[[noreturn]] inline void surf2Dwrite(T, cudaSurfaceObject_t, int, int, GRADVERIFY_SIMT_PLACE) {
    gradverify::simt::unit::gradverify_simt_trap(801, "surf2Dwrite: a surface runs on cuda only",
                                                 file, line);
}
