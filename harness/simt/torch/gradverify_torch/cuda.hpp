// SPDX-License-Identifier: Apache-2.0
// PyTorch's view of the device: its streams, of which the current one is the call's, guards, device
// properties, cuBLAS' handle, generators of Philox, and helpers of kernels.
#pragma once
#pragma GCC system_header

#include <cstdint>
#include <mutex>
#include <optional>
#include <tuple>

#include "cublas_v2.h"
#include "gradverify_torch/options.hpp"

namespace c10::cuda {

class CUDAStream {
  public:
    explicit CUDAStream(cudaStream_t stream) : stream_(stream) {}
    cudaStream_t stream() const { return stream_; }
    operator cudaStream_t() const { return stream_; }
    Device device() const { return {kCUDA, 0}; }
    DeviceIndex device_index() const { return 0; }
    void synchronize() const { C10_CUDA_CHECK(cudaStreamSynchronize(stream_)); }
    bool query() const { return cudaStreamQuery(stream_) == cudaSuccess; }
    friend bool operator==(CUDAStream a, CUDAStream b) { return a.stream_ == b.stream_; }
    friend bool operator!=(CUDAStream a, CUDAStream b) { return !(a == b); }

  private:
    cudaStream_t stream_;
};

inline thread_local cudaStream_t gradverify_current_stream = nullptr;

inline CUDAStream getCurrentCUDAStream(DeviceIndex = -1) {
    return CUDAStream(gradverify_current_stream);
}
inline CUDAStream getDefaultCUDAStream(DeviceIndex = -1) { return CUDAStream(nullptr); }
inline CUDAStream getStreamFromExternal(cudaStream_t stream, DeviceIndex) {
    return CUDAStream(stream);
}
/// PyTorch's pool has 32 streams, which it hands out by turns.
inline CUDAStream getStreamFromPool(bool = false, DeviceIndex = -1) {
    thread_local cudaStream_t streams[32] = {};
    thread_local unsigned next = 0;
    cudaStream_t& stream = streams[next++ % 32];
    if (stream == nullptr)
        C10_CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return CUDAStream(stream);
}
inline void setCurrentCUDAStream(CUDAStream stream) { gradverify_current_stream = stream; }

inline DeviceIndex current_device() { return 0; }
inline DeviceIndex device_count() { return 1; }
inline void set_device(DeviceIndex) {}
inline void device_synchronize() { C10_CUDA_CHECK(cudaDeviceSynchronize()); }
inline void stream_synchronize(cudaStream_t stream) {
    C10_CUDA_CHECK(cudaStreamSynchronize(stream));
}

// There is one device, so a guard of the device has nothing to do.
struct CUDAGuard {
    explicit CUDAGuard(DeviceIndex) {}
    explicit CUDAGuard(Device) {}
    void set_device(Device) {}
    void set_index(DeviceIndex) {}
};
struct OptionalCUDAGuard {
    OptionalCUDAGuard() = default;
    explicit OptionalCUDAGuard(std::optional<Device>) {}
    explicit OptionalCUDAGuard(DeviceIndex) {}
    void set_device(Device) {}
    void set_index(DeviceIndex) {}
};
/// Made when it is first recorded, as PyTorch's.
class CUDAEvent {
  public:
    explicit CUDAEvent(unsigned flags = cudaEventDisableTiming) : flags_(flags) {}
    ~CUDAEvent() {
        if (event_ != nullptr) (void)cudaEventDestroy(event_);
    }
    CUDAEvent(const CUDAEvent&) = delete;
    CUDAEvent& operator=(const CUDAEvent&) = delete;
    cudaEvent_t event() const { return event_; }
    operator cudaEvent_t() const { return event_; }
    bool isCreated() const { return event_ != nullptr; }
    void record(CUDAStream stream = getCurrentCUDAStream()) {
        if (event_ == nullptr) C10_CUDA_CHECK(cudaEventCreateWithFlags(&event_, flags_));
        C10_CUDA_CHECK(cudaEventRecord(event_, stream));
    }
    void recordOnce(CUDAStream stream) {
        if (event_ == nullptr) record(stream);
    }
    void block(CUDAStream stream) {
        if (event_ != nullptr) C10_CUDA_CHECK(cudaStreamWaitEvent(stream, event_, 0));
    }
    bool query() const { return event_ == nullptr || cudaEventQuery(event_) == cudaSuccess; }
    void synchronize() const {
        if (event_ != nullptr) C10_CUDA_CHECK(cudaEventSynchronize(event_));
    }
    float elapsed_time(const CUDAEvent& end) const {
        float milliseconds = 0;
        C10_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, event_, end.event_));
        return milliseconds;
    }

  private:
    unsigned flags_;
    cudaEvent_t event_ = nullptr;
};
class CUDAStreamGuard {
  public:
    explicit CUDAStreamGuard(CUDAStream stream) : before_(gradverify_current_stream) {
        gradverify_current_stream = stream;
    }
    ~CUDAStreamGuard() { gradverify_current_stream = before_; }
    CUDAStreamGuard(const CUDAStreamGuard&) = delete;
    CUDAStreamGuard& operator=(const CUDAStreamGuard&) = delete;

