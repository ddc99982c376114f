// SPDX-License-Identifier: Apache-2.0
// Decides how a kernel file names a pass of an operator and takes its tensors by name:
//
//   struct Backward : gradverify::Pass<"layer_norm", "backward"> {
//       using Pass::Pass;
//       TensorView dy = tensor("dy"), x = tensor("x"), dx = tensor("dx");
//       std::int64_t rows = size("rows");
//   };
//
// The names are looked up when a launcher is called. CUDA units include this file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "harness/registry/pass_call.hpp"

namespace gradverify {

/// A text that can be a template argument.
template <std::size_t length>
struct FixedText {
    char text[length]{};
    // Implicit, so that a literal converts to it.
    constexpr FixedText(const char (&literal)[length]) {
        for (std::size_t i = 0; i < length; ++i) text[i] = literal[i];
    }
};

namespace detail {
/// The position of a call's tensor of this name. **Errors** std::invalid_argument that lists them.
std::size_t position_of(const PassCall& call, std::string_view operator_name,
                        std::string_view pass_name, std::string_view tensor);
}  // namespace detail

/// The base of a pass struct, and a pass struct by itself.
template <FixedText operator_text, FixedText pass_text>
class Pass {
  public:
    static constexpr const char* operator_name = operator_text.text;
    static constexpr const char* pass_name = pass_text.text;
    using TensorView = gradverify::TensorView;  // so that a pass struct need not qualify it

    explicit Pass(const PassCall& call) : launch(call.launch), call_(&call) {}

    /// An input or output of the pass. **Errors** std::invalid_argument that lists them.
    TensorView tensor(std::string_view name) const { return call_->tensors[position_of(name)]; }
    const Problem& problem() const { return call_->problem; }
    /// A parameter that is a whole number. **Errors** std::invalid_argument.
    std::int64_t size(std::string_view name) const { return call_->problem.scalar(name); }
    /// One that has a value on each spatial axis; the outermost is axis 0.
    std::int64_t size(std::string_view name, int axis) const {
        return call_->problem.on_axis(name, axis);
    }
    /// A parameter that is a real number, as a kernel takes it: `attribute<double>("eps")` where it
    /// computes in double. **Errors** std::invalid_argument.
    template <class T = float>
    T attribute(std::string_view name) const {
        return static_cast<T>(call_->problem.real(name));
    }
    /// Whether the output mask asks for this output; always, for kernels that take no mask.
    bool wants(std::string_view output) const {
        const std::size_t inputs = call_->tensors.size() - call_->outputs;
        return (launch.output_mask >> (position_of(output) - inputs) & 1u) != 0;
    }

    Launch launch;

  private:
    std::size_t position_of(std::string_view name) const {
        return detail::position_of(*call_, operator_name, pass_name, name);
    }

    const PassCall* call_;  ///< as long as the launcher runs
};

}  // namespace gradverify
