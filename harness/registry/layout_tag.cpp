// SPDX-License-Identifier: Apache-2.0
#include "harness/registry/layout_tag.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "harness/base/text.hpp"
#include "harness/registry/tensor_view.hpp"

namespace gradverify {

namespace {

constexpr char spatial = 'h', groups = 'g';

[[noreturn]] void refuse(const std::string& why) { throw std::invalid_argument(why); }

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }
bool is_capital(char letter) { return letter >= 'A' && letter <= 'Z'; }
char small(char letter) {
    return is_capital(letter) ? static_cast<char>(letter - 'A' + 'a') : letter;
}
char capital(char letter) { return static_cast<char>(letter - 'a' + 'A'); }

/// Reads a tag once, from its begin to its end.
class Reader {
  public:
    Reader(std::string_view tag, const LayoutTags& tags) : rest_(tag), tags_(tags) {}

    AxisOrder read(std::string name) {
        read_axes();
        read_blocks();
        for (const char letter : capitals_)
            if (std::ranges::count(blocked_, letter) == 0)
                refuse(std::string(1, capital(letter)) + " is a capital, and no block such as 16" +
                       letter + " follows");
        return {.name = std::move(name),
                .axes = [outer = outer()](int rank) { return axes_of(outer, rank); },
                .blocks = blocks(),
                .has_groups = has_groups()};
    }

  private:
    bool has_groups() const { return std::ranges::count(axes_, groups) > 0; }

    /// Whether it is an axis that may be blocked; of the groups' letter whether the tensor has any.
    void require_known(char letter) const {
        if (tags_.letters.find(letter) != std::string::npos) return;
        if (letter == groups && !tags_.groups.empty()) return;
        if (letter == groups) refuse("it has no groups, and so no axis g");
        std::vector<std::string> known;
        for (const char one : tags_.letters) known.emplace_back(1, one);
        if (!tags_.groups.empty()) known.emplace_back("g for the groups");
        refuse(std::string(1, letter) + " is none of its axes, which are " + joined(known) +
               " and hw for the spatial ones, whatever their number");
    }

    void read_axes() {
        while (!rest_.empty() && !is_digit(rest_.front())) {
            const char letter = small(rest_.front());
            if (rest_.starts_with("hw")) {
                rest_.remove_prefix(1);
            } else {
                require_known(letter);
                if (is_capital(rest_.front())) capitals_.push_back(letter);
            }
            rest_.remove_prefix(1);
            if (std::ranges::count(axes_, letter) > 0)
                refuse((letter == spatial ? "hw" : std::string(1, letter)) + " stands twice");
            axes_.push_back(letter);
        }
        for (const char letter : tags_.letters + spatial)
            if (std::ranges::count(axes_, letter) == 0)
                refuse((letter == spatial ? "hw" : std::string(1, letter)) + " is missing");
    }

    void read_blocks() {
        std::int64_t elements = 1;
        while (!rest_.empty()) {
            const std::size_t digits =
                std::min(rest_.find_first_not_of("0123456789"), rest_.size());
            const auto size = parse_int(rest_.substr(0, digits));
            if (digits == 0 || digits == rest_.size() || !size)
                refuse(std::string(rest_) + " is not a block's size and axis, such as 16" +
                       tags_.letters.back());
            const char letter = rest_[digits];
            const std::string block(rest_.substr(0, digits + 1));
            rest_.remove_prefix(digits + 1);
            if (is_capital(letter)) refuse(block + " is a block, whose letter is a small one");
            require_known(letter);
            if (std::ranges::count(capitals_, letter) == 0)
                refuse(block + " is a block, so that the axis before it is a capital, " +
                       capital(letter));
            if (std::ranges::count(blocked_, letter) == 2)
                refuse(std::string(1, letter) + " is cut more than twice");
            if (*size < 2 || *size > most_elements_in_blocks ||
                (elements *= *size) > most_elements_in_blocks)
                refuse(block + ": a block has two elements or more, and all of them together " +
                       std::to_string(most_elements_in_blocks) + " at most");
            blocked_.push_back(letter);
            sizes_.push_back(*size);
        }
    }

