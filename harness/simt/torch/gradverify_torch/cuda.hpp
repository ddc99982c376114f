// SPDX-License-Identifier: Apache-2.0
// PyTorch's view of the device: its streams, of which the current one is the call's, guards, device
// properties, cuBLAS' handle and generators of Philox.
#pragma once
#pragma GCC system_header

#include <cstdint>
#include <functional>
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
struct OptionalCUDAGuard : CUDAGuard {
    using CUDAGuard::CUDAGuard;
    explicit OptionalCUDAGuard(std::optional<Device> = {}) : CUDAGuard(0) {}
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
