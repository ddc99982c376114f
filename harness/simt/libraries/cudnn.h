// SPDX-License-Identifier: Apache-2.0
// Declares cuDNN's functions of before its graphs, which run on cuda only.
#pragma once
#pragma GCC system_header

#include "gradverify_simt/cuda_only.hpp"
#include "library_types.h"

#define CUDNN_MAJOR 9
#define CUDNN_MINOR 0
#define CUDNN_PATCHLEVEL 0
#define CUDNN_VERSION (CUDNN_MAJOR * 10000 + CUDNN_MINOR * 100 + CUDNN_PATCHLEVEL)
#define CUDNN_DIM_MAX 8
#define CUDNN_BN_MIN_EPSILON 0.0

struct cudnnContext {};
using cudnnHandle_t = cudnnContext*;

// clang-format off
enum cudnnStatus_t { CUDNN_STATUS_SUCCESS = 0, CUDNN_STATUS_NOT_INITIALIZED = 1001,
    CUDNN_STATUS_BAD_PARAM = 2000, CUDNN_STATUS_NOT_SUPPORTED = 3000,
    CUDNN_STATUS_INTERNAL_ERROR = 4000, CUDNN_STATUS_EXECUTION_FAILED = 5000 };
enum cudnnDataType_t { CUDNN_DATA_FLOAT = 0, CUDNN_DATA_DOUBLE = 1, CUDNN_DATA_HALF = 2,
    CUDNN_DATA_INT8 = 3, CUDNN_DATA_INT32 = 4, CUDNN_DATA_UINT8 = 6, CUDNN_DATA_BFLOAT16 = 9,
    CUDNN_DATA_INT64 = 10 };
enum cudnnTensorFormat_t { CUDNN_TENSOR_NCHW, CUDNN_TENSOR_NHWC, CUDNN_TENSOR_NCHW_VECT_C };
enum cudnnMathType_t { CUDNN_DEFAULT_MATH, CUDNN_TENSOR_OP_MATH,
    CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION, CUDNN_FMA_MATH };
enum cudnnNanPropagation_t { CUDNN_NOT_PROPAGATE_NAN = 0, CUDNN_PROPAGATE_NAN = 1 };
enum cudnnDeterminism_t { CUDNN_NON_DETERMINISTIC = 0, CUDNN_DETERMINISTIC = 1 };
enum cudnnActivationMode_t { CUDNN_ACTIVATION_SIGMOID, CUDNN_ACTIVATION_RELU, CUDNN_ACTIVATION_TANH,
    CUDNN_ACTIVATION_CLIPPED_RELU, CUDNN_ACTIVATION_ELU, CUDNN_ACTIVATION_IDENTITY,
    CUDNN_ACTIVATION_SWISH };
enum cudnnPoolingMode_t { CUDNN_POOLING_MAX, CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING,
    CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING, CUDNN_POOLING_MAX_DETERMINISTIC };
enum cudnnSoftmaxAlgorithm_t { CUDNN_SOFTMAX_FAST, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_LOG };
enum cudnnSoftmaxMode_t { CUDNN_SOFTMAX_MODE_INSTANCE = 0, CUDNN_SOFTMAX_MODE_CHANNEL = 1 };
enum cudnnBatchNormMode_t { CUDNN_BATCHNORM_PER_ACTIVATION, CUDNN_BATCHNORM_SPATIAL,
    CUDNN_BATCHNORM_SPATIAL_PERSISTENT };
enum cudnnLRNMode_t { CUDNN_LRN_CROSS_CHANNEL_DIM1 = 0 };
enum cudnnOpTensorOp_t { CUDNN_OP_TENSOR_ADD, CUDNN_OP_TENSOR_MUL, CUDNN_OP_TENSOR_MIN,
    CUDNN_OP_TENSOR_MAX, CUDNN_OP_TENSOR_SQRT, CUDNN_OP_TENSOR_NOT };
