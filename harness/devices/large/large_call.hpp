// SPDX-License-Identifier: Apache-2.0
// Decides how a kernel is called on tensors too large for the host: they are filled on the device
// from small tables, and every element of outputs, inputs and guards is compared there.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/cases/compare.hpp"
#include "harness/devices/large/large_memory.hpp"
#include "harness/devices/launch.hpp"
#include "harness/registry/layout.hpp"

namespace gradverify {

/// What the elements of an output must be, in the drawn copies and in each other one.
struct WantedTables {
    std::vector<WantedValue> of_drawn, of_others;
};

/// One tensor of a large call. Tables are in the order of memory.
struct LargeTensor {
    std::string name;
    DType dtype = DType::f32;
    Sizes sizes;
    Strides strides;
    CopyLayout layout;
    DrawnCopies drawn;
    /// The bits of an input, and of an output that is added to; any other tensor is poisoned.
    std::vector<std::uint64_t> bits_of_drawn, bits_of_others;
    WantedTables wanted;
    /// The same within the bounds of any reasonable formula; see Expected.
    std::function<WantedTables()> wanted_by_any_formula{};
    bool admits_nan = false;
    /// The input that this output is written over, by position.
    std::optional<std::size_t> lies_in;

    std::int64_t elements() const { return element_count(sizes); }
    int element_bytes() const { return static_cast<int>(traits_of(dtype).bytes); }
    std::int64_t bytes() const { return elements() * element_bytes(); }
};

struct LargeCall {
    const Kernel& kernel;
    Device& device;
    const Problem& problem;
    Setting setting;
    std::vector<LargeTensor> tensors;  ///< the inputs of the pass, then its outputs
    Poison poison = Poison::nan;
    int guard_parity = 0;
};

struct LargeResult {
    std::string lacks_memory;  ///< a sentence, if there is not enough memory for the call
    std::string complaint;     ///< the launch error, or the first stray write
    std::vector<Comparison> comparisons;  ///< for each output, where there is no complaint
    std::string places;  ///< where each wrong output is wrong: in memory, and in which copy
    double seconds = 0.0;
};

/// **Errors** NotServed, std::runtime_error.
LargeResult call_on_large(const LargeCall& call);

/// The position of an element in memory as an index of the tensor.
Sizes index_in_memory(std::int64_t element, const Sizes& sizes, const Strides& strides);

/// `8 GiB`, `2.5 GiB`, `131 kB`.
std::string print_bytes(double bytes);

}  // namespace gradverify
