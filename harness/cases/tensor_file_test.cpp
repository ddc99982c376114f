// SPDX-License-Identifier: Apache-2.0
// What tensor files hold, and how one that lies of itself is refused.
#include "harness/cases/tensor_file.hpp"

#include <doctest/doctest.h>

#include "harness/testing/made_operator.hpp"
#include "harness/testing/temporary_folder.hpp"
#include "harness/testing/tensor_files.hpp"

using namespace gradverify;
using namespace gradverify::testing;

using Numbers = std::vector<double>;

static std::string of_safetensors(const std::string& bytes) {
    return refusal([&] { read_safetensors(bytes); });
}
static std::string of_npy(const std::string& bytes) {
    return refusal([&] { read_npy(bytes); });
}
static std::string header_of(const std::string& type, const std::string& shape,
                             const std::string& offsets) {
    return fmt::format(R"({{"x":{{"dtype":"{}","shape":{},"data_offsets":{}}}}})", type, shape,
                       offsets);
}

TEST_CASE("a file of safetensors holds tensors of ten types, by name") {
    struct Type {
        const char* name;
        DType dtype;
        std::string two;  ///< the elements 1 and -2, or 1 and 0
        Numbers numbers;
    };
    using Bytes = std::vector<std::uint8_t>;
    using Pairs = std::vector<std::uint16_t>;
    const std::vector<Type> types{
        {"F32", DType::f32, bytes_of(std::vector{1.0f, -2.0f}), {1.0, -2.0}},
        {"F64", DType::f64, bytes_of(std::vector{1.0, -2.0}), {1.0, -2.0}},
        {"F16", DType::f16, bytes_of(Pairs{0x3c00, 0xc000}), {1.0, -2.0}},
        {"BF16", DType::bf16, bytes_of(Pairs{0x3f80, 0xc000}), {1.0, -2.0}},
        {"F8_E4M3", DType::f8e4m3, bytes_of(Bytes{0x38, 0xc0}), {1.0, -2.0}},
        {"F8_E5M2", DType::f8e5m2, bytes_of(Bytes{0x3c, 0xc0}), {1.0, -2.0}},
        {"I32", DType::i32, bytes_of(std::vector<std::int32_t>{1, -2}), {1.0, -2.0}},
        {"I64", DType::i64, bytes_of(std::vector<std::int64_t>{1, -2}), {1.0, -2.0}},
        {"U8", DType::u8, bytes_of(Bytes{1, 254}), {1.0, 254.0}},
        {"BOOL", DType::u8, bytes_of(Bytes{1, 0}), {1.0, 0.0}}};
    for (const Type& type : types) {
        CAPTURE(type.name);
        const std::string bytes = safetensors(
            header_of(type.name, "[2,1]", fmt::format("[0,{}]", type.two.size())), type.two);
        const StoredTensors tensors = read_safetensors(bytes);
        REQUIRE(tensors.size() == 1);
        const StoredTensor& x = tensors.at("x");
        CHECK(x.dtype == type.dtype);
        CHECK(x.sizes == Sizes{2, 1});
        CHECK(x.values() == type.numbers);
    }
    CHECK(of_safetensors(safetensors(header_of("I16", "[2]", "[0,4]"), "abcd")) ==
          "x: the type I16 is none that is read; these are F32, F64, F16, BF16, F8_E4M3, F8_E5M2, "
          "I32, "
          "I64, U8, BOOL");
    // Without elements, without axes, and with what other programs add.
    const std::string bytes = safetensors(
        R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[0,3],"data_offsets":[0,0]},)"
        R"("b":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})",
        bytes_of(std::vector{3.0f}));
    CHECK(read_safetensors(bytes).at("a").values().empty());
    CHECK(read_safetensors(bytes).at("b").values() == Numbers{3.0});
    CHECK(read_safetensors(bytes).size() == 2);
}