enum cudnnReduceTensorOp_t { CUDNN_REDUCE_TENSOR_ADD, CUDNN_REDUCE_TENSOR_MUL,
    CUDNN_REDUCE_TENSOR_MIN, CUDNN_REDUCE_TENSOR_MAX, CUDNN_REDUCE_TENSOR_AMAX,
    CUDNN_REDUCE_TENSOR_AVG, CUDNN_REDUCE_TENSOR_NORM1, CUDNN_REDUCE_TENSOR_NORM2 };
enum cudnnReduceTensorIndices_t { CUDNN_REDUCE_TENSOR_NO_INDICES,
    CUDNN_REDUCE_TENSOR_FLATTENED_INDICES };
enum cudnnIndicesType_t { CUDNN_32BIT_INDICES = 0, CUDNN_64BIT_INDICES = 1 };
enum cudnnRNNMode_t { CUDNN_RNN_RELU = 0, CUDNN_RNN_TANH = 1, CUDNN_LSTM = 2, CUDNN_GRU = 3 };
enum cudnnDirectionMode_t { CUDNN_UNIDIRECTIONAL = 0, CUDNN_BIDIRECTIONAL = 1 };
enum cudnnRNNInputMode_t { CUDNN_LINEAR_INPUT = 0, CUDNN_SKIP_INPUT = 1 };
enum cudnnConvolutionMode_t { CUDNN_CONVOLUTION = 0, CUDNN_CROSS_CORRELATION = 1 };
enum cudnnConvolutionFwdAlgo_t { CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM,
    CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, CUDNN_CONVOLUTION_FWD_ALGO_GEMM,
    CUDNN_CONVOLUTION_FWD_ALGO_DIRECT, CUDNN_CONVOLUTION_FWD_ALGO_FFT,
    CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING, CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD,
    CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED, CUDNN_CONVOLUTION_FWD_ALGO_COUNT };
enum cudnnConvolutionBwdFilterAlgo_t { CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0,
    CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT,
    CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD,
    CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED,
    CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT_TILING, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT };
enum cudnnConvolutionBwdDataAlgo_t { CUDNN_CONVOLUTION_BWD_DATA_ALGO_0,
    CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT,
    CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT_TILING, CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD,
    CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED, CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT };
// clang-format on
template <class Algorithm>
struct cudnnAlgoPerf {
    Algorithm algo;
    cudnnStatus_t status;
    float time;
    std::size_t memory;
    cudnnDeterminism_t determinism;
    cudnnMathType_t mathType;
    int reserved[3];
};
using cudnnConvolutionFwdAlgoPerf_t = cudnnAlgoPerf<cudnnConvolutionFwdAlgo_t>;
using cudnnConvolutionBwdFilterAlgoPerf_t = cudnnAlgoPerf<cudnnConvolutionBwdFilterAlgo_t>;
using cudnnConvolutionBwdDataAlgoPerf_t = cudnnAlgoPerf<cudnnConvolutionBwdDataAlgo_t>;

GRADVERIFY_SIMT_HANDLE(cudnn, cudnnStatus_t)
inline cudnnStatus_t cudnnSetStream(cudnnHandle_t, cudaStream_t) { return CUDNN_STATUS_SUCCESS; }
// No call returns with an error.
inline const char* cudnnGetErrorString(cudnnStatus_t) { return "CUDNN_STATUS_SUCCESS"; }
inline std::size_t cudnnGetVersion() { return CUDNN_VERSION; }

