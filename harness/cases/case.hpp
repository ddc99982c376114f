// SPDX-License-Identifier: Apache-2.0
// Decides what a case is: everything needed to run one check again, printed as one shell word:
//
//   v1:conv.grad_weight/naive:matches_reference:cpu:in=2x1,filter=1x1:seed=7:block=64
//
// Five positional fields (version, kernel, property, device, problem), then data, then each setting
// that is not at its default.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/problems/problem.hpp"
#include "harness/registry/layout.hpp"
#include "harness/registry/registry.hpp"

namespace gradverify {

/// One element of explicit data: `x[3]=2`.
struct DataElement {
    std::string tensor;
    std::int64_t index = 0;
    double value = 0.0;
    bool operator==(const DataElement&) const = default;
};

/// The values of the tensors: drawn from a seed, or listed, all others zero. Files hold some of the
/// tensors; the others are drawn.
struct Data {
    std::uint64_t seed = 0;
    bool is_dense = false;  ///< drawn without zeros and, as far as there is room, all different
    bool is_explicit = false;
    std::vector<DataElement> elements;
    std::vector<std::string> files{};  ///< `acts.safetensors`, `x.npy`
    bool operator==(const Data&) const = default;
};

/// The order in which the CPU device runs threads and blocks.
enum class ThreadOrder { ascending, descending, random_threads, random_warps };

/// The copies of a small problem that a large one is made of.
struct Copies {
    std::string along;  ///< the name of a SeparableSpec of the operator
    std::int64_t count = 0;
    bool operator==(const Copies&) const = default;
};

/// How the kernel is called.
struct Setting {
    ThreadOrder order = ThreadOrder::ascending;
    std::uint64_t order_seed = 0;
    /// Elements between an aligned address and each buffer (inputs, then outputs); not listed: 0.
    std::vector<int> offsets;
    int block_size = 0;       ///< 0: the first that the kernel declares
    bool own_stream = false;  ///< a stream made for the call, not the default one
    /// Outputs lie where the first or second input that the kernel allows does; 0: apart.
    int place = 0;
    std::map<std::string, TensorLayout> layouts{};  ///< of tensors that are not in the first one
    std::uint32_t output_mask = every_output;       ///< bit i: output i is asked for
    /// The kernel is called on this problem first, in the same process, which shows what it keeps.
    std::optional<Problem> before{};
    bool is_strict = false;          ///< what is imprecise fails
    std::optional<Copies> copies{};  ///< of a large problem, whose tensors are made on the device
    static constexpr std::uint32_t every_output = ~std::uint32_t{0};
    TensorLayout layout_of(const std::string& tensor) const {
        const auto found = layouts.find(tensor);
        return found == layouts.end() ? TensorLayout{} : found->second;
    }
    bool asks_for(std::size_t output) const { return (output_mask >> output & 1u) != 0; }
    bool operator==(const Setting&) const = default;
};

/// Why a kernel, by its declaration, must not be called so; nothing if it may.
std::optional<std::string> why_unsupported(const Kernel& kernel, const Setting& setting);

struct Case {
    std::string kernel;    ///< full name
    std::string property;  ///< `matches_reference`
    std::string device;    ///< "cuda" or "cpu"
    Problem problem;
    Data data;
    Setting setting;

    std::string print() const;

    /// **Errors** std::invalid_argument that names the field and says what is accepted, also when
    /// the registry has no such kernel.
    static Case parse(std::string_view text, const Registry& registry);

    bool operator==(const Case&) const = default;
};

}  // namespace gradverify
