// SPDX-License-Identifier: Apache-2.0
#include "harness/cases/case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <stdexcept>
#include <utility>

#include "harness/base/refuse.hpp"
#include "harness/base/text.hpp"
#include "harness/cases/tensor_file.hpp"
#include "harness/operators/copies.hpp"
#include "harness/registry/element_types.hpp"

namespace gradverify {

namespace {

constexpr std::string_view format_version = "v1";

template <class... Values>
[[noreturn]] void refuse_case(fmt::format_string<Values...> why, Values&&... values) {
    refuse("case: {}", fmt::format(why, std::forward<Values>(values)...));
}

// A path may hold what ends a field, or a word of the shell's.
constexpr std::string_view reserved_in_paths = ":,% \t\n\r";

std::string print_path(std::string_view path) {
    std::string text;
    for (const char c : path)
        text += reserved_in_paths.find(c) == std::string_view::npos
                    ? std::string(1, c)
                    : fmt::format("%{:02x}", static_cast<unsigned char>(c));
    return text;
}

std::string parse_path(std::string_view text) {
    std::string path;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            path += text[i];
            continue;
        }
        const std::string_view digits = text.substr(i + 1, 2);
        unsigned value = 0;
        const auto [end, wrong] = std::from_chars(digits.begin(), digits.end(), value, 16);
        const char c = static_cast<char>(value);
        if (digits.size() != 2 || wrong != std::errc() || end != digits.end() ||
            reserved_in_paths.find(c) == std::string_view::npos)
            refuse_case("data={}: % stands before two digits, as %3a for a colon", text);
        path += c;
        i += 2;
    }
    return path;
}

std::string print_data(const Data& data) {
    if (!data.files.empty()) {
        Data drawn = data;
        drawn.files.clear();
        std::vector<std::string> paths;
        for (const std::string& file : data.files) paths.push_back(print_path(file));
        return "data=" + joined(paths, ",") + ":" + print_data(drawn);
    }
    if (!data.is_explicit) return fmt::format("{}={}", data.is_dense ? "dense" : "seed", data.seed);
    if (data.elements.empty()) return "data=zeros";
    std::vector<std::string> elements;
    for (const auto& [tensor, index, value] : data.elements)
        elements.push_back(fmt::format("{}[{}]={}", tensor, index, print_exactly(value)));
    return "data=" + joined(elements, ",");
}

/// The names of each ThreadOrder, in its order; the last two have a seed.
constexpr std::array<std::string_view, 4> order_names{"ascending", "descending", "threads",
                                                      "warps"};

bool has_seed(ThreadOrder order) { return order >= ThreadOrder::random_threads; }

std::string print_order(const Setting& setting) {
    std::string text(order_names[static_cast<std::size_t>(setting.order)]);
    if (has_seed(setting.order)) text += "." + std::to_string(setting.order_seed);
    return text;
}

/// Far more inputs than one output can lie in place of.
constexpr int most_places = 9;

std::string print_place(int place) {
    if (place == 0) return "own";
    return place == 1 ? "same" : fmt::format("same.{}", place);
}

int parse_place(std::string_view text) {
    for (int place = 0; place <= most_places; ++place)
        if (text == print_place(place)) return place;
    refuse_case("place={} is unknown; there are own, same, same.2", text);
}

DataElement parse_element(std::string_view text) {
    const std::size_t open = text.find('['), close = text.find("]=");
    if (open != std::string_view::npos && close != std::string_view::npos && open < close) {
        const auto index = parse_int(text.substr(open + 1, close - open - 1));
        const auto value = parse_double(text.substr(close + 2));
        if (open > 0 && index && *index >= 0 && value)
            return {std::string(text.substr(0, open)), *index, *value};
    }
    refuse_case("'{}' is not an element; write x[0]=1,w[3]=-0.5, or zeros", text);
}

void parse_order(std::string_view value, Setting& setting) {
    const std::vector<std::string_view> parts = split(value, '.');
    const auto named = std::ranges::find(order_names, parts.front());
    setting.order = static_cast<ThreadOrder>(named - order_names.begin());
    const auto seed = parse_uint(parts.back());
    if (named == order_names.end() || parts.size() != (has_seed(setting.order) ? 2 : 1) ||
        (has_seed(setting.order) && !seed))
        refuse_case(
            "order={} is unknown; there are ascending, descending, threads.SEED, warps.SEED",
            value);
    setting.order_seed = seed.value_or(0);
}

void parse_offsets(std::string_view value, Setting& setting) {
    for (const std::string_view part : split(value, '.')) {
        const auto offset = parse_int(part);
        if (!offset || *offset < 0 || *offset > 4096)
            refuse_case("offset={} is not a list of elements such as 1.0.2, each at most 4096",
                        value);
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
                refuse("'{}' is not a tensor and its layout, as x.nhwc", part);
            if (!setting.layouts.emplace(tensor, parse_layout(part.substr(dot + 1))).second)
                throw std::invalid_argument(tensor + " stands twice");
        } catch (const std::invalid_argument& wrong) {
            refuse_case("layout={}: {}", value, wrong.what());
        }
    }
}

