// SPDX-License-Identifier: Apache-2.0
// Inline PTX as data: the statements of one asm string, and what each is in C++.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace gradverify::simt::rewrite {

struct PtxOperand {
    enum class Kind { value, vector, address, sink };
    Kind kind = Kind::value;
    std::string text;               ///< of a value: C++; of an address: its base
    std::string offset;             ///< of an address
    std::vector<PtxOperand> parts;  ///< of a vector, or coordinates beside an address
    std::string second;             ///< the q of p|q
    bool is_register = false;       ///< may be written
    std::string place;              ///< the address of the user's variable, for what uses it later
};

struct PtxStatement {
    std::string label;               ///< stands before it
    std::string guard;               ///< a condition in C++, or empty
    std::string opcode;              ///< `add.sat.s32`; empty: only a label
    std::vector<std::string> parts;  ///< of the opcode
    std::vector<PtxOperand> operands;
};

/// A register that the asm string declares, in C++.
struct PtxRegister {
    std::string type, name;
};

struct PtxProgram {
    std::vector<PtxRegister> registers;
    std::vector<PtxStatement> statements;
};

/// What the CPU device does not have; the text is the instruction.
class PtxUnserved : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// What no device has; the text is the opcode.
class PtxUnknown : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// `operands` are the C++ texts of %0, %1 ...; names and labels end with `number`.
/// **Errors** PtxUnserved for what cannot be parsed.
PtxProgram parse_ptx(std::string_view text, const std::vector<PtxOperand>& operands,
                     const std::string& number);

/// **Errors** PtxUnknown for a misspelt instruction.
void check_opcode(const PtxStatement& statement);
/// The statement as one of C++, without its guard. **Errors** PtxUnserved.
std::string cpp_of(const PtxStatement& statement);

/// The same for the families of the file of that name; empty: it is of none of them.
std::optional<std::string> cpp_of_memory(const PtxStatement& statement);
std::optional<std::string> cpp_of_mbarrier(const PtxStatement& statement);
std::optional<std::string> cpp_of_bulk(const PtxStatement& statement);
std::optional<std::string> cpp_of_tensor_map(const PtxStatement& statement);
std::optional<std::string> cpp_of_cp_async(const PtxStatement& statement);
std::optional<std::string> cpp_of_warps(const PtxStatement& statement);
std::optional<std::string> cpp_of_mma(const PtxStatement& statement);
std::optional<std::string> cpp_of_wgmma(const PtxStatement& statement);

// What the families share.
constexpr std::string_view memory_orders = "relaxed acquire release acq_rel";
constexpr std::string_view memory_scopes = "cta cluster gpu sys";
constexpr std::string_view shared_spaces = "shared shared::cta shared::cluster";
[[noreturn]] void unserved(const PtxStatement& statement);
inline void require(const PtxStatement& statement, bool is_right) {
    if (!is_right) unserved(statement);
}
/// The opcode's parts after the first, of which each may be taken once.
class PtxModifiers {
  public:
    explicit PtxModifiers(const PtxStatement& statement)
        : statement_(statement), left_(statement.parts.begin() + 1, statement.parts.end()) {}
    bool take(std::string_view part);
    /// The same for a part beside which nothing is left.
    bool take_last(std::string_view part) {
        const bool is_there = take(part);
        if (is_there) end();
        return is_there;
    }
    /// The first part that is one of these words; else "".
    std::string take_any(std::string_view words);
    bool empty() const { return left_.empty(); }
    const std::vector<std::string>& left() const { return left_; }
    /// **Errors** PtxUnserved when parts are left.
    void end() const {
        if (!left_.empty()) unserved(statement_);
    }

  private:
    const PtxStatement& statement_;
    std::vector<std::string> left_;
};
bool is_word_of(std::string_view words, std::string_view word);
/// Values, one for each. **Errors** PtxUnserved for another kind of operand, or too few.
std::string value_of(const PtxStatement& statement, std::size_t operand);
std::string values_from(const PtxStatement& statement, std::size_t first);
/// `name = `, or nothing for a sink.
std::string assignment_to(const PtxStatement& statement, std::size_t operand);
std::string address_of(const PtxStatement& statement, std::size_t operand);
/// The parts of a vector, or the one value.
std::vector<std::string> parts_of(const PtxStatement& statement, std::size_t operand);

}  // namespace gradverify::simt::rewrite
