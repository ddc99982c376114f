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

/// What a function template must be given, since no parameter's type tells it.
struct TemplateArgument {
    std::string name;
    bool is_type = false;
};

struct Signature {
    std::string name;
    std::string scope;  ///< `theirs::detail::`; without namespaces that have no name
    std::vector<SignatureParameter> parameters;  ///< float for the template's types
    std::vector<TemplateArgument> template_arguments;
    std::vector<std::string> types_taken_for_float;  ///< those of the template
    bool is_kernel = false;                          ///< `__global__`
    bool gives_status = false;                       ///< `int` or `cudaError_t`
    bool is_defined = false;                         ///< and not only declared
    bool launches = false;  ///< its body launches a kernel, or calls a function that does
    int line = 0;
    Results results = Results::none;
    bool lies_beside_torch = false;  ///< its text includes PyTorch's headers

    bool is_of_extension() const;
};

/// Whether a text includes a header of PyTorch's, or ours for it.
bool includes_torch(std::string_view text);

/// The definition of a function, or else a declaration. A namespace before the name decides among
/// functions of one name. Nothing where the text has none.
std::optional<Signature> signature_of(std::string_view text, std::string_view name);
/// The functions of the host that stand at namespace scope and take a pointer or a tensor, in their
/// order, each once: those that launch kernels, where some do, else all.
std::vector<Signature> launchers_of(std::string_view text);

/// A word that stands for what `new` could not match.
struct Placeholder {
    std::string word;
    int line = 0;
};
inline constexpr std::string_view fill_in = "FILL_IN";
/// The first one outside of comments and literals.
std::optional<Placeholder> placeholder_in(std::string_view text);

}  // namespace gradverify