constexpr std::int64_t fewest_copies = 2, most_copies = std::int64_t{1} << 40;

void parse_copies(std::string_view value, Setting& setting) {
    const std::size_t star = value.find('*');
    const auto count =
        star == std::string_view::npos ? std::nullopt : parse_int(value.substr(star + 1));
    if (!count || *count < fewest_copies || *count > most_copies)
        refuse_case("copies={} is not along what, and how many, from 2 on, as n*65537", value);
    setting.copies = {.along = std::string(value.substr(0, star)), .count = *count};
}

std::string print_copies(const Copies& copies) {
    return fmt::format("copies={}*{}", copies.along, copies.count);
}

/// Throws unless the printed problem is a large one that is made of these copies.
void require_copies(const Operator& op, const Case& parsed) {
    const Copies& copies = *parsed.setting.copies;
    const std::string text = print_copies(copies);
    const SeparableSpec* along = find_named(op.separable, copies.along);
    if (!along)
        refuse_case("{}: {} is not separable along {}; it is along {}", text, op.name, copies.along,
                    op.separable.empty() ? "nothing" : joined(names_of(op.separable)));
    if (!one_copy(parsed.problem, *along, copies.count))
        refuse_case("{}: {} is not so many copies of a problem along {}", text,
                    parsed.problem.print(), joined(along->parameters));
    if (parsed.data.is_explicit || !parsed.data.files.empty())
        refuse_case("{}: the data of a large problem are drawn, by seed=... or dense=...", text);
    if (parsed.setting.before)
        refuse_case("{}: there is no call before one on a large problem", text);
}

/// Reads one `name=value` field behind the positional ones.
void parse_field(std::string_view name, std::string_view value, const ParameterSpace& space,
                 Case& parsed) {
    if (name == "seed" || name == "dense") {
        const auto seed = parse_uint(value);
        if (!seed) refuse_case("{}={} is not a whole number from 0 to 2^64-1", name, value);
        parsed.data.seed = *seed;
        parsed.data.is_dense = name == "dense";
    } else if (name == "data" && is_tensor_file(value)) {
        for (const std::string_view file : split(value, ',')) {
            parsed.data.files.push_back(parse_path(file));
            if (!is_tensor_file(file))
                refuse_case("data={}: files end in .safetensors or .npy", value);
        }
    } else if (name == "data") {
        parsed.data.is_explicit = true;
        if (value == "zeros") return;
        std::set<std::pair<std::string, std::int64_t>> seen;
        for (const std::string_view text : split(value, ',')) {
            DataElement element = parse_element(text);
            if (!seen.emplace(element.tensor, element.index).second)
                refuse_case("the element {}[{}] stands twice", element.tensor, element.index);
            parsed.data.elements.push_back(std::move(element));
        }
    } else if (name == "order") {
        parse_order(value, parsed.setting);
    } else if (name == "offset") {
        parse_offsets(value, parsed.setting);
    } else if (name == "block") {
        const auto threads = parse_int(value);
        if (!threads || *threads < 1 || *threads > 1024)
            refuse_case("block={} is not a number of threads in 1..1024", value);
        parsed.setting.block_size = static_cast<int>(*threads);
    } else if (name == "stream") {
        if (value != "own" && value != "default")
            refuse_case("stream={} is unknown; there are default, own", value);
        parsed.setting.own_stream = value == "own";
    } else if (name == "place") {
        parsed.setting.place = parse_place(value);
    } else if (name == "layout") {
        parse_layouts(value, parsed.setting);
    } else if (name == "mask") {
        const auto mask = parse_uint(value);
        if (!mask || *mask >= Setting::every_output)
            refuse_case(
                "mask={} is no set of outputs: the bit 2^i asks for output i, counted from 0",
                value);
        parsed.setting.output_mask = static_cast<std::uint32_t>(*mask);
    } else if (name == "precision") {
        if (value != "strict") refuse_case("precision={} is unknown; there is strict", value);
        parsed.setting.is_strict = true;
    } else if (name == "copies") {
        parse_copies(value, parsed.setting);
    } else if (name == "before") {
        parsed.setting.before = Problem::parse(space, value);
    } else {
        refuse_case(
            "there is no field '{}'; there are seed, dense, data, order, offset, block, stream, "
            "place, layout, mask, precision, before, copies",
            name);
    }
}

void parse_fields(std::span<const std::string_view> fields, const ParameterSpace& space,
                  Case& parsed) {
    std::set<std::string_view> seen;
    for (const std::string_view field : fields) {
        const std::size_t equals = field.find('=');
        const std::string_view name = field.substr(0, equals);
        if (equals == std::string_view::npos)
            refuse_case("the field '{}' is not of the form name=value", field);
        if (!seen.insert(name).second) refuse_case("the field {} stands twice", name);
        parse_field(name, field.substr(equals + 1), space, parsed);
    }
    const bool lists_elements = seen.contains("data") && parsed.data.files.empty();
    if (seen.count("seed") + seen.count("dense") + (lists_elements ? 1 : 0) != 1)
        refuse_case("exactly one of seed=..., dense=... and data=... is needed{}",
                    lists_elements || parsed.data.files.empty()
                        ? ""
                        : "; what data=FILE lacks is drawn by seed=... or dense=...");
}

}  // namespace

