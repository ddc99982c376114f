// SPDX-License-Identifier: Apache-2.0
#include "harness/cases/tensor_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <span>
#include <stdexcept>
#include <utility>

#include "harness/base/checked_json.hpp"
#include "harness/base/refuse.hpp"
#include "harness/base/text.hpp"
#include "harness/numbers/element_bits.hpp"

namespace gradverify {

namespace {

static_assert(std::endian::native == std::endian::little,
              "the formats' numbers are read as they lie");

struct NamedType {
    std::string_view name;
    DType dtype;
};
constexpr NamedType safetensors_types[] = {{"F32", DType::f32},        {"F64", DType::f64},
                                           {"F16", DType::f16},        {"BF16", DType::bf16},
                                           {"F8_E4M3", DType::f8e4m3}, {"F8_E5M2", DType::f8e5m2},
                                           {"I32", DType::i32},        {"I64", DType::i64},
                                           {"U8", DType::u8},          {"BOOL", DType::u8}};
constexpr NamedType npy_types[] = {{"<f4", DType::f32}, {"<f8", DType::f64}, {"<f2", DType::f16},
                                   {"<i4", DType::i32}, {"<i8", DType::i64}, {"|u1", DType::u8},
                                   {"|b1", DType::u8}};

DType type_named(std::string_view name, std::span<const NamedType> types) {
    const auto found = std::ranges::find(types, name, &NamedType::name);
    if (found != types.end()) return found->dtype;
    std::vector<std::string> known;
    for (const NamedType& type : types) known.emplace_back(type.name);
    refuse("the type {} is none that is read; these are {}", name, joined(known));
}

/// Takes the number of bytes from a header only if no product of sizes overflows.
std::int64_t byte_count(DType dtype, const Sizes& sizes) {
    auto count = static_cast<std::int64_t>(traits_of(dtype).bytes);
    for (const std::int64_t size : sizes)
        if (size < 0 || __builtin_mul_overflow(count, size, &count))
            refuse("no tensor has the sizes ({})", fmt::join(sizes, ", "));
    return count;
}

template <class Number>
Number number_at(std::string_view bytes, std::size_t at) {
    if (bytes.size() < at + sizeof(Number)) refuse("it ends within its header");
    Number number;
    std::memcpy(&number, bytes.data() + at, sizeof number);
    return number;
}

StoredTensor stored(const ordered_json& entry, std::string_view data) {
    StoredTensor tensor{
        .dtype = type_named(entry.at("dtype").get<std::string>(), safetensors_types),
        .sizes = entry.at("shape").get<Sizes>(),
        .bytes = {}};
    const auto offsets = entry.at("data_offsets").get<std::vector<std::uint64_t>>();
    if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data.size())
        refuse("its elements lie at {} of {} bytes", entry.at("data_offsets").dump(), data.size());
    tensor.bytes = data.substr(offsets[0], offsets[1] - offsets[0]);
    if (static_cast<std::uint64_t>(byte_count(tensor.dtype, tensor.sizes)) != tensor.bytes.size())
        refuse("its shape takes {} bytes, and it has {}", byte_count(tensor.dtype, tensor.sizes),
               tensor.bytes.size());
    return tensor;
}

/// What stands behind `'key':` in the dictionary of an .npy header.
std::string_view value_behind(std::string_view header, std::string_view key) {
    const std::size_t at = header.find(fmt::format("'{}':", key));
    if (at == std::string_view::npos) refuse("its header has no {}", key);
    std::string_view value = header.substr(at + key.size() + 3);
    value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
    return value;
}

Sizes sizes_in(std::string_view tuple) {
    const std::size_t close = tuple.find(')');
    if (!tuple.starts_with('(') || close == std::string_view::npos)
        refuse("the shape in its header is no tuple");
    Sizes sizes;
    for (std::string_view part : split(tuple.substr(1, close - 1), ',')) {
        part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
        part = part.substr(0, part.find_last_not_of(' ') + 1);
        if (part.empty()) continue;  // behind the comma of a tuple of one
        const auto size = parse_int(part);
        if (!size) refuse("the size '{}' in its header is no number", part);
        sizes.push_back(*size);
    }
    return sizes;
}

}  // namespace

std::vector<double> StoredTensor::values() const {
    const std::size_t step = traits_of(dtype).bytes;
    std::vector<double> values(bytes.size() / step);
    const auto* at = reinterpret_cast<const std::byte*>(bytes.data());
    for (double& value : values) value = value_of(dtype, at), at += step;
    return values;
}

