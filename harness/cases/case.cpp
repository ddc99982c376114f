// SPDX-License-Identifier: Apache-2.0
#include "harness/cases/case.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "harness/base/text.hpp"
#include "harness/operators/copies.hpp"
#include "harness/registry/element_types.hpp"

namespace gradverify {

namespace {

constexpr std::string_view format_version = "v1";

[[noreturn]] void refuse(const std::string& why) { throw std::invalid_argument("case: " + why); }

std::string print_data(const Data& data) {
    if (!data.is_explicit) return (data.is_dense ? "dense=" : "seed=") + std::to_string(data.seed);
    if (data.elements.empty()) return "data=zeros";
    std::vector<std::string> elements;
    for (const DataElement& element : data.elements)
        elements.push_back(element.tensor + "[" + std::to_string(element.index) +
                           "]=" + print_exactly(element.value));
    return "data=" + joined(elements, ",");
}

std::string print_order(const Setting& setting) {
    switch (setting.order) {
        case ThreadOrder::ascending:
            break;
        case ThreadOrder::descending:
            return "descending";
        case ThreadOrder::random_threads:
            return "threads." + std::to_string(setting.order_seed);
        case ThreadOrder::random_warps:
            return "warps." + std::to_string(setting.order_seed);
    }
    return "ascending";
}

/// Far more inputs than one output can lie in place of.
constexpr int most_places = 9;

std::string print_place(int place) {
    if (place == 0) return "own";
    return place == 1 ? "same" : "same." + std::to_string(place);
}

int parse_place(std::string_view text) {
    for (int place = 0; place <= most_places; ++place)
        if (text == print_place(place)) return place;
    refuse("place=" + std::string(text) + " is unknown; there are own, same, same.2");
}

DataElement parse_element(std::string_view text) {
    const std::size_t open = text.find('['), close = text.find("]=");
    if (open != std::string_view::npos && close != std::string_view::npos && open < close) {
        const auto index = parse_int(text.substr(open + 1, close - open - 1));
        const auto value = parse_double(text.substr(close + 2));
        if (open > 0 && index && *index >= 0 && value)
            return {std::string(text.substr(0, open)), *index, *value};
    }
    refuse("'" + std::string(text) + "' is not an element; write x[0]=1,w[3]=-0.5, or zeros");
}

void parse_order(std::string_view value, Setting& setting) {
    if (value == "ascending") return;
    if (value == "descending") {
        setting.order = ThreadOrder::descending;
        return;
    }
    const std::size_t dot = value.find('.');
    const std::string_view kind = value.substr(0, dot);
    const auto seed =
        dot == std::string_view::npos ? std::nullopt : parse_uint(value.substr(dot + 1));
    if (!seed || (kind != "threads" && kind != "warps"))
        refuse("order=" + std::string(value) +
               " is unknown; there are ascending, descending, threads.SEED, warps.SEED");
    setting.order = kind == "threads" ? ThreadOrder::random_threads : ThreadOrder::random_warps;
    setting.order_seed = *seed;
}

void parse_offsets(std::string_view value, Setting& setting) {
    for (const std::string_view part : split(value, '.')) {
        const auto offset = parse_int(part);
        if (!offset || *offset < 0 || *offset > 4096)
            refuse("offset=" + std::string(value) +
                   " is not a list of elements such as 1.0.2, each at most 4096");
        setting.offsets.push_back(static_cast<int>(*offset));
    }
    while (!setting.offsets.empty() && setting.offsets.back() == 0) setting.offsets.pop_back();
}

std::string print_layouts(const Setting& setting) {
    std::vector<std::string> parts;
    for (const auto& [tensor, layout] : setting.layouts)
        if (layout != TensorLayout{}) parts.push_back(tensor + "." + print(layout));
    return joined(parts, "+");
}

void parse_layouts(std::string_view value, Setting& setting) {
    for (const std::string_view part : split(value, '+')) {
        const std::size_t dot = part.find('.');
        const std::string tensor(part.substr(0, dot));
        try {
            if (dot == std::string_view::npos || tensor.empty())
                throw std::invalid_argument("'" + std::string(part) +
                                            "' is not a tensor and its layout, as x.nhwc");
            if (!setting.layouts.emplace(tensor, parse_layout(part.substr(dot + 1))).second)
                throw std::invalid_argument(tensor + " stands twice");
        } catch (const std::invalid_argument& wrong) {
            refuse("layout=" + std::string(value) + ": " + wrong.what());
        }
    }
}

/// Fewer copies than this say nothing of a large problem, and more no tensor holds.
constexpr std::int64_t fewest_copies = 2, most_copies = std::int64_t{1} << 40;

void parse_copies(std::string_view value, Setting& setting) {
    const std::size_t star = value.find('*');
    const auto count =
        star == std::string_view::npos ? std::nullopt : parse_int(value.substr(star + 1));
    if (!count || *count < fewest_copies || *count > most_copies)
        refuse("copies=" + std::string(value) +
               " is not along what, and how many, from 2 on, as n*65537");
    setting.copies = {.along = std::string(value.substr(0, star)), .count = *count};
}

/// What is printed is the large problem; that it is made of copies can be wrong.
void require_copies(const Operator& op, const Case& parsed) {
    const Copies& copies = *parsed.setting.copies;
    const std::string text = "copies=" + copies.along + "*" + std::to_string(copies.count);
    const SeparableSpec* along = find_separable(op, copies.along);
    if (!along)
        refuse(text + ": " + op.name + " is not separable along " + copies.along +
               "; it is along " + print_separable(op));
    if (!one_copy(parsed.problem, *along, copies.count))
        refuse(text + ": " + parsed.problem.print() + " is not so many copies of a problem along " +
               joined(along->parameters));
    if (parsed.data.is_explicit)
        refuse(text + ": the data of a large problem are drawn, by seed=... or dense=...");
    if (parsed.setting.before) refuse(text + ": there is no call before one on a large problem");
}

/// Reads one `name=value` field behind the positional ones.
void parse_field(std::string_view name, std::string_view value, const ParameterSpace& space,
                 Case& parsed) {
    if (name == "seed" || name == "dense") {
        const auto seed = parse_uint(value);
        if (!seed)
            refuse(std::string(name) + "=" + std::string(value) +
                   " is not a whole number from 0 to 2^64-1");
        parsed.data.seed = *seed;
        parsed.data.is_dense = name == "dense";
    } else if (name == "data") {
        parsed.data.is_explicit = true;
        if (value == "zeros") return;
        for (const std::string_view text : split(value, ',')) {
            DataElement element = parse_element(text);
            for (const DataElement& other : parsed.data.elements)
                if (other.tensor == element.tensor && other.index == element.index)
                    refuse("the element " + element.tensor + "[" + std::to_string(element.index) +
                           "] stands twice");
            parsed.data.elements.push_back(std::move(element));
        }
    } else if (name == "order") {
        parse_order(value, parsed.setting);
    } else if (name == "offset") {
        parse_offsets(value, parsed.setting);
    } else if (name == "block") {
        const auto threads = parse_int(value);
        if (!threads || *threads < 1 || *threads > 1024)
            refuse("block=" + std::string(value) + " is not a number of threads in 1..1024");
        parsed.setting.block_size = static_cast<int>(*threads);
    } else if (name == "stream") {
        if (value != "own" && value != "default")
            refuse("stream=" + std::string(value) + " is unknown; there are default, own");
        parsed.setting.own_stream = value == "own";
    } else if (name == "place") {
        parsed.setting.place = parse_place(value);
    } else if (name == "layout") {
        parse_layouts(value, parsed.setting);
    } else if (name == "mask") {
        const auto mask = parse_uint(value);
        if (!mask || *mask >= Setting::every_output)
            refuse("mask=" + std::string(value) +
                   " is no set of outputs: the bit 2^i asks for output i, counted from 0");
        parsed.setting.output_mask = static_cast<std::uint32_t>(*mask);
    } else if (name == "copies") {
        parse_copies(value, parsed.setting);
    } else if (name == "before") {
        parsed.setting.before = Problem::parse(space, value);
    } else {
        refuse("there is no field '" + std::string(name) +
               "'; there are seed, dense, data, order, offset, block, stream, place, layout, mask, "
               "before, copies");
    }
}

void parse_fields(std::span<const std::string_view> fields, const ParameterSpace& space,
                  Case& parsed) {
    std::set<std::string_view> seen;
    for (const std::string_view field : fields) {
        const std::size_t equals = field.find('=');
        const std::string_view name = field.substr(0, equals);
        if (equals == std::string_view::npos)
            refuse("the field '" + std::string(field) + "' is not of the form name=value");
        if (!seen.insert(name).second) refuse("the field " + std::string(name) + " stands twice");
        parse_field(name, field.substr(equals + 1), space, parsed);
    }
    if (seen.count("seed") + seen.count("dense") + seen.count("data") != 1)
        refuse("exactly one of seed=..., dense=... and data=... is needed");
}

}  // namespace

std::optional<std::string> why_unsupported(const Kernel& kernel, const Setting& setting) {
    const KernelDeclaration& declared = kernel.any();
    const auto& blocks = declared.block_sizes;
    if (setting.block_size != 0 && std::ranges::find(blocks, setting.block_size) == blocks.end()) {
        std::vector<std::string> sizes;
        sizes.reserve(blocks.size());
        for (const int size : blocks) sizes.push_back(std::to_string(size));
        return "block=" + std::to_string(setting.block_size) +
               (blocks.empty() ? ", but it declares no block sizes"
                               : " is not one of its block sizes " + joined(sizes));
    }
    const std::vector<std::string> tensors = kernel.pass->tensors();
    if (setting.offsets.size() > tensors.size())
        return std::to_string(setting.offsets.size()) + " offsets, but it has " +
               std::to_string(tensors.size()) + " tensors";
    const auto element_bytes_of = [&](std::size_t buffer) {
        const DType dtype = dtype_of(declared, *kernel.op, tensors[buffer]);
        return static_cast<std::int64_t>(traits_of(dtype).bytes);
    };
    for (std::size_t i = 0; i < setting.offsets.size(); ++i)
        if (const int offset = setting.offsets[i];
            offset * element_bytes_of(i) % declared.base_alignment_bytes != 0)
            return "offset " + std::to_string(offset) + " breaks its alignment of " +
                   std::to_string(declared.base_alignment_bytes) + " bytes";
    if (setting.own_stream && declared.stream_use == StreamUse::default_stream)
        return std::string("stream=own, but it declares the default stream");
    if (setting.place > declared.places())
        return "place=" + print_place(setting.place) +
               (declared.places() == 0 ? ", but it declares no in_place() outputs"
                                       : ", but no output has so many inputs to lie in place of");
    for (const auto& [tensor, layout] : setting.layouts)
        if (auto why = why_unsupported(*kernel.op, *kernel.pass, declared, tensor, layout))
            return why;
    if (setting.output_mask != Setting::every_output) {
        if (!declared.takes_output_mask)
            return "mask=" + std::to_string(setting.output_mask) + ", but it takes no output mask";
        if (setting.output_mask >> kernel.pass->outputs.size() != 0)
            return "mask=" + std::to_string(setting.output_mask) + ", but it has " +
                   std::to_string(kernel.pass->outputs.size()) + " outputs";
    }
    if (!setting.before) return std::nullopt;
    if (const auto why = kernel.op->validate(*setting.before)) return "before: " + *why;
    if (const auto why = kernel.why_unsupported(*setting.before)) return "before: it " + *why;
    return std::nullopt;
}

std::string Case::print() const {
    std::vector<std::string> fields{
        std::string(format_version), kernel, property, device, problem.print(), print_data(data)};
    if (setting.order != ThreadOrder::ascending) fields.push_back("order=" + print_order(setting));
    std::vector<std::string> offsets;
    for (const int offset : setting.offsets) offsets.push_back(std::to_string(offset));
    // As if left out, so that one case has one text.
    while (!offsets.empty() && offsets.back() == "0") offsets.pop_back();
    if (!offsets.empty()) fields.push_back("offset=" + joined(offsets, "."));
    if (setting.block_size != 0) fields.push_back("block=" + std::to_string(setting.block_size));
    if (setting.own_stream) fields.push_back("stream=own");
    if (setting.place != 0) fields.push_back("place=" + print_place(setting.place));
    if (const std::string layouts = print_layouts(setting); !layouts.empty())
        fields.push_back("layout=" + layouts);
    if (setting.output_mask != Setting::every_output)
        fields.push_back("mask=" + std::to_string(setting.output_mask));
    if (setting.before) fields.push_back("before=" + setting.before->print());
    if (setting.copies)
        fields.push_back("copies=" + setting.copies->along + "*" +
                         std::to_string(setting.copies->count));
    return joined(fields, ":");
}

Case Case::parse(std::string_view text, const Registry& registry) {
    const std::vector<std::string_view> fields = split(text, ':');
    if (fields.front() != format_version)
        refuse("it begins with '" + std::string(fields.front()) + "', but this gradverify reads " +
               std::string(format_version) + ":KERNEL:PROPERTY:DEVICE:PROBLEM:seed=N");
    if (fields.size() < 6)
        refuse("it has " + std::to_string(fields.size()) +
               " fields; v1:KERNEL:PROPERTY:DEVICE:PROBLEM:seed=N has six, or more");
    const Kernel* kernel = registry.find_kernel(fields[1]);
    if (!kernel) {
        std::vector<std::string> names;
        for (const Kernel& known : registry.kernels()) names.push_back(known.name);
        refuse("there is no kernel '" + std::string(fields[1]) + "'" +
               did_you_mean(fields[1], names) + " (`gradverify list` prints them)");
    }
    if (fields[3] != "cpu" && fields[3] != "cuda")
        refuse("there is no device '" + std::string(fields[3]) + "'; there are cpu, cuda");
    Case parsed{.kernel = std::string(fields[1]),
                .property = std::string(fields[2]),
                .device = std::string(fields[3]),
                .problem = Problem::parse(kernel->op->space, fields[4]),
                .data = {},
                .setting = {}};
    parse_fields(std::span(fields).subspan(5), kernel->op->space, parsed);
    if (parsed.setting.copies) require_copies(*kernel->op, parsed);
    return parsed;
}

}  // namespace gradverify
