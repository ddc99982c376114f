// SPDX-License-Identifier: Apache-2.0
#include "harness/devices/large/large_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include "harness/devices/poison.hpp"

namespace gradverify {

namespace {

// An offset that wraps in 16 bits stays within this; one that wraps in 32 leaves any guard.
constexpr std::int64_t guard_of_large = std::int64_t{1} << 20;
// The driver and the kernel's own module take some, too.
constexpr double spare_bytes = 0x1p28;

using Block = std::unique_ptr<std::byte, std::function<void(std::byte*)>>;

struct LacksMemory {
    double bytes;
};

std::string elements_text(std::int64_t count) {
    return fmt::format("{} element{}", count, count == 1 ? "" : "s");
}

class LargeRig {
  public:
    explicit LargeRig(const LargeCall& call)
        : call_(call),
          memory_(call.device.large_memory()),
          declaration_(*call.kernel.on(call.device.name())) {}

    LargeResult run() {
        LargeResult result;
        const double bytes = bytes_needed();
        const auto free = static_cast<double>(memory_.free_bytes());
        try {
            if (bytes + spare_bytes > free) throw LacksMemory{bytes};
            place();
        } catch (const LacksMemory& lacking) {
            result.lacks_memory = fmt::format("needs {} of device memory, of which {} are free",
                                              print_bytes(lacking.bytes), print_bytes(free));
            return result;
        }
        const RunStatus status = launch();
        result.seconds = status.seconds;
        result.complaint = status.ok() ? stray_write() : status.error;
        if (result.complaint.empty())
            for (std::size_t i = 0; i < outputs(); ++i) compare_output(i, result);
        return result;
    }

  private:
    std::size_t inputs() const { return call_.kernel.pass->inputs.size(); }
    std::size_t outputs() const { return call_.kernel.pass->outputs.size(); }
    const LargeTensor& output(std::size_t i) const { return call_.tensors[inputs() + i]; }

    double bytes_needed() const {
        double bytes = static_cast<double>(declaration_.workspace_at(call_.problem));
        for (const LargeTensor& tensor : call_.tensors) {
            if (!tensor.lies_in) bytes += static_cast<double>(tensor.bytes() + 2 * guard_of_large);
            bytes += 8.0 * static_cast<double>(tensor.bits_of_drawn.size() +
                                               tensor.bits_of_others.size());
            bytes += static_cast<double>(sizeof(WantedValue) * (tensor.wanted.of_drawn.size() +
                                                                tensor.wanted.of_others.size()));
        }
        return bytes;
    }

    std::byte* allocate(std::int64_t bytes) {
        blocks_.emplace_back(memory_.allocate(static_cast<std::size_t>(bytes)),
                             [this](std::byte* memory) { memory_.release(memory); });
        if (!blocks_.back()) throw LacksMemory{bytes_needed()};
        return blocks_.back().get();
    }

    template <class T>
    const T* upload(const std::vector<T>& table) {
        std::byte* const at = allocate(static_cast<std::int64_t>(table.size() * sizeof(T)));
        memory_.upload(at, std::as_bytes(std::span(table)));
        return reinterpret_cast<const T*>(at);
    }

    static int bytes_of(DType dtype) { return static_cast<int>(traits_of(dtype).bytes); }
    static std::int64_t guard_elements(DType dtype) { return guard_of_large / bytes_of(dtype); }

    Pattern poison(DType dtype, std::byte* at) const {
        const std::uint64_t bits = poison_bits(dtype, call_.poison);
        return {at, bytes_of(dtype), bits, bits};
    }
    Pattern guard(DType dtype, std::byte* at) const {
        const bool even_is_nan = call_.guard_parity == 0;
        return {at, bytes_of(dtype), guard_bits(dtype, even_is_nan),
                guard_bits(dtype, !even_is_nan)};
    }

    /// A buffer between two guards: where its elements begin.
    std::byte* place(DType dtype, std::int64_t bytes) {
        std::byte* const begin = allocate(bytes + 2 * guard_of_large);
        for (std::byte* const at : {begin, begin + guard_of_large + bytes})
            memory_.fill(guard(dtype, at), guard_elements(dtype));
        return begin + guard_of_large;
    }