// Each descriptor, and what makes and destroys it.
#define GRADVERIFY_SIMT_DESCRIPTOR(NAME, ...)                                                \
    struct cudnn##NAME##Struct;                                                              \
    using cudnn##NAME##Descriptor_t = cudnn##NAME##Struct*;                                  \
    GRADVERIFY_SIMT_CUDA_ONLY_ONE(cudnnCreate##NAME##Descriptor, "cuDNN", "", cudnnStatus_t) \
    GRADVERIFY_SIMT_CUDA_ONLY_ONE(cudnnDestroy##NAME##Descriptor, "cuDNN", "", cudnnStatus_t)
GRADVERIFY_SIMT_EACH(GRADVERIFY_SIMT_DESCRIPTOR, (), Activation, CTCLoss, Convolution, Dropout,
                     Filter, LRN, OpTensor, Pooling, RNN, RNNData, ReduceTensor, SpatialTransformer,
                     Tensor)
#undef GRADVERIFY_SIMT_DESCRIPTOR
// clang-format off
GRADVERIFY_SIMT_CUDA_ONLY("cuDNN", "", cudnnStatus_t,
    cudnnDeriveBNTensorDescriptor, cudnnGetConvolution2dDescriptor,
    cudnnGetConvolution2dForwardOutputDim, cudnnGetConvolutionNdForwardOutputDim,
    cudnnGetFilter4dDescriptor, cudnnGetPooling2dForwardOutputDim, cudnnGetTensor4dDescriptor,
    cudnnGetTensorNdDescriptor, cudnnGetTensorSizeInBytes, cudnnSetActivationDescriptor,
    cudnnSetCTCLossDescriptor, cudnnSetConvolution2dDescriptor, cudnnSetConvolutionGroupCount,
    cudnnSetConvolutionMathType, cudnnSetConvolutionNdDescriptor, cudnnSetDropoutDescriptor,
    cudnnSetFilter4dDescriptor, cudnnSetFilterNdDescriptor, cudnnSetLRNDescriptor,
    cudnnSetOpTensorDescriptor, cudnnSetPooling2dDescriptor, cudnnSetPoolingNdDescriptor,
    cudnnSetRNNDataDescriptor, cudnnSetReduceTensorDescriptor,
    cudnnSetSpatialTransformerNdDescriptor, cudnnSetTensor4dDescriptor,
    cudnnSetTensor4dDescriptorEx, cudnnSetTensorNdDescriptor, cudnnActivationBackward,
    cudnnActivationForward, cudnnAddTensor, cudnnBatchNormalizationBackward,
    cudnnBatchNormalizationForwardInference, cudnnBatchNormalizationForwardTraining, cudnnCTCLoss,
    cudnnConvolutionBackwardBias, cudnnConvolutionBackwardData, cudnnConvolutionBackwardFilter,
    cudnnConvolutionBiasActivationForward, cudnnConvolutionForward, cudnnDropoutBackward,
    cudnnDropoutForward, cudnnDropoutGetReserveSpaceSize, cudnnDropoutGetStatesSize,
    cudnnFindConvolutionBackwardDataAlgorithm, cudnnFindConvolutionBackwardDataAlgorithmEx,
    cudnnFindConvolutionBackwardFilterAlgorithm, cudnnFindConvolutionBackwardFilterAlgorithmEx,
    cudnnFindConvolutionForwardAlgorithm, cudnnFindConvolutionForwardAlgorithmEx,
    cudnnGetCTCLossWorkspaceSize, cudnnGetConvolutionBackwardDataAlgorithm_v7,
    cudnnGetConvolutionBackwardDataWorkspaceSize, cudnnGetConvolutionBackwardFilterAlgorithm_v7,
    cudnnGetConvolutionBackwardFilterWorkspaceSize, cudnnGetConvolutionForwardAlgorithm_v7,
    cudnnGetConvolutionForwardWorkspaceSize, cudnnGetReductionWorkspaceSize,
    cudnnLRNCrossChannelBackward, cudnnLRNCrossChannelForward, cudnnOpTensor, cudnnPoolingBackward,
    cudnnPoolingForward, cudnnRNNForward, cudnnReduceTensor, cudnnScaleTensor, cudnnSetTensor,
    cudnnSoftmaxBackward, cudnnSoftmaxForward, cudnnSpatialTfGridGeneratorBackward,
    cudnnSpatialTfGridGeneratorForward, cudnnSpatialTfSamplerBackward, cudnnSpatialTfSamplerForward,
    cudnnTransformTensor)
// clang-format on