std::optional<std::string> why_unsupported(const Kernel& kernel, const Setting& setting) {
    const KernelDeclaration& declared = kernel.any();
    const auto& blocks = declared.block_sizes;
    if (setting.block_size != 0 && std::ranges::find(blocks, setting.block_size) == blocks.end())
        return blocks.empty()
                   ? fmt::format("block={}, but it declares no block sizes", setting.block_size)
                   : fmt::format("block={} is not one of its block sizes {}", setting.block_size,
                                 fmt::join(blocks, ", "));
    const std::vector<std::string> tensors = kernel.pass->tensors();
    if (setting.offsets.size() > tensors.size())
        return fmt::format("{} offsets, but it has {} tensors", setting.offsets.size(),
                           tensors.size());
    for (std::size_t i = 0; i < setting.offsets.size(); ++i) {
        const DTypeTraits type = traits_of(dtype_of(declared, *kernel.op, tensors[i]));
        const auto bytes = setting.offsets[i] * static_cast<std::int64_t>(type.bytes);
        if (bytes % declared.base_alignment_bytes != 0)
            return fmt::format("offset {} breaks its alignment of {} bytes", setting.offsets[i],
                               declared.base_alignment_bytes);
    }
    if (setting.own_stream && declared.stream_use == StreamUse::default_stream)
        return "stream=own, but it declares the default stream";
    if (setting.place > declared.places())
        return fmt::format("place={}, but {}", print_place(setting.place),
                           declared.places() == 0
                               ? "it declares no in_place() outputs"
                               : "no output has so many inputs to lie in place of");
    for (const auto& [tensor, layout] : setting.layouts)
        if (auto why = why_unsupported(*kernel.op, *kernel.pass, declared, tensor, layout))
            return why;
    if (setting.output_mask != Setting::every_output) {
        if (!declared.takes_output_mask)
            return fmt::format("mask={}, but it takes no output mask", setting.output_mask);
        if (setting.output_mask >> kernel.pass->outputs.size() != 0)
            return fmt::format("mask={}, but it has {} outputs", setting.output_mask,
                               kernel.pass->outputs.size());
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
    std::vector<int> offsets = setting.offsets;
    // Zeros at the end are left out, so that one case has one text.
    while (!offsets.empty() && offsets.back() == 0) offsets.pop_back();
    if (!offsets.empty()) fields.push_back(fmt::format("offset={}", fmt::join(offsets, ".")));
    if (setting.block_size != 0) fields.push_back(fmt::format("block={}", setting.block_size));
    if (setting.own_stream) fields.push_back("stream=own");
    if (setting.place != 0) fields.push_back("place=" + print_place(setting.place));
    if (const std::string layouts = print_layouts(setting); !layouts.empty())
        fields.push_back("layout=" + layouts);
    if (setting.output_mask != Setting::every_output)
        fields.push_back(fmt::format("mask={}", setting.output_mask));
    if (setting.is_strict) fields.emplace_back("precision=strict");
    if (setting.before) fields.push_back("before=" + setting.before->print());
    if (setting.copies) fields.push_back(print_copies(*setting.copies));
    return joined(fields, ":");
}

Case Case::parse(std::string_view text, const Registry& registry) {
    const std::vector<std::string_view> fields = split(text, ':');
    if (fields.front() != format_version)
        refuse_case(
            "it begins with '{}', but this gradverify reads {}:KERNEL:PROPERTY:DEVICE:PROBLEM:"
            "seed=N",
            fields.front(), format_version);
    if (fields.size() < 6)
        refuse_case("it has {} fields; v1:KERNEL:PROPERTY:DEVICE:PROBLEM:seed=N has six, or more",
                    fields.size());
    const Kernel* kernel = registry.find_kernel(fields[1]);
    if (!kernel) {
        refuse_case("there is no kernel '{}'{} (`gradverify list` prints them)", fields[1],
                    did_you_mean(fields[1], names_of(registry.kernels())));
    }
    if (fields[3] != "cpu" && fields[3] != "cuda")
        refuse_case("there is no device '{}'; there are cpu, cuda", fields[3]);
    Case parsed{.kernel = std::string(fields[1]),
                .property = std::string(fields[2]),
                .device = std::string(fields[3]),
                .problem = Problem::parse(kernel->op->space, fields[4])};
    parse_fields(std::span(fields).subspan(5), kernel->op->space, parsed);
    if (parsed.setting.copies) require_copies(*kernel->op, parsed);
    return parsed;
}

}  // namespace gradverify