    void place() {
        for (const LargeTensor& tensor : call_.tensors) {
            if (tensor.lies_in) {
                data_.push_back(data_[*tensor.lies_in]);
                copies_.push_back(copies_[*tensor.lies_in]);
                continue;
            }
            std::byte* const data = place(tensor.dtype, tensor.bytes());
            data_.push_back(data);
            copies_.push_back(
                {{tensor.layout, tensor.drawn}, data, tensor.element_bytes(), nullptr, nullptr});
            if (tensor.bits_of_drawn.empty()) {
                memory_.fill(poison(tensor.dtype, data), tensor.elements());
                continue;
            }
            copies_.back().of_drawn = upload(tensor.bits_of_drawn);
            copies_.back().of_others = upload(tensor.bits_of_others);
            memory_.fill(copies_.back(), tensor.elements());
        }
        if (const auto bytes = declaration_.workspace_at(call_.problem); bytes > 0) {
            const std::int64_t floats = (bytes + 3) / 4;
            workspace_ = place(DType::f32, 4 * floats);
            memory_.fill(poison(DType::f32, workspace_), floats);
        }
    }

    RunStatus launch() {
        std::vector<TensorView> views;
        for (const LargeTensor& tensor : call_.tensors)
            views.push_back(
                view_of(data_[views.size()], tensor.dtype, tensor.sizes, tensor.strides));
        const std::vector<std::string> names = call_.kernel.pass->tensors();
        const PassCall pass_call{.problem = call_.problem,
                                 .tensors = views,
                                 .launch = launch_of(call_.device, declaration_, call_.problem,
                                                     call_.setting, workspace_),
                                 .names = names,
                                 .outputs = outputs()};
        return run_launcher(call_.device, declaration_, pass_call, call_.setting,
                            DelayedStream::none);
    }

    bool is_written(std::size_t tensor) const {
        return tensor >= inputs() ||
               std::ranges::count(call_.tensors, tensor, &LargeTensor::lies_in) > 0;
    }

    /// The first write outside of the outputs, as a sentence; empty when there is none.
    std::string stray_write() {
        for (std::size_t i = 0; i < call_.tensors.size(); ++i) {
            const LargeTensor& tensor = call_.tensors[i];
            if (tensor.lies_in) continue;
            if (auto found = stray_at_guards(tensor, data_[i]); !found.empty()) return found;
            if (is_written(i)) continue;
            const Differences changed = memory_.differences(copies_[i], tensor.elements());
            if (changed.count > 0)
                return fmt::format("changed its input {} ({}, the first at element {} in memory)",
                                   tensor.name, elements_text(changed.count), changed.first);
        }
        return {};
    }

    std::string stray_at_guards(const LargeTensor& tensor, std::byte* data) {
        const std::int64_t guarded = guard_elements(tensor.dtype);
        const auto changes_at = [&](std::byte* begin) {
            return memory_.differences(guard(tensor.dtype, begin), guarded);
        };
        const Differences before = changes_at(data - guard_of_large);
        if (before.count > 0)
            return fmt::format("wrote {} before the start of {}, the first at element {}",
                               elements_text(before.count), tensor.name, before.first - guarded);
        const Differences after = changes_at(data + tensor.bytes());
        if (after.count == 0) return {};
        return fmt::format("wrote {} past the end of {}, the first at element {} of {}",
                           elements_text(after.count), tensor.name, tensor.elements() + after.first,
                           tensor.elements());
    }

    Differences differences(std::size_t i, const WantedTables& wanted) {
        const LargeTensor& tensor = output(i);
        const CopiedValues values{
            {tensor.layout, tensor.drawn}, data_[inputs() + i], tensor.dtype,
            tensor.element_bytes(),        tensor.admits_nan,   upload(wanted.of_drawn),
            upload(wanted.of_others)};
        return memory_.differences(values, tensor.elements());
    }