  private:
    cudaStream_t before_;
};

}  // namespace c10::cuda

namespace c10 {
struct DeviceGuard {
    explicit DeviceGuard(Device) {}
};
struct OptionalDeviceGuard {
    OptionalDeviceGuard() = default;
    explicit OptionalDeviceGuard(std::optional<Device>) {}
    void reset_device(Device) {}
};
}  // namespace c10

namespace at {
using c10::DeviceGuard;
using c10::OptionalDeviceGuard;

/// The seed and offset of a kernel's Philox numbers.
struct PhiloxCudaState {
    PhiloxCudaState() = default;
    PhiloxCudaState(std::uint64_t seed, std::uint64_t offset) : seed_{seed}, offset_{offset} {}
    struct Payload {
        std::uint64_t val;
    };
    Payload seed_{}, offset_{};
    std::uint32_t offset_intragraph_ = 0;
    bool captured_ = false;
};
/// A generator begins at one seed, and its offset grows as PyTorch's does.
struct CUDAGeneratorImpl {
    std::mutex mutex_;
    std::uint64_t seed = 0, offset = 0;
    PhiloxCudaState philox_cuda_state(std::uint64_t increment) {
        const PhiloxCudaState state(seed, offset);
        offset += (increment + 3) / 4 * 4;
        return state;
    }
    void set_current_seed(std::uint64_t of_user) {
        seed = of_user;
        offset = 0;
    }
    std::uint64_t current_seed() const { return seed; }
};
struct Generator {
    CUDAGeneratorImpl* impl = nullptr;
    template <class T>
    T* get() const {
        return impl;
    }
    bool defined() const { return impl != nullptr; }
    std::mutex& mutex() const { return impl->mutex_; }
};
template <class T>
T* get_generator_or_default(const std::optional<Generator>& given, const Generator& otherwise) {
    return (given.has_value() && given->defined() ? *given : otherwise).get<T>();
}
template <class T>
T* check_generator(const std::optional<Generator>& given) {
    TORCH_CHECK(given.has_value() && given->defined(), "expected a generator");
    return given->get<T>();
}

namespace cuda {
using namespace c10::cuda;

inline cudaDeviceProp* getDeviceProperties(DeviceIndex) {
    static cudaDeviceProp properties = [] {
        cudaDeviceProp read;
        C10_CUDA_CHECK(cudaGetDeviceProperties(&read, 0));
        return read;
    }();
    return &properties;
}
inline cudaDeviceProp* getCurrentDeviceProperties() { return getDeviceProperties(0); }
inline int warp_size() { return 32; }
inline bool is_available() { return true; }

/// PyTorch keeps a handle for each thread, on its current stream.
inline cublasHandle_t getCurrentCUDABlasHandle() {
    thread_local cublasHandle_t handle = nullptr;
    if (handle == nullptr) TORCH_CUDABLAS_CHECK(cublasCreate(&handle));
    TORCH_CUDABLAS_CHECK(cublasSetStream(handle, getCurrentCUDAStream()));
    return handle;
}

namespace philox {
inline std::tuple<std::uint64_t, std::uint64_t> unpack(PhiloxCudaState state) {
    return {state.seed_.val, state.offset_.val};
}
}  // namespace philox
namespace detail {
inline const Generator& getDefaultCUDAGenerator(DeviceIndex = -1) {
    static CUDAGeneratorImpl impl;
    static const Generator generator{&impl};
    return generator;
}
constexpr int CUDA_NUM_THREADS = 1024;
inline int GET_BLOCKS(std::int64_t count, std::int64_t threads = CUDA_NUM_THREADS) {
    return static_cast<int>((count + threads - 1) / threads);
}
}  // namespace detail

template <class A, class B>
constexpr auto ATenCeilDiv(A a, B b) {
    return (a + b - 1) / b;
}
}  // namespace cuda

template <class T>
constexpr T ceil_div(T a, T b) {
    return (a + b - 1) / b;
}
}  // namespace at

