// SPDX-License-Identifier: Apache-2.0
// Textures, surfaces and graphs run on cuda only. A file that uses them builds, and its other
// kernels run; a call is an error that names its line.
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

namespace gradverify::simt::unit {
/// The first argument of a call, with the place of the call.
struct FirstArgument {
    const char* file;
    int line;
    template <class T>
    FirstArgument(const T&, const char* of_file = __builtin_FILE(), int of_line = __builtin_LINE())
        : file(of_file), line(of_line) {}
};
}  // namespace gradverify::simt::unit

#define GRADVERIFY_SIMT_REFUSED_CALL(NAME, WHAT)                                                  \
    template <class... Args>                                                                      \
    inline cudaError_t NAME(gradverify::simt::unit::FirstArgument first, const Args&...) {        \
        return gradverify_simt_refuse(cudaErrorNotSupported, #NAME ": " WHAT " run on cuda only", \
                                      first.file, first.line);                                    \
    }
GRADVERIFY_SIMT_REFUSED_CALL(cudaCreateTextureObject, "texture objects")
GRADVERIFY_SIMT_REFUSED_CALL(cudaDestroyTextureObject, "texture objects")
GRADVERIFY_SIMT_REFUSED_CALL(cudaCreateSurfaceObject, "surface objects")
GRADVERIFY_SIMT_REFUSED_CALL(cudaDestroySurfaceObject, "surface objects")
GRADVERIFY_SIMT_REFUSED_CALL(cudaMallocArray, "CUDA arrays")
GRADVERIFY_SIMT_REFUSED_CALL(cudaFreeArray, "CUDA arrays")
GRADVERIFY_SIMT_REFUSED_CALL(cudaMemcpy2DToArray, "CUDA arrays")
GRADVERIFY_SIMT_REFUSED_CALL(cudaStreamBeginCapture, "graphs")
GRADVERIFY_SIMT_REFUSED_CALL(cudaStreamEndCapture, "graphs")
GRADVERIFY_SIMT_REFUSED_CALL(cudaGraphCreate, "graphs")
GRADVERIFY_SIMT_REFUSED_CALL(cudaGraphInstantiate, "graphs")
GRADVERIFY_SIMT_REFUSED_CALL(cudaGraphLaunch, "graphs")
GRADVERIFY_SIMT_REFUSED_CALL(cudaGraphDestroy, "graphs")
GRADVERIFY_SIMT_REFUSED_CALL(cudaGraphExecDestroy, "graphs")
#undef GRADVERIFY_SIMT_REFUSED_CALL

#define GRADVERIFY_SIMT_REFUSED_FETCH(NAME, WHAT)                                               \
    template <class T = void, class... Args>                                                    \
    [[noreturn]] inline T NAME(gradverify::simt::unit::FirstArgument first, const Args&...) {   \
        gradverify::simt::unit::gradverify_simt_trap(801, #NAME ": " WHAT " runs on cuda only", \
                                                     first.file, first.line);                   \
    }
GRADVERIFY_SIMT_REFUSED_FETCH(tex1Dfetch, "a texture")
GRADVERIFY_SIMT_REFUSED_FETCH(tex1D, "a texture")
GRADVERIFY_SIMT_REFUSED_FETCH(tex2D, "a texture")
GRADVERIFY_SIMT_REFUSED_FETCH(tex2DLayered, "a texture")
GRADVERIFY_SIMT_REFUSED_FETCH(tex3D, "a texture")
GRADVERIFY_SIMT_REFUSED_FETCH(surf1Dread, "a surface")
GRADVERIFY_SIMT_REFUSED_FETCH(surf2Dread, "a surface")
GRADVERIFY_SIMT_REFUSED_FETCH(surf2Dwrite, "a surface")
#undef GRADVERIFY_SIMT_REFUSED_FETCH