    /// As the sizes count it: the groups are in front of all.
    int axis_of(char letter) const {
        if (letter == groups) return 0;
        return static_cast<int>(tags_.letters.find(letter)) + (has_groups() ? 1 : 0);
    }

    /// The axes from the outermost on; for the spatial ones, which come behind all others in the
    /// sizes, their first.
    std::vector<int> outer() const {
        std::vector<int> outer;
        outer.reserve(axes_.size());
        for (const char letter : axes_)
            outer.push_back(letter == spatial ? static_cast<int>(axes_.size()) - 1
                                              : axis_of(letter));
        return outer;
    }
    static std::vector<int> axes_of(const std::vector<int>& outer, int rank) {
        const int first_spatial = static_cast<int>(outer.size()) - 1;
        std::vector<int> axes;
        axes.reserve(static_cast<std::size_t>(rank));
        for (const int axis : outer) {
            if (axis < first_spatial) axes.push_back(axis);
            if (axis == first_spatial)
                for (int one = axis; one < rank; ++one) axes.push_back(one);
        }
        return axes;
    }

    std::vector<AxisBlock> blocks() const {
        std::vector<AxisBlock> blocks;
        blocks.reserve(sizes_.size());
        for (std::size_t i = 0; i < sizes_.size(); ++i)
            blocks.push_back({axis_of(blocked_[i]), sizes_[i]});
        return blocks;
    }

    std::string_view rest_;
    const LayoutTags& tags_;
    std::vector<char> axes_, capitals_;  ///< in small letters, the outermost first
    std::vector<char> blocked_;          ///< of each block its axis
    std::vector<std::int64_t> sizes_;
};

}  // namespace

AxisOrder order_of_tag(std::string_view tag, const LayoutTags& tags) {
    return Reader(tag, tags).read(std::string(tag));
}

std::vector<std::string> mistakes_in_tags(const TensorSpec& tensor, const Problem& smallest,
                                          const Problem& of_most_axes) {
    const std::string &letters = tensor.tags.letters, &parameter = tensor.tags.groups;
    std::vector<std::string> mistakes;
    for (std::size_t i = 0; i < letters.size(); ++i)
        if (letters[i] < 'a' || letters[i] > 'z' || letters[i] == groups || letters[i] == spatial ||
            letters[i] == 'w' || letters.find(letters[i]) != i)
            mistakes.push_back("the tags of " + tensor.name + " have '" + letters[i] +
                               "' for an axis; give each a small letter of its own, but g, h or w");
    if (const std::size_t axes = tensor.sizes(smallest).size(); letters.size() > axes)
        mistakes.push_back("the tags of " + tensor.name + " have letters for " +
                           std::to_string(letters.size()) + " axes, and it has " +
                           std::to_string(axes));
    if (parameter.empty()) return mistakes;
    try {
        if (smallest.scalar(parameter) < 1)
            mistakes.push_back("the groups of " + tensor.name + "'s tags, " + parameter +
                               ", are at least 1: let the parameter begin there");
        if (tensor.sizes(of_most_axes).size() >= std::size_t{max_tensor_rank})
            mistakes.push_back(tensor.name + " has no room for an axis for groups: " +
                               std::to_string(max_tensor_rank) + " axes are the most");
    } catch (const std::invalid_argument& wrong) {
        mistakes.push_back("the groups of " + tensor.name + "'s tags: " + wrong.what());
    }
    return mistakes;
}

std::string example_of_tags(const LayoutTags& tags) {
    const char last = tags.letters.back();
    return tags.letters.substr(0, tags.letters.size() - 1) + capital(last) + "hw16" + last;
}

}  // namespace gradverify