namespace torch::cuda {
inline bool is_available() { return true; }
inline std::size_t device_count() { return 1; }
inline void synchronize(std::int64_t = -1) { c10::cuda::device_synchronize(); }
}  // namespace torch::cuda

#define CUDA_KERNEL_LOOP_TYPE(i, n, index_t)                                          \
    const std::int64_t gradverify_step = std::int64_t{blockDim.x} * gridDim.x;        \
    std::int64_t gradverify_at = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; \
    for (index_t i = index_t(gradverify_at); gradverify_at < (n);                     \
         gradverify_at += gradverify_step, i = index_t(gradverify_at))
#define CUDA_KERNEL_LOOP(i, n) CUDA_KERNEL_LOOP_TYPE(i, n, int)

#define GRADVERIFY_TORCH_SHUFFLE(NAME, CALL, T2)                                               \
    template <class T>                                                                         \
    T NAME(T value, T2 by, int width = warpSize, unsigned mask = ~0u, GRADVERIFY_SIMT_PLACE) { \
        return CALL(mask, value, by, width, file, line);                                       \
    }
GRADVERIFY_TORCH_SHUFFLE(WARP_SHFL, __shfl_sync, int)
GRADVERIFY_TORCH_SHUFFLE(WARP_SHFL_XOR, __shfl_xor_sync, int)
GRADVERIFY_TORCH_SHUFFLE(WARP_SHFL_UP, __shfl_up_sync, unsigned)
GRADVERIFY_TORCH_SHUFFLE(WARP_SHFL_DOWN, __shfl_down_sync, unsigned)
#undef GRADVERIFY_TORCH_SHUFFLE
inline unsigned WARP_BALLOT(int predicate, unsigned mask = ~0u, GRADVERIFY_SIMT_PLACE) {
    return __ballot_sync(mask, predicate, file, line);
}
inline unsigned ACTIVE_MASK(GRADVERIFY_SIMT_PLACE) { return __activemask(file, line); }
inline void WARP_SYNC(unsigned mask = ~0u, GRADVERIFY_SIMT_PLACE) { __syncwarp(mask, file, line); }
template <class T>
GRADVERIFY_SIMT_ACCESS T doLdg(const T* address) {
    return *address;
}

// Templates, beside which a file may have its own.
#define GRADVERIFY_TORCH_ATOMIC_OF_CUDA(T, OF_CUDA)                                       \
    template <class = void>                                                               \
    GRADVERIFY_SIMT_ACCESS T atomicAdd(T* address, T value) {                             \
        return static_cast<T>(                                                            \
            atomicAdd(reinterpret_cast<OF_CUDA*>(address), static_cast<OF_CUDA>(value))); \
    }
GRADVERIFY_TORCH_ATOMIC_OF_CUDA(c10::Half, __half)
GRADVERIFY_TORCH_ATOMIC_OF_CUDA(c10::BFloat16, __nv_bfloat16)
GRADVERIFY_TORCH_ATOMIC_OF_CUDA(std::int64_t, unsigned long long)
#undef GRADVERIFY_TORCH_ATOMIC_OF_CUDA
template <class T>
GRADVERIFY_SIMT_ACCESS c10::complex<T> atomicAdd(c10::complex<T>* address, c10::complex<T> value) {
    return {atomicAdd(&address->real_, value.real_), atomicAdd(&address->imag_, value.imag_)};
}
template <class T>
GRADVERIFY_SIMT_ACCESS T gpuAtomicAdd(T* address,
                                      gradverify::simt::unit::type_identity_t<T> value) {
    return atomicAdd(address, value);
}
template <class T>
GRADVERIFY_SIMT_ACCESS void gpuAtomicAddNoReturn(T* address,
                                                 gradverify::simt::unit::type_identity_t<T> value) {
    atomicAdd(address, value);
}
