// SPDX-License-Identifier: Apache-2.0
// Textures, surfaces and graphs run on cuda only. A file that uses them builds, and its other
// kernels run; a call is an error that names its line.
#pragma once
#pragma GCC system_header

#include "gradverify_simt/each.hpp"
#include "gradverify_simt/runtime_launch.hpp"

using cudaTextureObject_t = unsigned long long;
using cudaSurfaceObject_t = unsigned long long;
struct cudaArray;
using cudaArray_t = cudaArray*;
// clang-format off
enum cudaResourceType {
    cudaResourceTypeArray, cudaResourceTypeMipmappedArray, cudaResourceTypeLinear,
    cudaResourceTypePitch2D,
};
enum cudaChannelFormatKind {
    cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat,
};
// clang-format on
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
// clang-format off
enum cudaTextureAddressMode {
    cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder,
};
// clang-format on
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
// clang-format off
enum cudaStreamCaptureMode {
    cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed,
};
enum cudaStreamCaptureStatus {
    cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive, cudaStreamCaptureStatusInvalidated,
};
// clang-format on
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
GRADVERIFY_SIMT_EACH(GRADVERIFY_SIMT_REFUSED_CALL, ("texture objects"), cudaCreateTextureObject,
                     cudaDestroyTextureObject)
GRADVERIFY_SIMT_EACH(GRADVERIFY_SIMT_REFUSED_CALL, ("surface objects"), cudaCreateSurfaceObject,
                     cudaDestroySurfaceObject)
GRADVERIFY_SIMT_EACH(GRADVERIFY_SIMT_REFUSED_CALL, ("CUDA arrays"), cudaMallocArray, cudaFreeArray,
                     cudaMemcpy2DToArray)
GRADVERIFY_SIMT_EACH(GRADVERIFY_SIMT_REFUSED_CALL, ("graphs"), cudaStreamBeginCapture,
                     cudaStreamEndCapture, cudaGraphCreate, cudaGraphInstantiate, cudaGraphLaunch,
                     cudaGraphDestroy, cudaGraphExecDestroy)
#undef GRADVERIFY_SIMT_REFUSED_CALL

#define GRADVERIFY_SIMT_REFUSED_FETCH(NAME, WHAT)                                               \
    template <class T = void, class... Args>                                                    \
    [[noreturn]] inline T NAME(gradverify::simt::unit::FirstArgument first, const Args&...) {   \
        gradverify::simt::unit::gradverify_simt_trap(801, #NAME ": " WHAT " runs on cuda only", \
                                                     first.file, first.line);                   \
    }
GRADVERIFY_SIMT_EACH(GRADVERIFY_SIMT_REFUSED_FETCH, ("a texture"), tex1Dfetch, tex1D, tex2D,
                     tex2DLayered, tex3D)
GRADVERIFY_SIMT_EACH(GRADVERIFY_SIMT_REFUSED_FETCH, ("a surface"), surf1Dread, surf2Dread,
                     surf2Dwrite)
#undef GRADVERIFY_SIMT_REFUSED_FETCH
