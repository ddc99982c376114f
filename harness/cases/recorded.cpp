// SPDX-License-Identifier: Apache-2.0
#include "harness/cases/recorded.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "harness/base/refuse.hpp"
#include "harness/base/text.hpp"
#include "harness/cases/compare.hpp"
#include "harness/numbers/element_bits.hpp"
#include "harness/registry/element_types.hpp"

namespace gradverify {

namespace {

std::string print(const Sizes& sizes) { return fmt::format("({})", fmt::join(sizes, ", ")); }

/// The inputs and the cotangents of outputs.
std::vector<std::string> tensors_to_give(const Operator& op) {
    std::vector<std::string> names = names_of(op.inputs);
    for (const std::string& y : op.differentiable_outputs()) names.push_back("d" + y);
    return names;
}

/// Takes parameters from sizes, one by one, as long as an axis depends on one alone that is open.
class Solver {
  public:
    Solver(const Operator& op, const TensorFiles& files, std::string_view text, int rank)
        : op_(op), files_(files), problem_(read(op, text, rank)) {
        for (const std::string& name : tensors_to_give(op))
            (files.find(name) ? given_ : drawn_).push_back(name);
        for (int slot = 0; slot < static_cast<int>(problem_.slots().size()); ++slot)
            if (!op.space.spec(rank, slot).is_real() && !is_told(text, slot)) open_.push_back(slot);
        while (take_one()) {
        }
    }

    const Problem& problem() const { return problem_; }

    /// Whether each tensor has as many axes as the file's.
    bool has_their_axes() const {
        return std::ranges::all_of(given_, [&](const std::string& name) {
            const auto sizes = sizes_of(name, problem_);
            return sizes && sizes->size() == files_.find(name)->sizes.size();
        });
    }

    /// The parameters that are still open although a tensor's size depends on them.
    std::vector<std::string> missing() const {
        std::vector<std::string> names;
        for (const int slot : open_)
            if (std::ranges::any_of(given_,
                                    [&](const auto& name) { return depends(name, slot); }) ||
                std::ranges::any_of(drawn_, [&](const auto& name) { return depends(name, slot); }))
                names.push_back(problem_.slots()[static_cast<std::size_t>(slot)].name);
        return names;
    }

    /// The first tensor that is of another size than the problem says; empty where all fit.
    std::string misfit() const {
        for (const std::string& name : given_) {
            const auto sizes = sizes_of(name, problem_);
            const Sizes& there = files_.find(name)->sizes;
            if (sizes != there)
                return fmt::format("{} of {} has the sizes {}, and on {} it has {}", name,
                                   files_.file_of(name), print(there), problem_.print(),
                                   sizes ? print(*sizes) : "none");
        }
        return {};
    }

  private:
    static Problem read(const Operator& op, std::string_view text, int rank) {
        return text.empty() ? Problem(op.space, rank) : Problem::parse(op.space, text);
    }

    /// Whether the text gives the parameter of this slot.
    bool is_told(std::string_view text, int slot) const {
        return std::ranges::any_of(split(text, ','), [&](std::string_view part) {
            const auto slots = op_.space.find(part.substr(0, part.find('=')), problem_.rank());
            return std::ranges::count(slots, slot) > 0;
        });
    }

    /// Nothing where the operator gives the tensor no size on such a problem.
    std::optional<Sizes> sizes_of(const std::string& name, const Problem& problem) const try {
        return op_.sizes_of(name, problem);
    } catch (const std::exception&) {
        return std::nullopt;
    }

    Problem moved(int slot, std::int64_t by) const {
        Problem other = problem_;
        other[slot] += by;
        return other;
    }

    bool depends(const std::string& name, int slot) const {
        return sizes_of(name, moved(slot, 1)) != sizes_of(name, problem_);
    }

    /// The size of an axis; nothing where there is none.
    std::optional<std::int64_t> size_of(const std::string& name, std::size_t axis,
                                        const Problem& problem) const {
        const auto sizes = sizes_of(name, problem);
        return sizes && axis < sizes->size() ? std::optional((*sizes)[axis]) : std::nullopt;
    }

    bool depends_on_another(const std::string& name, std::size_t axis, int slot) const {
        return std::ranges::any_of(open_, [&](int other) {
            return other != slot &&
                   size_of(name, axis, moved(other, 1)) != size_of(name, axis, problem_);
        });
    }

    /// The one value of a parameter on which an axis depends in proportion.
    std::optional<std::int64_t> value_for(const std::string& name, std::size_t axis,
                                          int slot) const {
        const auto here = size_of(name, axis, problem_), next = size_of(name, axis, moved(slot, 1));
        const std::int64_t wanted = files_.find(name)->sizes[axis];
        if (!here || !next || *here == *next || (wanted - *here) % (*next - *here) != 0)
            return std::nullopt;
        const std::int64_t by = (wanted - *here) / (*next - *here);
        const ParameterSpec& spec = op_.space.spec(problem_.rank(), slot);
        const std::int64_t value = problem_[slot] + by;
        if (value < spec.minimum || value > spec.maximum ||
            size_of(name, axis, moved(slot, by)) != wanted)
            return std::nullopt;
        return value;
    }