StoredTensors read_safetensors(std::string_view bytes) {
    const auto length = number_at<std::uint64_t>(bytes, 0);
    if (length > bytes.size() - sizeof length)
        refuse("its header has {} bytes by its first eight, and the file {}", length, bytes.size());
    const std::string_view data = bytes.substr(sizeof length + length);
    StoredTensors tensors;
    std::string name;
    try {
        const ordered_json header = parse_json(bytes.substr(sizeof length, length));
        if (!header.is_object()) refuse("its header is no JSON object");
        for (const auto& [key, entry] : header.items()) {
            name = key;
            if (key != "__metadata__") tensors[key] = stored(entry, data);
        }
    } catch (const std::exception& wrong) {
        refuse("{}{}", name.empty() ? "its header: " : name + ": ", wrong.what());
    }
    return tensors;
}

StoredTensor read_npy(std::string_view bytes) {
    constexpr std::string_view magic = "\x93NUMPY";
    if (!bytes.starts_with(magic)) refuse("it does not begin as .npy files do");
    const auto major = number_at<std::uint8_t>(bytes, magic.size());
    const std::size_t at = magic.size() + 2;
    if (major < 1 || major > 3) refuse("its format {} is none of 1 to 3", major);
    const std::size_t length =
        major == 1 ? number_at<std::uint16_t>(bytes, at) : number_at<std::uint32_t>(bytes, at);
    const std::size_t begin = at + (major == 1 ? 2 : 4);
    if (length > bytes.size() - begin) refuse("it ends within its header");
    const std::string_view header = bytes.substr(begin, length);
    if (!value_behind(header, "fortran_order").starts_with("False"))
        refuse("its array lies column by column; save numpy.ascontiguousarray of it");
    const std::string_view type = value_behind(header, "descr");
    const char quote = type.empty() ? '\0' : type.front();
    const std::size_t end = type.find(quote, 1);
    if (quote != '\'' || end == std::string_view::npos)
        refuse("its array holds records, and no numbers of one type");
    StoredTensor tensor{.dtype = type_named(type.substr(1, end - 1), npy_types),
                        .sizes = sizes_in(value_behind(header, "shape")),
                        .bytes = bytes.substr(begin + length)};
    if (static_cast<std::uint64_t>(byte_count(tensor.dtype, tensor.sizes)) != tensor.bytes.size())
        refuse("its shape takes {} bytes, and it has {}", byte_count(tensor.dtype, tensor.sizes),
               tensor.bytes.size());
    return tensor;
}

bool is_tensor_file(std::string_view path) {
    return path.ends_with(".safetensors") || path.ends_with(".npy");
}

/// A file's bytes, which processes that read it share.
class TensorFiles::Mapped {
  public:
    explicit Mapped(const std::string& path) {
        const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        struct stat status{};
        const bool is_file = file >= 0 && ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
        size_ = is_file ? static_cast<std::size_t>(status.st_size) : 0;
        if (size_ > 0) data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
        if (file >= 0) ::close(file);
        if (!is_file || data_ == MAP_FAILED) refuse("it can't be read");
    }
    ~Mapped() {
        if (size_ > 0) ::munmap(data_, size_);
    }
    Mapped(const Mapped&) = delete;
    Mapped& operator=(const Mapped&) = delete;

    std::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }

  private:
    void* data_ = nullptr;
    std::size_t size_ = 0;
};

TensorFiles::TensorFiles(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) try {
            if (!is_tensor_file(path)) refuse("its name ends neither in .safetensors nor in .npy");
            mapped_.push_back(std::make_shared<const Mapped>(path));
            const std::string_view bytes = mapped_.back()->bytes();
            StoredTensors tensors;
            if (path.ends_with(".npy"))
                tensors[std::filesystem::path(path).stem()] = read_npy(bytes);
            else
                tensors = read_safetensors(bytes);
            for (auto& [name, tensor] : tensors) {
                if (!files_.emplace(name, path).second)
                    refuse("it holds {}, and so does {}", name, file_of(name));
                tensors_.emplace(name, std::move(tensor));
            }
        } catch (const std::invalid_argument& wrong) {
            refuse("{}: {}", path, wrong.what());
        }
}

const StoredTensor* TensorFiles::find(std::string_view name) const {
    const auto found = tensors_.find(name);
    return found == tensors_.end() ? nullptr : &found->second;
}

const TensorFiles& tensor_files(const std::vector<std::string>& paths) {
    static std::mutex mutex;
    static std::map<std::vector<std::string>, TensorFiles> known;
    const std::lock_guard lock(mutex);
    const auto found = known.find(paths);
    return found != known.end() ? found->second
                                : known.emplace(paths, TensorFiles(paths)).first->second;
}

}  // namespace gradverify