TEST_CASE("a file of safetensors that lies of its sizes is refused") {
    const auto with = [&](const char* shape, const char* offsets) {
        return of_safetensors(safetensors(header_of("F32", shape, offsets), "12345678"));
    };
    CHECK(with("[2]", "[0,8]") == "");
    CHECK(with("[3]", "[0,8]") == "x: its shape takes 12 bytes, and it has 8");
    CHECK(with("[2]", "[4,12]") == "x: its elements lie at [4,12] of 8 bytes");
    CHECK(with("[2]", "[8,0]") == "x: its elements lie at [8,0] of 8 bytes");
    CHECK(with("[2]", "[0]") == "x: its elements lie at [0] of 8 bytes");
    CHECK(with("[-2]", "[0,8]") == "x: no tensor has the sizes (-2)");
    CHECK(with("[4611686018427387904,4]", "[0,0]") ==
          "x: no tensor has the sizes (4611686018427387904, 4)");
    for (const char* entry : {"[2.5]", "2", "null", "[18446744073709551615]"})
        CHECK(with(entry, "[0,8]").starts_with("x: "));
    CHECK(of_safetensors("short") == "it ends within its header");
    CHECK(of_safetensors(bytes_of(std::vector<std::uint64_t>{1u << 20}) + "{}") ==
          "its header has 1048576 bytes by its first eight, and the file 10");
    CHECK(of_safetensors(bytes_of(std::vector<std::uint64_t>{~std::uint64_t{0}}) + "{}") != "");
    CHECK(of_safetensors(safetensors("[1]", "")) == "its header: its header is no JSON object");
    CHECK(of_safetensors(safetensors("{", "")).starts_with("its header: "));
    CHECK(of_safetensors(safetensors(R"({"x":3})", "")).starts_with("x: "));
}

TEST_CASE("an .npy file holds one array") {
    const std::string two = bytes_of(std::vector{1.5f, -2.0f});
    const std::string bytes = npy("<f4", "(2,)", two);
    CHECK(read_npy(bytes).sizes == Sizes{2});
    CHECK(read_npy(bytes).values() == Numbers{1.5, -2.0});
    CHECK(read_npy(npy("<f4", "()", two.substr(0, 4))).sizes.empty());
    const std::string rows = npy("<i8", "(2, 1)", bytes_of(std::vector<std::int64_t>{5, -6}));
    CHECK(read_npy(rows).sizes == Sizes{2, 1});
    CHECK(read_npy(rows).values() == Numbers{5.0, -6.0});
    const std::string flags = npy("|b1", "(2,)", bytes_of(std::vector<std::uint8_t>{1, 0}));
    CHECK(read_npy(flags).values() == Numbers{1.0, 0.0});
}

TEST_CASE("an .npy file that is no row-major array of numbers is refused") {
    const std::string two(8, 'a');
    CHECK(of_npy("PK") == "it does not begin as .npy files do");
    CHECK(of_npy(npy("<f4", "(3,)", two)) == "its shape takes 12 bytes, and it has 8");
    CHECK(of_npy(npy("<f4", "(-2,)", two)) == "no tensor has the sizes (-2)");
    CHECK(of_npy(npy("<f4", "(two,)", two)) == "the size 'two' in its header is no number");
    CHECK(of_npy(npy("<f4", "2", two)) == "the shape in its header is no tuple");
    CHECK(of_npy(npy("<c8", "(1,)", two)) ==
          "the type <c8 is none that is read; these are <f4, <f8, <f2, <i4, <i8, |u1, |b1");
    CHECK(of_npy(npy("<f4", "(2,)", two, "True")) ==
          "its array lies column by column; save numpy.ascontiguousarray of it");
    const std::string good = npy("<f4", "(2,)", two);
    for (std::size_t length = 0; length < good.size(); ++length)
        CHECK(of_npy(good.substr(0, length)) != "");
}

TEST_CASE("tensors of several files have one name each, that of an .npy file is the file's") {
    const TemporaryFolder folder;
    const std::string x = folder.write("x.npy", npy("<f4", "(1,)", bytes_of(std::vector{7.0f})));
    const std::string both = folder.write("acts.safetensors", safetensors_of("dy", "[1]", {8.0f}));
    const TensorFiles files({x, both});
    CHECK(files.find("x")->values() == Numbers{7.0});
    CHECK(files.find("dy")->values() == Numbers{8.0});
    CHECK(files.file_of("dy") == both);
    CHECK(files.find("w") == nullptr);
    const std::string again = folder.write("again.safetensors", safetensors_of("x", "[1]", {1.0f}));
    CHECK(refusal([&] { TensorFiles({x, again}); }) == again + ": it holds x, and so does " + x);
    const std::string text = folder.write("x.txt", "7");
    CHECK(refusal([&] { TensorFiles({text}); }) ==
          text + ": its name ends neither in .safetensors nor in .npy");
    CHECK(refusal([&] { TensorFiles({"nowhere.npy"}); }) == "nowhere.npy: it can't be read");
    const std::string empty = folder.write("empty.npy", "");
    CHECK(refusal([&] { TensorFiles({empty}); }) == empty + ": it does not begin as .npy files do");
}
