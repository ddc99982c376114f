// SPDX-License-Identifier: Apache-2.0
// Decides what tensors a file holds: recorded activations, as .safetensors, or one array as .npy.
// Files come from elsewhere, so nothing that they say of themselves is believed.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/numbers/dtype.hpp"
#include "harness/operators/array.hpp"

namespace gradverify {

/// A tensor of a file, whose elements are not read yet.
struct StoredTensor {
    DType dtype = DType::f32;
    Sizes sizes;
    std::string_view bytes;  ///< row-major, little-endian, as many as the sizes say

    std::vector<double> values() const;
};
using StoredTensors = std::map<std::string, StoredTensor, std::less<>>;

/// Reads the header of a file in the format of safetensors; `bytes` must outlive the tensors.
/// **Errors** std::invalid_argument that says what is wrong with it.
StoredTensors read_safetensors(std::string_view bytes);
/// The same of NumPy's format, whose one array has no name.
StoredTensor read_npy(std::string_view bytes);

/// Whether the path ends as one of these files does.
bool is_tensor_file(std::string_view path);

/// The tensors of files, by name; that of an .npy file is called as the file is.
class TensorFiles {
  public:
    /// **Errors** std::invalid_argument that names the file: it can't be read, holds what no tensor
    /// may, or a tensor that another file holds, too.
    explicit TensorFiles(const std::vector<std::string>& paths);

    const StoredTensors& tensors() const { return tensors_; }
    /// Null where there is none of this name.
    const StoredTensor* find(std::string_view name) const;
    /// The file that a tensor is from.
    const std::string& file_of(std::string_view name) const { return files_.find(name)->second; }

  private:
    class Mapped;
    std::vector<std::shared_ptr<const Mapped>> mapped_;
    StoredTensors tensors_;
    std::map<std::string, std::string, std::less<>> files_;
};

/// The tensors of these files; they are read once in a process.
const TensorFiles& tensor_files(const std::vector<std::string>& paths);

}  // namespace gradverify