    bool take_one() {
        for (const int slot : open_)
            for (const std::string& name : given_)
                for (std::size_t axis = 0; axis < files_.find(name)->sizes.size(); ++axis) {
                    if (depends_on_another(name, axis, slot)) continue;
                    const auto value = value_for(name, axis, slot);
                    if (!value) continue;
                    problem_[slot] = *value;
                    std::erase(open_, slot);
                    return true;
                }
        return false;
    }

    const Operator& op_;
    const TensorFiles& files_;
    Problem problem_;
    std::vector<std::string> given_, drawn_;
    std::vector<int> open_;  ///< slots without a value
};

/// The numbers of spatial axes that the problem may have; a text says how many.
RankRange ranks_of(const Operator& op, std::string_view text) {
    if (text.empty()) return op.space.ranks();
    const int rank = Problem::parse(op.space, text).rank();
    return {rank, rank};
}

}  // namespace

Problem problem_of(const Operator& op, const TensorFiles& files, std::string_view text) {
    const std::vector<std::string> names = tensors_to_give(op);
    if (std::ranges::none_of(names, [&](const auto& name) { return files.find(name); })) {
        std::vector<std::string> there;
        for (const auto& [name, tensor] : files.tensors()) there.push_back(name);
        refuse("{} takes {}, and the files hold {}", op.name, joined(names),
               there.empty() ? "nothing" : joined(there));
    }
    std::optional<Solver> solved;
    const RankRange ranks = ranks_of(op, text);
    for (int rank = ranks.least; rank <= ranks.most; ++rank) {
        Solver solver(op, files, text, rank);
        if (!solved || (!solved->has_their_axes() && solver.has_their_axes()))
            solved.emplace(std::move(solver));
    }
    const auto missing = solved->missing();
    if (!missing.empty() && solved->has_their_axes())
        refuse("the tensors' sizes leave open {}; give {} in --problem, beside {}", joined(missing),
               missing.size() == 1 ? "it" : "them", solved->problem().print());
    if (const std::string misfit = solved->misfit(); !misfit.empty())
        throw std::invalid_argument(misfit);
    if (const auto why = op.validate(solved->problem())) throw std::invalid_argument(*why);
    return solved->problem();
}

std::optional<Array<double>> recorded_tensor(const std::vector<std::string>& files,
                                             const Operator& op, const Problem& problem,
                                             const ElementTypes& types, const std::string& name) {
    if (files.empty()) return std::nullopt;
    const TensorFiles& read = tensor_files(files);
    const StoredTensor* const stored = read.find(name);
    if (!stored) return std::nullopt;
    const TensorSpec& tensor = op.tensor_named(name);
    const bool is_input = tensor.name == name;  // not a cotangent, which may be any number
    if (const Sizes sizes = op.sizes_of(name, problem); sizes != stored->sizes)
        refuse("data: {} of {} has the sizes {}, and on {} it has {}", name, read.file_of(name),
               print(stored->sizes), problem.print(), print(sizes));
    Array<double> array{stored->sizes, stored->values()};
    const DType dtype = types.of(op, name);
    for (std::size_t i = 0; i < array.data.size(); ++i) {
        double& element = array.data[i];
        const double recorded = std::exchange(element, rounded_to(dtype, element));
        const bool is_beyond = std::isfinite(recorded) && !std::isfinite(element);
        const bool may_be =
            !std::isfinite(element)
                ? is_input && types.may_be_nan(tensor)
                : !is_input || tensor.admits(element, problem) || types.may_be_invalid(tensor);
        if (may_be && !is_beyond) continue;
        refuse("data: element {} of {} in {} is {}, which is {}", i, name, read.file_of(name),
               print_exactly(recorded),
               is_beyond ? fmt::format("beyond the largest {}", traits_of(dtype).name)
                         : "outside of the tensor's values");
    }
    if (is_input && tensor.arrangement != Arrangement::free) try {
            Array<double> arranged = array;
            complete(arranged, tensor.arrangement, tensor.domain_at(problem));
        } catch (const std::invalid_argument& wrong) {
            refuse("data: in {}, {}{}", read.file_of(name), name, wrong.what());
        }
    return array;
}

std::vector<std::string> remarks_on(const std::vector<std::string>& files, const Kernel& kernel,
                                    const Problem& problem) {
    const Operator& op = *kernel.op;
    const ElementTypes types(kernel.any(), op);
    const TensorFiles& read = tensor_files(files);
    const std::vector<std::string> names = tensors_to_give(op);
    std::vector<std::string> remarks;
    for (const auto& [name, stored] : read.tensors()) {
        if (std::ranges::find(names, name) == names.end()) {
            remarks.push_back(
                op.is_output(name)
                    ? name + " is left out: outputs are the reference's"
                    : fmt::format("{} is left out: {} takes no such tensor", name, op.name));
            continue;
        }
        const auto taken = recorded_tensor(files, op, problem, types, name);
        const std::vector<double> recorded = stored.values();
        std::int64_t changed = 0;
        for (std::size_t i = 0; i < recorded.size(); ++i)
            changed += !(recorded[i] == taken->data[i] || std::isnan(recorded[i]));
        if (changed > 0)
            remarks.push_back(
                fmt::format("{} is {}, and {} takes {}: {} of {} elements are rounded", name,
                            traits_of(stored.dtype).name, kernel.name,
                            traits_of(types.of(op, name)).name, changed, recorded.size()));
    }
    return remarks;
}

}  // namespace gradverify
