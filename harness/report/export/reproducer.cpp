// SPDX-License-Identifier: Apache-2.0
#include "harness/report/export/reproducer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <filesystem>

#include "harness/base/errors.hpp"
#include "harness/base/files.hpp"
#include "harness/base/text.hpp"
#include "harness/report/export/reproducer_texts.hpp"
#include "harness/report/export/sources.hpp"

namespace gradverify {

namespace {

namespace fs = std::filesystem;

// More literals than this take a compiler minutes.
constexpr std::size_t most_elements = std::size_t{1} << 18;

/// How a language writes a list.
struct Language {
    const char *begin, *end;
};
constexpr Language cpp{"{", "}"}, python{"[", "]"};

/// <cmath> has these words, and the Python file defines them.
std::string literal(double value) {
    if (std::isnan(value)) return "NAN";
    if (std::isinf(value)) return value < 0 ? "-INFINITY" : "INFINITY";
    return print_exactly(value);
}

/// A list of these texts, on lines of at most a hundred characters.
std::string list_of(const std::vector<std::string>& texts, const Language& language) {
    std::string list = language.begin;
    std::size_t column = 8;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (i > 0) list += ",";
        column += texts[i].size() + 2;
        if (column > 98) {
            list += "\n        ";
            column = 8 + texts[i].size() + 2;
        } else if (i > 0) {
            list += " ";
        }
        list += texts[i];
    }
    return list + language.end;
}

std::string list_of(const std::vector<double>& values, const Language& language) {
    std::vector<std::string> texts;
    texts.reserve(values.size());
    for (const double value : values) texts.push_back(literal(value));
    return list_of(texts, language);
}

template <class Integers>
std::string integers(const Integers& values, const Language& language) {
    return fmt::format("{}{}{}", language.begin, fmt::join(values, ", "), language.end);
}

std::vector<double> bounds_of(const Expected& expected) {
    std::vector<double> bounds;
    bounds.reserve(expected.bounds.size());
    for (const Bound& bound : expected.bounds) bounds.push_back(bound.most());
    return bounds;
}

// ---- C++

std::string parameters(const Problem& problem) {
    std::string text;
    for (const ParameterSpec& spec : problem.space().parameters())
        text += fmt::format("        {{\"{}\", {}, {}}},\n", spec.name,
                            integers(problem.all_of(spec.name), cpp),
                            spec.is_real() ? literal(problem.real(spec.name)) : "0");
    return text;
}

std::string cpp_call(const GivenCall& call, bool has_values) {
    std::string tensors;
    for (const GivenTensor& tensor : call.tensors)
        tensors += fmt::format(
            "        {{\"{}\", gradverify::DType::{}, {}, {}, {}, {}, {},\n        {}}},\n",
            tensor.name, traits_of(tensor.dtype).name, integers(tensor.sizes, cpp),
            integers(tensor.strides, cpp), tensor.offset, tensor.alignment_bytes,
            tensor.lies_in ? static_cast<int>(*tensor.lies_in) : -1,
            list_of(has_values ? tensor.values : std::vector<double>(), cpp));
    return fmt::format(R"(standalone::Call{{
    .rank = {},
    // name, values, and the real number where it is one
    .parameters = {{
{}    }},
    // name, type, sizes, strides, offset, alignment, tensor that it is written over, elements
    .tensors = {{
{}    }},
    .outputs = {},
    .block_size = {},
    .output_mask = {:#x},
    .own_stream = {},
    .workspace_bytes = {}}})",
                       call.problem.rank(), parameters(call.problem), tensors, call.outputs,
                       call.block_size, call.output_mask, call.own_stream, call.workspace_bytes);
}

std::string cpp_expected(const Reproducer& reproducer) {
    std::string all;
    for (const Expected& one : reproducer.expected)
        all += fmt::format("    {{\"{}\", {},\n        {},\n        {}}},\n", one.tensor,
                           one.admits_nan, list_of(one.values, cpp), list_of(bounds_of(one), cpp));
    return all;
}

