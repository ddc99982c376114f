// SPDX-License-Identifier: Apache-2.0
// Decides which operators and kernels this executable knows. Static initialisers fill the registry
// before main, and `check()` checks it; it touches no device.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/operators/operator.hpp"
#include "harness/registry/kernel_declaration.hpp"

namespace gradverify {

/// The build of a kernel for the cpu device's race detector; no device that a user could name.
constexpr const char* checked_variant = "cpu-checked";

/// A kernel on all its devices. Its declarations are of one source file, so any holds for all.
struct Kernel {
    std::string name;  ///< `conv.grad_weight/naive`
    const Operator* op = nullptr;
    const PassSpec* pass = nullptr;
    std::map<std::string, const KernelDeclaration*> by_device;  ///< and by `checked_variant`
    std::string why_absent{};  ///< what the kernel needs and this machine lacks; or empty

    /// The devices that it exists on, without the checked variant.
    std::vector<std::string> devices() const;
    /// Null when the kernel does not exist on this device, or not on this machine.
    const KernelDeclaration* on(std::string_view device) const;
    /// Why `on` is null, as the rest of a sentence that begins with the kernel.
    std::string why_not_on(std::string_view device) const;
    const KernelDeclaration& any() const { return *by_device.begin()->second; }
    /// Its conditions on a problem beyond its operator's, as `list` prints them.
    std::vector<std::string> conditions() const;
    /// Why it must not be given a problem that is valid for its operator; nothing if it may.
    std::optional<std::string> why_unsupported(const Problem& problem) const;
};

class Registry {
  public:
    /// The registry that the macros fill.
    static Registry& instance();

    /// Where the name is taken, the first operator stays, and `check` says so.
    const Operator& add(Operator op, const char* file = "", int line = 0);
    KernelDeclaration& add(KernelDeclaration declaration);

    /// Remembers which operators the build leaves out, to say so where one is asked for: their
    /// names with a space between them, or `fast/NAME` for one without its fast kernels.
    void leave_out(std::string_view names);
    bool leaves_out(std::string_view name) const;
    /// A sentence on all that the build leaves out, and how the command that has built it verifies
    /// it; nothing without such a command, as in a project that takes our sources.
    std::string all_left_out(const char* command) const;
    /// What the build leaves out of the kernels that a name or a glob means, and how to build it;
    /// as the end of a sentence, or nothing.
    std::string why_left_out(const std::string& filter) const;

    /// Resolves every declaration; to be called once, before any other question.
    /// **Errors** std::invalid_argument that says everything that is wrong, and what is right.
    void check();

    /// Sorted by name. **Errors** std::logic_error before `check`.
    const std::vector<Kernel>& kernels() const;
    const Kernel* find_kernel(std::string_view full_name) const;
    const Operator* find_operator(std::string_view name) const;
    /// Also before `check`; null where none was registered so.
    const KernelDeclaration* find_declaration(std::string_view operator_name,
                                              std::string_view pass_name, std::string_view variant,
                                              std::string_view device) const;
    /// Sorted.
    std::vector<std::string> operator_names() const;

  private:
    struct Place {
        std::string file;
        int line;
        bool operator==(const Place&) const = default;
    };
    std::vector<std::unique_ptr<Operator>> operators_;
    std::map<const Operator*, std::vector<Place>> places_;  ///< more than one is an error
    std::vector<std::unique_ptr<KernelDeclaration>> declarations_;
    std::vector<Kernel> kernels_;
    std::vector<std::string> left_out_;
    bool checked_ = false;
};

}  // namespace gradverify

/// Registers an operator: a function that returns its description.
#define GRADVERIFY_OPERATOR(DESCRIBE)                                             \
    [[maybe_unused]] static const ::gradverify::Operator& GRADVERIFY_DETAIL_JOIN( \
        gradverify_operator_, __COUNTER__) =                                      \
        ::gradverify::Registry::instance().add(DESCRIBE(), __FILE__, __LINE__)