    void compare_output(std::size_t i, LargeResult& result) {
        const LargeTensor& tensor = output(i);
        Differences wrong = differences(i, tensor.wanted);
        Comparison comparison;
        if (wrong.count > 0 && tensor.wanted_by_any_formula) {
            const Differences beyond = differences(i, tensor.wanted_by_any_formula());
            if (beyond.count == 0) comparison.imprecision = imprecision_of(i, wrong);
            wrong = beyond;
        }
        comparison.saw_nonzero = std::ranges::any_of(
            tensor.wanted.of_drawn,
            [](const WantedValue& want) { return !want.bound.accepts(0.0, want.value); });
        comparison.map = {.tensor = tensor.name,
                          .sizes = tensor.sizes,
                          .wrong = wrong.count,
                          .total = tensor.elements()};
        if (wrong.count > 0) {
            comparison.ok = false;
            comparison.worst.push_back(element_at(i, wrong.first));
            if (wrong.last != wrong.first) comparison.worst.push_back(element_at(i, wrong.last));
            if (!result.places.empty()) result.places += "; ";
            result.places += place_of(tensor, wrong);
        }
        result.comparisons.push_back(std::move(comparison));
    }

    /// Where all that differ are imprecise alone; the first stands for them.
    Imprecision imprecision_of(std::size_t i, const Differences& found) {
        Imprecision imprecision{.worst = element_at(i, found.first), .elements = found.count};
        for (const auto* table : {&output(i).wanted.of_drawn, &output(i).wanted.of_others})
            for (const WantedValue& want : *table)
                if (std::isfinite(want.value))
                    imprecision.largest = std::max(imprecision.largest, std::abs(want.value));
        return imprecision;
    }

    WrongElement element_at(std::size_t i, std::int64_t element) {
        const LargeTensor& tensor = output(i);
        const int bytes = tensor.element_bytes();
        std::uint64_t bits = 0;
        memory_.download(
            data_[inputs() + i] + element * bytes,
            std::as_writable_bytes(std::span(&bits, 1)).first(static_cast<std::size_t>(bytes)));
        const PlacedCopies copies{tensor.layout, tensor.drawn};
        const WantedValue& want =
            copies.in(tensor.wanted.of_drawn.data(), tensor.wanted.of_others.data(), element);
        return {.tensor = tensor.name,
                .index = index_in_memory(element, tensor.sizes, tensor.strides),
                .got = number_of(tensor.dtype, bits),
                .want = want.value,
                .bound = want.bound.most(),
                .dtype = tensor.dtype};
    }

    static std::string place_of(const LargeTensor& tensor, const Differences& wrong) {
        const int bytes = tensor.element_bytes();
        std::string text = fmt::format(
            "{} is wrong from element {} to {} in memory, bytes {} to {}", tensor.name, wrong.first,
            wrong.last, wrong.first * bytes, wrong.last * bytes + bytes - 1);
        if (tensor.layout.copies > 1)
            text += fmt::format(", of copies 0 to {} from {} to {}", tensor.layout.copies - 1,
                                copy_of(tensor.layout, wrong.first),
                                copy_of(tensor.layout, wrong.last));
        return text;
    }

    const LargeCall& call_;
    LargeMemory& memory_;
    const KernelDeclaration& declaration_;
    std::vector<Block> blocks_;
    std::vector<std::byte*> data_;    ///< of each tensor
    std::vector<CopiedBits> copies_;  ///< what it held before the call
    std::byte* workspace_ = nullptr;
};

}  // namespace

LargeResult call_on_large(const LargeCall& call) { return LargeRig(call).run(); }

Sizes index_in_memory(std::int64_t element, const Sizes& sizes, const Strides& strides) {
    Sizes index(sizes.size());
    for (std::size_t axis = 0; axis < sizes.size(); ++axis)
        index[axis] = element / strides[axis] % sizes[axis];
    return index;
}

std::string print_bytes(double bytes) {
    const char* unit = "bytes";
    for (const char* larger : {"KiB", "MiB", "GiB"}) {
        if (bytes < 1024.0) break;
        bytes /= 1024.0;
        unit = larger;
    }
    return bytes == std::floor(bytes) ? fmt::format("{:.0f} {}", bytes, unit)
                                      : fmt::format("{:.1f} {}", bytes, unit);
}

}  // namespace gradverify
