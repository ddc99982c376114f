// SPDX-License-Identifier: Apache-2.0
// Bytes of tensor files, as other programs write them.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace gradverify::testing {

template <class Number>
std::string bytes_of(const std::vector<Number>& numbers) {
    return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

/// A file in the format of safetensors, with this header and these elements.
inline std::string safetensors(const std::string& header, const std::string& elements) {
    return bytes_of(std::vector<std::uint64_t>{header.size()}) + header + elements;
}

/// One tensor `name` of floats.
inline std::string safetensors_of(const std::string& name, const std::string& shape,
                                  const std::vector<float>& numbers) {
    const std::string elements = bytes_of(numbers);
    return safetensors(fmt::format(R"({{"{}":{{"dtype":"F32","shape":{},"data_offsets":[0,{}]}}}})",
                                   name, shape, elements.size()),
                       elements);
}

/// A file in NumPy's format, version 1.
inline std::string npy(const std::string& type, const std::string& shape,
                       const std::string& elements, const std::string& is_by_columns = "False") {
    std::string header = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", type,
                                     is_by_columns, shape);
    header += std::string(63 - (10 + header.size()) % 64, ' ') + '\n';
    return "\x93NUMPY\x01" + std::string(1, '\0') +
           bytes_of(std::vector<std::uint16_t>{static_cast<std::uint16_t>(header.size())}) +
           header + elements;
}

}  // namespace gradverify::testing
