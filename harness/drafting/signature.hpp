// SPDX-License-Identifier: Apache-2.0
// Reads what a function of a CUDA file takes, from the text of its definition or declaration.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gradverify {

struct SignatureParameter {
    std::string type;  ///< without blanks that say nothing: `const float*`
    std::string name;
    bool has_default = false;
};

/// What a function of a PyTorch extension returns.
enum class Results {
    none,
    tensor,
    list,   ///< `std::vector<at::Tensor>`, an array
    tuple,  ///< `std::tuple<at::Tensor, at::Tensor>`, a pair
};

struct Signature {
    std::string name;
    std::vector<SignatureParameter> parameters;
    bool is_kernel = false;     ///< `__global__`
    bool is_template = false;   ///< some of its template's arguments may have to be written
    bool gives_status = false;  ///< `int` or `cudaError_t`
    Results results = Results::none;
    bool lies_beside_torch = false;  ///< its text includes PyTorch's headers

    bool is_of_extension() const;
};

/// Whether a text includes a header of PyTorch's, or ours for it.
bool includes_torch(std::string_view text);

/// Its definition, or else a declaration. A namespace before the name is not looked at. Nothing
/// where the text has no function of this name.
std::optional<Signature> signature_of(std::string_view text, std::string_view name);
/// The functions that the text defines at namespace scope and that take a pointer or a tensor, in
/// their order, each once.
std::vector<std::string> launcher_names(std::string_view text);

}  // namespace gradverify