/// What `repro.cu` is. Its values are left out where Python has them.
std::string program(const Case& failing, const std::string& what, const Reproducer& reproducer,
                    bool has_values) {
    const KernelDeclaration& kernel = reproducer.kernel->any();
    const GivenCalls& calls = reproducer.calls;
    return fmt::format(R"(// {}
// {}
#include "standalone.cuh"

const standalone::Kernel the_kernel{{"{}.{}", "{}", {}}};

const std::optional<standalone::Call> call_before{};

const standalone::Call the_call = {};

// tensor, whether NaN may be right, elements, how far each may be off (nothing: not at all)
const std::vector<standalone::Expected> expected{{
{}}};
)",
                       failing.print(), what, kernel.operator_name, kernel.pass_name,
                       kernel.variant, kernel.determinism == Determinism::bitwise,
                       calls.before ? " = " + cpp_call(*calls.before, has_values) : "{}",
                       cpp_call(calls.call, has_values),
                       has_values ? cpp_expected(reproducer) : std::string());
}

// ---- Python

std::string python_text(const std::string& text) {
    // A raw text can't hold its own end, or end in a backslash.
    if (text.find("'''") == std::string::npos && !text.ends_with('\\'))
        return "r'''" + text + "'''";
    std::string escaped;
    for (const char c : text) {
        if (c == '\\' || c == '\'') escaped += '\\';
        escaped += c == '\n' ? std::string("\\n") : std::string(1, c);
    }
    return "'" + escaped + "'";
}

std::string python_call(const GivenCall& call) {
    std::string tensors;
    for (const GivenTensor& tensor : call.tensors)
        tensors += fmt::format(
            "        {{\"name\": \"{}\", \"dtype\": \"{}\", \"sizes\": {}, "
            "\"strides\": {},\n         \"offset\": {}, \"lies_in\": {},\n"
            "         \"values\": {}}},\n",
            tensor.name, traits_of(tensor.dtype).name, integers(tensor.sizes, python),
            integers(tensor.strides, python), tensor.offset,
            tensor.lies_in ? std::to_string(*tensor.lies_in) : "None",
            list_of(tensor.values, python));
    return fmt::format(
        "{{\n    \"outputs\": {}, \"output_mask\": {:#x}, \"own_stream\": {}, "
        "\"workspace_bytes\": {},\n    \"tensors\": [\n{}    ]}}",
        call.outputs, call.output_mask, call.own_stream ? "True" : "False", call.workspace_bytes,
        tensors);
}

std::string python_expected(const Reproducer& reproducer) {
    std::string all;
    for (const Expected& one : reproducer.expected)
        all += fmt::format(
            "    {{\"tensor\": \"{}\", \"admits_nan\": {},\n     \"values\": {},\n"
            "     \"bounds\": {}}},\n",
            one.tensor, one.admits_nan ? "True" : "False", list_of(one.values, python),
            list_of(bounds_of(one), python));
    return all;
}

// ---- both

void require_few_elements(const Reproducer& reproducer) {
    std::size_t elements = 0;
    const auto count = [&](const GivenCall& call) {
        for (const GivenTensor& tensor : call.tensors) elements += tensor.values.size();
    };
    count(reproducer.calls.call);
    if (reproducer.calls.before) count(*reproducer.calls.before);
    for (const Expected& one : reproducer.expected) elements += one.values.size();
    if (elements > most_elements)
        throw UsageError(fmt::format(
            "the case has {} elements, and a source file is to list them; `check` prints the "
            "smallest problem that fails, or give a smaller one",
            elements));
}

SourceFolder sources_for(const Reproducer& reproducer) {
    const Kernel& kernel = *reproducer.kernel;
    const KernelDeclaration* const on_gpu = kernel.on("cuda");
    SourceFolder folder = sources_of(on_gpu ? *on_gpu : kernel.any());
    if (folder.texts.contains("gradverify/harness/chain.hpp"))
        throw UsageError(kernel.name +
                         " calls other kernels by gradverify's Chain, so it needs "
                         "gradverify; export one of its steps");
    folder.texts.emplace("standalone.cuh", standalone_cuh);
    return folder;
}

std::string replay_of(const Case& failing) {
    return "gradverify repro " + shell_quoted(failing.print());
}

}  // namespace

