// SPDX-License-Identifier: Apache-2.0
// The grammar of an asm string (PTX ISA, 4 and 5): scopes, register declarations, labels, guards
// and operands. Names become C++ variables of the asm statement.
#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <map>
#include <utility>

#include "harness/simt/rewrite/ptx/ptx.hpp"

namespace gradverify::simt::rewrite {
namespace {

bool is_word_character(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

std::string cpp_type_of(const std::string& type) {
    if (type == "pred") return "bool";
    if (type.ends_with("128")) return "unsigned __int128";
    const std::size_t digits = type.find_first_of("0123456789");
    std::string width = digits == std::string::npos ? "" : type.substr(digits);
    if (width == "16x2") width = "32";
    if (width != "8" && width != "16" && width != "32" && width != "64") return "";
    return "std::uint" + width + "_t";
}

/// `%tid.x` is read by a function of a like name.
bool is_special_register(std::string_view name) {
    constexpr std::string_view vectors =
        "tid ntid ctaid nctaid cluster_ctaid cluster_nctaid "
        "clusterid nclusterid";
    constexpr std::string_view scalars =
        "laneid warpid nwarpid smid nsmid gridid clock clock_hi clock64 globaltimer globaltimer_lo "
        "globaltimer_hi lanemask_eq lanemask_le lanemask_lt lanemask_ge lanemask_gt "
        "dynamic_smem_size total_smem_size cluster_ctarank cluster_nctarank "
        "is_explicit_cluster";
    const std::size_t dot = name.find('.');
    if (dot == std::string_view::npos) return is_word_of(scalars, name);
    return is_word_of(vectors, name.substr(0, dot)) && is_word_of("x y z", name.substr(dot + 1));
}

class Parser {
  public:
    Parser(std::string_view text, const std::vector<PtxOperand>& operands,
           const std::string& number)
        : text_(text), operands_(operands), number_(number) {
        scopes_.emplace_back();
    }

    PtxProgram run() {
        for (skip_space(); at_ < text_.size(); skip_space()) statement();
        if (scopes_.size() != 1) fail();
        find_labels();
        if (!branches_.empty())
            throw PtxUnserved("bra " + program_.statements[branches_[0]].operands[0].text);
        return std::move(program_);
    }

  private:
    struct Scope {
        std::map<std::string, PtxOperand, std::less<>> registers;
        std::map<std::string, std::string> labels;  ///< and their names in C++
        std::size_t first_branch = 0;               ///< in branches_
    };

    char peek(std::size_t ahead = 0) const {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }
    bool take(char c) {
        skip_space();
        if (peek() != c) return false;
        ++at_;
        return true;
    }
    void expect(char c) {
        if (!take(c)) fail();
    }
    [[noreturn]] void fail() const {
        const std::size_t end = text_.find_first_of(";\n", begin_);
        throw PtxUnserved(std::string(text_.substr(begin_, end - begin_)));
    }
    void skip_space() {
        while (at_ < text_.size()) {
            const std::string_view rest = text_.substr(at_);
            std::size_t end = at_;
            if (std::isspace(static_cast<unsigned char>(peek())) != 0)
                end = at_ + 1;
            else if (rest.starts_with("//"))
                end = text_.find('\n', at_);
            else if (rest.starts_with("/*"))
                end = text_.find("*/", at_ + 2);
            else
                return;
            at_ = end == std::string_view::npos ? text_.size()
                                                : end + (rest.starts_with("/*") ? 2 : 0);
        }
    }

    std::string word() {
        skip_space();
        const std::size_t begin = at_;
        while (is_word_character(peek())) ++at_;
        if (begin == at_) fail();
        return std::string(text_.substr(begin, at_ - begin));
    }

    void statement() {
        begin_ = at_;
        if (take('{')) return scopes_.push_back({{}, {}, branches_.size()});
        if (take('}')) {
            if (scopes_.size() == 1) fail();
            find_labels();
            return scopes_.pop_back();
        }
        if (take(';')) return;
        if (peek() == '.') return directive();
        PtxStatement next;
        if (is_label()) {
            next.label = declare_label(word());
            expect(':');
            program_.statements.push_back(next);
            return;
        }
        if (take('@')) {
            next.guard = take('!') ? "!" : "";
            next.guard += value().text;
        }
        next.opcode = opcode();
        next.parts = split(next.opcode);
        const bool is_branch = next.parts[0] == "bra";
        skip_space();
        while (peek() != ';' && at_ < text_.size()) {
            next.operands.push_back(is_branch ? PtxOperand{.text = word()} : operand());
            if (!take(',')) break;
        }
        skip_space();
        if (at_ < text_.size() && peek() != '}') expect(';');
        if (is_branch) branches_.push_back(program_.statements.size());
        program_.statements.push_back(std::move(next));
    }

    bool is_label() const {
        std::size_t end = at_;
        while (end < text_.size() && is_word_character(text_[end])) ++end;
        const std::size_t name_end = end;
        while (end < text_.size() && text_[end] == ' ') ++end;
        return name_end > at_ && end < text_.size() && text_[end] == ':' &&
               text_.substr(end, 2) != "::";
    }
    std::string declare_label(const std::string& name) {
        std::string cpp =
            "gradverify_label_" + number_ + "_" + std::to_string(labels_++) + "_" + name;
        if (!scopes_.back().labels.emplace(name, cpp).second) fail();
        return cpp;
    }
    /// A branch may stand before its label, and in a scope within the label's.
    void find_labels() {
        const Scope& scope = scopes_.back();
        const auto first = branches_.begin() + static_cast<std::ptrdiff_t>(scope.first_branch);
        const auto found = [&](std::size_t branch) {
            std::vector<PtxOperand>& operands = program_.statements[branch].operands;
            if (operands.size() != 1) fail();
            const auto label = scope.labels.find(operands[0].text);
            if (label == scope.labels.end()) return false;
            operands[0].text = label->second;
            return true;
        };
        branches_.erase(std::remove_if(first, branches_.end(), found), branches_.end());
    }

    /// `.reg .b32 x, y, r<4>;`. Others have no effect (.pragma), or are not served.
    void directive() {
        ++at_;
        const std::string name = word();
        if (name == "pragma") {
            at_ = std::min(text_.find(';', at_), text_.size());
            return;
        }
        if (name != "reg") fail();
        expect('.');
        const std::string type = cpp_type_of(word());
        if (type.empty()) fail();
        do {
            const bool percent = take('%');
            const std::string declared = (percent ? "%" : "") + word();
            if (!take('<')) {
                declare(declared, type);
                continue;
            }
            int count = 0;
            const std::string digits = word();
            std::from_chars(digits.data(), digits.data() + digits.size(), count);
            expect('>');
            if (count < 1 || count > most_registers) fail();
            for (int i = 0; i < count; ++i) declare(declared + std::to_string(i), type);
        } while (take(','));
        expect(';');
    }
    void declare(const std::string& name, const std::string& type) {
        std::string cpp = "gradverify_" + number_ + "_" + std::to_string(program_.registers.size());
        scopes_.back().registers[name] = {.text = cpp, .is_register = true};
        program_.registers.push_back({type, std::move(cpp)});
    }

    std::string opcode() {
        skip_space();
        const std::size_t begin = at_;
        while (is_word_character(peek()) || peek() == '.' || peek() == ':') ++at_;
        if (begin == at_) fail();
        return std::string(text_.substr(begin, at_ - begin));
    }
    static std::vector<std::string> split(const std::string& opcode) {
        std::vector<std::string> parts;
        for (std::size_t at = 0; at <= opcode.size();) {
            const std::size_t dot = std::min(opcode.find('.', at), opcode.size());
            parts.push_back(opcode.substr(at, dot - at));
            at = dot + 1;
        }
        return parts;
    }

    PtxOperand operand() {
        skip_space();
        if (take('{')) return vector();
        if (take('[')) return address();
        PtxOperand first = value();
        if (!take('|')) return first;
        first.second = value().text;
        if (first.second.empty()) first.second = "_";
        return first;
    }
    PtxOperand vector() {
        PtxOperand all{.kind = PtxOperand::Kind::vector};
        do {
            all.parts.push_back(value());
        } while (take(','));
        expect('}');
        return all;
    }
    PtxOperand address() {
        PtxOperand all{.kind = PtxOperand::Kind::address, .text = value().text};
        if (take('+'))
            all.offset = value().text;
        else if (take('-'))
            all.offset = negative(value().text);
        if (take(',')) {
            expect('{');
            all.parts = vector().parts;
        }
        expect(']');
        return all;
    }
    static std::string negative(const std::string& number) {
        return "gvp::Integer{-static_cast<std::uint64_t>(" + number + ")}";
    }

    PtxOperand value() {
        skip_space();
        if (take('!')) return {.text = "!" + value().text};
        if (take('-')) return {.text = number(true)};
        if (std::isdigit(static_cast<unsigned char>(peek())) != 0) return {.text = number(false)};
        if (peek() == '%' && std::isdigit(static_cast<unsigned char>(peek(1))) != 0) {
            ++at_;
            return given();
        }
        const bool percent = take('%') && (take('%') || true);
        std::string name = (percent ? "%" : "") + word();
        if (name == "_") return {.kind = PtxOperand::Kind::sink};
        if (name == "WARP_SZ") return {.text = "gvp::Integer{32}"};
        for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
            const auto found = scope->registers.find(name);
            if (found != scope->registers.end()) return found->second;
        }
        if (!percent) fail();
        if (take('.')) name += "." + word();
        name.erase(0, 1);
        if (!is_special_register(name)) fail();
        const std::size_t dot = name.find('.');
        if (dot != std::string::npos) name[dot] = '_';
        return {.text = "gvp::register_" + name + "()"};
    }
    PtxOperand given() {
        std::size_t index = 0;
        while (std::isdigit(static_cast<unsigned char>(peek())) != 0)
            index = index * 10 + static_cast<std::size_t>(text_[at_++] - '0');
        if (index >= operands_.size() || operands_[index].text.empty()) fail();
        return operands_[index];
    }

    /// Integers, `0f3F800000`, `0d...` and decimal fractions (PTX ISA, 4.5).
    std::string number(bool is_negative) {
        skip_space();
        const std::size_t begin = at_;
        while (is_word_character(peek()) || peek() == '.' ||
               ((peek() == '+' || peek() == '-') && at_ > begin &&
                (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E')))
            ++at_;
        std::string digits(text_.substr(begin, at_ - begin));
        if (digits.empty()) fail();
        const char second = digits.size() > 1 ? static_cast<char>(std::tolower(digits[1])) : '0';
        const bool is_hex_float = digits[0] == '0' && (second == 'f' || second == 'd');
        if (!is_hex_float && second != 'x' && digits.find_first_of(".eE") != std::string::npos)
            return std::string("gvp::Real{") + (is_negative ? "-" : "") + digits + "}";
        while (!digits.empty() && (digits.back() == 'U' || digits.back() == 'u')) digits.pop_back();
        int base = 10;
        if (is_hex_float || second == 'x')
            base = 16;
        else if (second == 'b' && digits[0] == '0')
            base = 2;
        else if (digits.size() > 1 && digits[0] == '0')
            base = 8;
        const std::size_t skipped = base == 16 || base == 2 ? 2 : 0;
        std::uint64_t bits = 0;
        const char* const end = digits.data() + digits.size();
        const auto parsed =
            std::from_chars(digits.data() + std::min(skipped, digits.size()), end, bits, base);
        if (parsed.ec != std::errc() || parsed.ptr != end) fail();
        if (is_hex_float && is_negative) fail();
        if (is_negative) bits = -bits;
        return "gvp::Integer{" + std::to_string(bits) + "u}";
    }

    static constexpr int most_registers = 4096;
    std::string_view text_;
    const std::vector<PtxOperand>& operands_;
    const std::string& number_;
    std::size_t at_ = 0, begin_ = 0;
    std::vector<Scope> scopes_;
    std::vector<std::size_t> branches_;  ///< statements whose label is not found yet
    int labels_ = 0;
    PtxProgram program_;
};

}  // namespace

PtxProgram parse_ptx(std::string_view text, const std::vector<PtxOperand>& operands,
                     const std::string& number) {
    return Parser(text, operands, number).run();
}

}  // namespace gradverify::simt::rewrite
