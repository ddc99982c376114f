// SPDX-License-Identifier: Apache-2.0
// An array in the memory of a kernel file's own device.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace simt_test {

inline int device_count() {
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

inline void check(cudaError_t error, int line) {
    if (error == cudaSuccess) return;
    throw std::runtime_error("line " + std::to_string(line) + ": " + cudaGetErrorString(error));
}
#define CHECK_CUDA(CALL) ::simt_test::check((CALL), __LINE__)

template <class T>
class Array {
  public:
    explicit Array(const std::vector<T>& values) : count_(values.size()) {
        const std::size_t bytes = values.size() * sizeof(T);
        CHECK_CUDA(cudaMalloc(&data_, bytes));
        CHECK_CUDA(cudaMemcpy(data_, values.data(), bytes, cudaMemcpyHostToDevice));
    }
    explicit Array(int count) : Array(std::vector<T>(static_cast<std::size_t>(count))) {}
    ~Array() { cudaFree(data_); }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
    operator T*() const { return data_; }
    /// Waits for the device.
    std::vector<T> host() const {
        CHECK_CUDA(cudaGetLastError());
        CHECK_CUDA(cudaDeviceSynchronize());
        std::vector<T> values(count_);
        CHECK_CUDA(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
        return values;
    }

  private:
    T* data_ = nullptr;
    std::size_t count_;
};

}  // namespace simt_test