void export_reproducer(const std::string& folder, const Case& failing, const std::string& what,
                       const Reproducer& reproducer) {
    require_few_elements(reproducer);
    std::error_code failed;
    if (fs::exists(folder, failed) && !fs::is_empty(folder, failed))
        throw UsageError(folder + " is not empty; give a new folder");
    SourceFolder sources = sources_for(reproducer);
    const std::string files = fmt::format("repro.cu {}", fmt::join(sources.sources, " "));
    std::string flags = "-I.";
    for (const std::string& include : sources.includes) flags += " -I" + include;
    for (const std::string& definition : sources.definitions)
        flags += " " + shell_quoted("-D" + definition);
    sources.texts["repro.cu"] = program(failing, what, reproducer, true);
    std::string definitions;
    for (const std::string& definition : sources.definitions)
        definitions +=
            fmt::format("target_compile_definitions(repro PRIVATE [==[{}]==])\n", definition);
    sources.texts["CMakeLists.txt"] = fmt::format(
        R"(cmake_minimum_required(VERSION 3.24)
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES native)
endif()
project(repro LANGUAGES CXX CUDA)
add_executable(repro {})
target_include_directories(repro PRIVATE . {})
{}target_compile_options(repro PRIVATE -std=c++20)
)",
        files, fmt::join(sources.includes, " "), definitions);
    sources.texts["README.md"] = fmt::format(
        "# A case of {0}\n\n{1}\n\n"
        "- Build and run: `nvcc -std=c++20 {2} -o repro {3} && ./repro`, or with CMake.\n"
        "- It prints what is wrong and exits with 1; once the kernel is right, with 0.\n"
        "- The problem: `{4}`. Its data, and what is right, are in `repro.cu`.\n"
        "- A race shows under `compute-sanitizer --tool racecheck ./repro`.\n"
        "- With gradverify: `{5}`\n",
        failing.kernel, what, flags, files, failing.problem.print(), replay_of(failing));
    for (const auto& [name, text] : sources.texts) {
        const fs::path path = fs::path(folder) / name;
        fs::create_directories(path.parent_path(), failed);
        write_file(path.string(), text);
    }
}

void export_python_reproducer(const std::string& file, const Case& failing, const std::string& what,
                              const Reproducer& reproducer) {
    require_few_elements(reproducer);
    SourceFolder sources = sources_for(reproducer);
    sources.texts["repro.cu"] = program(failing, what, reproducer, false);
    std::string files;
    for (const auto& [name, text] : sources.texts)
        files += fmt::format("    \"{}\": {},\n", name, python_text(text));
    std::vector<std::string> flags{"-I."};
    for (const std::string& include : sources.includes) flags.push_back("-I" + include);
    for (const std::string& definition : sources.definitions) flags.push_back("-D" + definition);
    for (std::string& flag : flags) flag = python_text(flag);
    std::vector<std::string> compiled{"\"repro.cu\""};
    for (const std::string& source : sources.sources) compiled.push_back('"' + source + '"');
    const GivenCalls& calls = reproducer.calls;
    write_file(file, fmt::format(
                         R"(#!/usr/bin/env python3
"""A case of {0}: {1}

Needs PyTorch and nvcc. Prints what is wrong and exits with 1; once the kernel is right, with 0.
With gradverify: {2}
"""
import argparse
import ctypes
import importlib
import pathlib
import subprocess
import sys
import tempfile

import torch

NAN, INFINITY = float("nan"), float("inf")
TORCH_TYPES = {{"f32": "float32", "f64": "float64", "i32": "int32", "i64": "int64", "f16": "float16",
               "bf16": "bfloat16", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2",
               "f8e8m0": "float8_e8m0fnu", "u8": "uint8"}}

# The call before, if there is one, and the call, on the problem {3}.
CALLS = [{4}, {5}]

# What each output must be, and how far each element may be off; no bounds: not at all.
EXPECTED = [
{6}]
)",
                         failing.kernel, what, replay_of(failing), failing.problem.print(),
                         calls.before ? python_call(*calls.before) : "None",
                         python_call(calls.call), python_expected(reproducer)) +
                         std::string(standalone_py) +
                         fmt::format("\n\nFLAGS = {}\nSOURCES = {}\nFILES = {{\n{}}}\n\n"
                                     "if __name__ == \"__main__\":\n    main()\n",
                                     list_of(flags, python), list_of(compiled, python), files));
}

}  // namespace gradverify
