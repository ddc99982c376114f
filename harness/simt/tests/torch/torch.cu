// SPDX-License-Identifier: Apache-2.0
// What launchers of PyTorch extensions ask of at::Tensor. On the device cuda it is PyTorch's own.
#include "harness/simt/tests/construct.hpp"

#include <ATen/AccumulateType.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/Exceptions.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/util/Half.h>
#include <torch/extension.h>
#include <ATen/cuda/CUDAGraphsUtils.cuh>
#include <ATen/cuda/DeviceUtils.cuh>

static at::TensorOptions on_device(at::ScalarType type) {
    return at::TensorOptions().device(at::kCUDA).dtype(type);
}
/// 0, 1, 2 ... with these sizes.
static at::Tensor counted(at::IntArrayRef sizes, at::ScalarType type = at::kFloat) {
    at::Tensor host = at::empty(sizes, at::TensorOptions().dtype(at::kFloat));
    for (std::int64_t i = 0; i < host.numel(); ++i) host.data_ptr<float>()[i] = float(i);
    return host.to(on_device(type));
}
template <class T = float>
static std::vector<T> values(const at::Tensor& tensor) {
    const at::Tensor host = tensor.contiguous().to(at::kCPU);
    return {host.data_ptr<T>(), host.data_ptr<T>() + host.numel()};
}
template <class F>
static std::string error_of(F call) {
    try {
        call();
    } catch (const c10::Error& error) {
        return error.what_without_backtrace();
    }
    return "none";
}

/// Whether each call fails with its line of the text, and the end.
static void fail_so(construct::Report& report, const std::string& text,
                    const std::vector<std::function<void()>>& calls, const char* end = "") {
    std::istringstream lines(text);
    std::string want;
    for (const auto& call : calls) {
        const std::string error = std::getline(lines, want) ? error_of(call) : "no line is left";
        report.holds("want: " + want + "; got: " + error, error.ends_with(want + end));
    }
    report.holds("a line for each", !std::getline(lines, want));
}

CONSTRUCT(torch_floats_of_8_bits) {
    const at::Tensor x = counted({20}).sub(10).mul(60), same = x;
    const auto as_bits = [](const at::Tensor& narrow) {
        const at::Tensor host = narrow.to(at::kCPU);
        const auto* const bytes = static_cast<const unsigned char*>(host.data_ptr());
        return std::vector<int>(bytes, bytes + host.numel());
    };
    const at::Tensor of_4 = x.to(at::kFloat8_e4m3fn), of_5 = x.to(torch::kFloat8_e5m2);
    report.holds("type", of_4.scalar_type() == at::kFloat8_e4m3fn && of_5.element_size() == 1);
    report.holds("names", std::string(toString(of_5.scalar_type())) == "Float8_e5m2");
    // -600 is NaN there; 0, 60, 120, 180 and 540 are 0, 60, 120, 176 and NaN, or 512.
    const std::vector<int> bits = as_bits(of_4), bits_of_5 = as_bits(of_5);
    report.equal("e4m3",
                 std::vector<int>{bits[0] & 0x7f, bits[10], bits[11], bits[12], bits[13], bits[19]},
                 {0x7f, 0, 0x67, 0x6f, 0x73, 0x7f});
    report.equal("e5m2", std::vector<int>{bits_of_5[10], bits_of_5[11], bits_of_5[19]},
                 {0, 0x54, 0x60});
    report.equal("and back", values(of_4.to(at::kFloat).slice(0, 10, 13)), {0, 60, 120});
    report.holds("one tensor", x.unsafeGetTensorImpl() == same.unsafeGetTensorImpl() &&
                                   x.unsafeGetTensorImpl() != of_4.unsafeGetTensorImpl());
}

CONSTRUCT(torch_makes_tensors) {
    const at::Tensor x = torch::empty({2, 3, 4}, on_device(at::kBFloat16));
    report.holds("is cuda's, and contiguous", x.is_cuda() && x.is_contiguous() && x.defined());
    report.holds("device", x.device().is_cuda() && x.get_device() == 0);
    report.holds("sizes", x.sizes() == at::IntArrayRef({2, 3, 4}) && x.strides()[0] == 12);
    report.holds("counts", x.dim() == 3 && x.numel() == 24 && x.element_size() == 2);
    report.holds("type", x.scalar_type() == at::kBFloat16 && x.dtype() == torch::kBFloat16);
    report.holds("undefined", !at::Tensor().defined());
    report.equal("zeros", values(torch::zeros({3}, on_device(at::kFloat))), {0, 0, 0});
    report.equal("ones in half", values<at::Half>(at::ones({2}, on_device(at::kHalf))),
                 {at::Half(1.0f), at::Half(1.0f)});
    report.equal("full", values<int>(torch::full({2}, 7, on_device(at::kInt))), {7, 7});
    report.equal("a fill", values<double>(x.new_empty({2}, on_device(at::kDouble)).fill_(0.1)),
                 {0.1, 0.1});
    report.holds("no elements", at::empty({0, 3}, x.options()).numel() == 0);
    const at::Tensor turned = at::empty_like(x.transpose(0, 2));
    report.holds("like another: its strides", turned.stride(0) == 1 && turned.size(0) == 4);
    const at::Tensor spread = at::empty_like(counted({4, 4}).slice(1, 0, 4, 2));
    report.holds("like one with gaps: none", spread.is_contiguous() && spread.size(1) == 2);
    report.holds("on the host where no device is named", at::empty({1}).is_cpu());
    const at::Tensor images = at::empty({2, 3, 4, 5}, x.options(), at::MemoryFormat::ChannelsLast);
    report.holds("channels last", images.stride(1) == 1 && images.stride(3) == 3 &&
                                      images.is_contiguous(at::MemoryFormat::ChannelsLast) &&
                                      !images.is_contiguous());
}

CONSTRUCT(torch_views) {
    const at::Tensor x = counted({2, 3, 4});
    report.equal("select", values(x.select(1, -1)), {8, 9, 10, 11, 20, 21, 22, 23});
    report.equal("an index", values(x[1][2]), {20, 21, 22, 23});
    report.equal("narrow", values(x[0].narrow(0, 1, 2)), {4, 5, 6, 7, 8, 9, 10, 11});
    report.equal("slice", values(x[0][0].slice(0, 1, 4, 2)), {1, 3});
    report.equal("transpose", values(x[0].t()), {0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
    report.equal("permute", values(x.permute({2, 0, 1})[1]), {1, 5, 9, 13, 17, 21});
    report.holds("unsqueeze", x.unsqueeze(-1).sizes() == at::IntArrayRef({2, 3, 4, 1}));
    report.holds("squeeze", x.unsqueeze(1).squeeze(1).sizes() == x.sizes());
    report.holds("view", x.view({6, -1}).size(1) == 4 && x.view({6, 4}).stride(0) == 4);
    report.holds("flatten", x.flatten(1).sizes() == at::IntArrayRef({2, 12}));
    const at::Tensor turned = x.transpose(0, 1);
    report.holds("a view that needs a copy", error_of([&] { turned.view({24}); }) != "none");
    report.equal("reshape", values(turned.reshape({24})), values(turned.contiguous()));
    report.holds("a view of split axes", turned.view({3, 2, 2, 2}).stride(2) == 2);
    report.equal("expand", values(x[0][0].slice(0, 0, 2).unsqueeze(1).expand({2, 3})),
                 {0, 0, 0, 1, 1, 1});
    at::Tensor row = x[1][2].clone(), same = row;
    row.unsqueeze_(0).transpose_(0, 1);
    report.holds("in place", same.sizes() == at::IntArrayRef({4, 1}) && same.stride(0) == 1);
    x.select(0, 0).zero_();
    report.equal("views share memory", values(x.slice(0, 0, 2).select(2, 3)),
                 {0, 0, 0, 15, 19, 23});
}

CONSTRUCT(torch_computes) {
    const at::Tensor x = counted({2, 3});
    report.equal("sum", values(x.sum()), {15});
    report.equal("sum over an axis", values(x.sum(0)), {3, 5, 7});
    report.holds("keepdim", x.sum({1}, true).sizes() == at::IntArrayRef({2, 1}));
    report.equal("sum of a type", values<double>(x.sum({1}, false, at::kDouble)), {3, 12});
    report.equal("arithmetic", values((x + 1) * 2 - x), {2, 3, 4, 5, 6, 7});
    report.equal("in place", values(x.clone().mul_(0.5).add_(x)), {0, 1.5, 3, 4.5, 6, 7.5});
    report.equal("broadcast", values(x.sub(x.select(1, 0).unsqueeze(1))), {0, 1, 2, 0, 1, 2});
    report.equal("whole numbers stay whole", values<int>(x.to(at::kInt) * 3), {0, 3, 6, 9, 12, 15});
    report.equal("to narrower numbers", values<at::Half>((x / 3).to(at::kHalf)),
                 [](int i) { return at::Half(float(i) / 3.0f); });
    const at::Tensor turned = at::zeros({3, 2}, x.options());
    turned.copy_(x.t());
    report.equal("a copy of a view", values(turned), {0, 3, 1, 4, 2, 5});
    report.equal("an item", std::vector<float>{x[1][1].item<float>()}, {4});
    at::Tensor out = at::empty({3}, x.options());
    at::sum_out(out, x, {0});
    report.equal("sum_out", values(out), {3, 5, 7});
}

// Names that launchers reach for beside those.
CONSTRUCT(torch_everyday_names) {
    using namespace torch::indexing;
    const at::Tensor x = counted({2, 3});
    const at::cuda::OptionalCUDAGuard guard(device_of(x));
    report.holds("no device of an undefined tensor", !device_of(at::Tensor()).has_value());
    report.equal("a number less a tensor", values(1.0 - x), {1, 0, -1, -2, -3, -4});
    report.equal("a number by a tensor", values(6 / (x + 1)), {6, 3, 2, 1.5f, 1.2f, 1});
    report.equal("in half, of a number that is none",
                 values<at::Half>(0.1 - counted({2}, at::kHalf) * 0.1),
                 {at::Half(0.1f), at::Half(0.1f - 0.0999755859375f)});
    report.holds("whole numbers divide as float",
                 (1 / counted({2}, at::kInt)).scalar_type() == at::kFloat);
    report.equal("cat", values(at::cat({x, x}, 1)), {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
    const at::Tensor pair = torch::stack({x[0], x[1]}, 1);
    report.equal("stack", values(pair), {0, 3, 1, 4, 2, 5});
    report.equal("a column", values(x.index({Slice(), 1})), {1, 4});
    report.equal("last of all", values(x.index({"...", Slice(1, None)})), {1, 2, 4, 5});
    report.holds("a new axis", x.index({None, 0}).sizes() == at::IntArrayRef({1, 3}));
    report.holds("an offset", x[1].storage_offset() == 3);
    report.holds("a number of any type", x[1][2].item().toDouble() == 5);
    report.holds("its layout", x.suggest_memory_format() == at::MemoryFormat::Contiguous);
    at::cuda::CUDAEvent done;
    done.record(at::cuda::getCurrentCUDAStream());
    const auto side = at::cuda::getStreamFromPool();
    done.block(side);
    x.record_stream(side);
    side.synchronize();
    report.holds("streams of a pool differ", !(side == at::cuda::getStreamFromPool()));
    report.holds("a check names types", error_of([&] {
                                            TORCH_CHECK(false, "got ", x.dtype());
                                        }).find("got ") != std::string::npos);
    TORCH_CHECK_EQ(x.dim(), 2);
    auto generator = at::cuda::detail::getDefaultCUDAGenerator();
    const std::lock_guard<std::mutex> lock(generator.mutex());
}

CONSTRUCT(torch_argument_checks) {
    const at::Tensor x = counted({2, 3}), y = counted({3, 2}), none, host = at::empty({2, 3});
    const at::Tensor turned = y.t(), narrow = counted({2, 3}, at::kHalf);
    const at::TensorArg a{x, "x", 1}, b{y, "y", 2}, absent{none, "bias", 0}, far{host, "host", 3},
        columns{turned, "turned", 4}, half{narrow, "half", 5};
    const at::CheckedFrom c = "theirs";
    at::checkAllSameGPU(c, {a, absent, b});
    at::checkAllSameGPU(c, {far});
    at::checkAllSameType(c, {absent, a, b});
    at::checkAllSameSize(c, {a, columns, half, absent});
    at::checkAllContiguous(c, {a, absent, b});
    at::checkScalarTypes(c, half, {at::kFloat, at::kHalf});
    at::globalContext().alertNotDeterministic("theirs");
    fail_so(report, R"(Tensor for argument #3 'host' is on CPU, but expected it to be on GPU
Expected tensor for argument #1 'x' to have the same type as tensor for argument #5 'half'; but type CUDAFloatType does not equal CUDAHalfType
Expected tensor for argument #1 'x' to have same size as tensor for argument #2 'y'; but [2, 3] does not equal [3, 2]
Expected contiguous tensor, but got non-contiguous tensor for argument #4 'turned'
Expected tensor for 'bias' to be non-null, but it was undefined 
Expected 3-dimensional tensor, but got 2-dimensional tensor for argument #1 'x'
Expected tensor to have size 4 at dimension 1, but got size 3 for argument #1 'x'
Expected tensor of size [2, 4], but got tensor of size [2, 3] for argument #1 'x'
to have scalar type Long; but got CUDAFloatType instead
to have one of the following scalar types: Long, Int; but got CUDAFloatType instead
)",
            {[&] { at::checkAllSameGPU(c, {a, far}); }, [&] { at::checkAllSameType(c, {a, half}); },
             [&] { at::checkSameSize(c, a, b); }, [&] { at::checkAllContiguous(c, {a, columns}); },
             [&] { at::checkAllDefined(c, {a, absent}); }, [&] { at::checkDim(c, a, 3); },
             [&] { at::checkSize(c, a, 1, 4); }, [&] { at::checkSize(c, a, {2, 4}); },
             [&] { at::checkScalarType(c, a, at::kLong); },
             [&] { at::checkScalarTypes(c, a, {at::kLong, at::kInt}); }},
            " (while checking arguments for theirs)");
    report.holds("devices' names", c10::DeviceTypeName(at::kCUDA) == "CUDA" &&
                                       c10::DeviceTypeName(x.device().type(), true) == "cuda");
    static_assert(c10::COMPILE_TIME_MAX_DEVICE_TYPES > 1);
    static_assert(std::is_same_v<at::IntList, at::IntArrayRef>);
}

CONSTRUCT(torch_products) {
    const at::Tensor x = counted({2, 3}), y = counted({3, 2}), row = counted({2});
    const std::vector<float> product{10, 13, 28, 40};  // of 0 1 2, 3 4 5 and 0 1, 2 3, 4 5
    report.equal("mm", values(at::mm(x, y)), product);
    report.equal("of views", values(y.t().matmul(x.t())), {10, 28, 13, 40});
    report.equal("addmm", values(at::addmm(row, x, y, 2, 0.5)), {5, 8.5f, 14, 22});
    at::Tensor sum = torch::full({2, 2}, 1, x.options());
    report.holds("in place", sum.addmm_(x, y).is_same(sum));
    report.equal("added", values(sum), {11, 14, 29, 41});
    sum.fill_(NAN);
    report.equal("beta 0 drops what was there", values(sum.addmm_(x, y, 0.0f, 1.0f)), product);
    report.equal("out", values(torch::mm_out(sum, y.t(), x.t())), {10, 28, 13, 40});
    const at::Tensor pair = torch::stack({x, x * 2}), both = torch::stack({y, y + 1});
    report.equal("bmm", values(at::bmm(pair, both)), {10, 13, 28, 40, 26, 32, 80, 104});
    report.equal("baddbmm", values(at::baddbmm(row, pair, both)),
                 {10, 14, 28, 41, 26, 33, 80, 105});
    report.equal("a matrix for each of a batch", values(at::matmul(pair, y)),
                 {10, 13, 28, 40, 20, 26, 56, 80});
    report.holds("batches of batches", at::matmul(pair.unsqueeze(1), both.unsqueeze(0)).sizes() ==
                                           at::IntArrayRef({2, 2, 2, 2}));
    report.equal("batches by a vector", values(both.matmul(row)), {1, 3, 5, 2, 4, 6});
    report.equal("a vector by", values(row.matmul(x)), {3, 4, 5});
    report.holds("of vectors", row.matmul(row).dim() == 0 && row.matmul(row).item<float>() == 1);
    x[1] = x[0] + 10;
    x[0] = 9;
    report.equal("what a call returned is filled", values(x), {9, 9, 9, 10, 11, 12});
    const at::Tensor twice = x.to(at::kDouble), whole = x.to(at::kInt);
    fail_so(report, R"(mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)
self must be a matrix
mat1 must be a matrix, got 1-D tensor
mat2 must be a matrix, got 1-D tensor
mat1 and mat2 must have the same dtype, but got Double and Float
self and mat2 must have the same dtype, but got Float and Double
Bad in-place call: input tensor size [2] and output tensor size [2, 2] should match
batch1 must be a 3D tensor
Expected size for first two dimensions of batch2 tensor to be: [2, 3] but got: [2, 2].
both arguments to matmul need to be at least 1D, but they are 2D and 0D
size mismatch, got input (2), mat (2x3), vec (2)
"addmm_cuda" not implemented for 'Int'
)",
            {[&] { x.mm(x); }, [&] { row.mm(x); }, [&] { row.addmm(row, x); },
             [&] { at::addmm(row, x, row); }, [&] { row.addmm(twice, y); },
             [&] { row.addmm(twice, twice.t()); }, [&] { row.clone().addmm_(x, y); },
             [&] { x.bmm(both); }, [&] { pair.bmm(pair); }, [&] { x.matmul(x.sum()); },
             [&] { x.matmul(row); }, [&] { whole.mm(whole.t()); }});
}

CONSTRUCT(torch_complex_numbers) {
    using complex = c10::complex<float>;
    const at::Tensor x = at::view_as_complex(counted({2, 2}));
    report.holds("their type", x.scalar_type() == at::kComplexFloat && x.dim() == 1);
    report.holds("an element", values<complex>(x)[1] == complex(2, 3));
    report.equal("as pairs", values(at::view_as_real(x)), {0, 1, 2, 3});
    report.holds("a product", complex(1, 2) * complex(3, -1) == complex(5, 5));
    report.holds("a quotient", complex(5, 5) / complex(3, -1) == complex(1, 2));
    report.holds("the conjugate", std::conj(complex(1, 2)) == complex(1, -2));
}

template <class T>
__global__ void scale_kernel(const at::PackedTensorAccessor32<T, 2, at::RestrictPtrTraits> x,
                             at::PackedTensorAccessor32<T, 2, at::RestrictPtrTraits> y) {
    using acc = at::acc_type<T, true>;
    const int row = int(blockIdx.x), column = int(threadIdx.x);
    if (column < x.size(1)) y[row][column] = static_cast<T>(static_cast<acc>(x[row][column]) * 2);
}
static at::Tensor scaled(const at::Tensor& x) {
    TORCH_CHECK(x.is_cuda(), "x must be on a device");
    const at::cuda::OptionalCUDAGuard guard(x.device());
    at::Tensor y = torch::empty_like(x);
    const auto stream = at::cuda::getCurrentCUDAStream();
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "scaled", [&] {
        scale_kernel<scalar_t><<<unsigned(x.size(0)), 32, 0, stream>>>(
            x.packed_accessor32<scalar_t, 2, at::RestrictPtrTraits>(),
            y.packed_accessor32<scalar_t, 2, at::RestrictPtrTraits>());
    });
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}
CONSTRUCT(torch_dispatches) {
    for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
        const at::Tensor y = scaled(counted({3, 5}, type).t());
        report.equal(std::string("scaled ") + toString(type), values(y.to(at::kFloat)),
                     [](int i) { return float(i % 3 * 5 + i / 3) * 2; });
    }
    fail_so(report, R"("scaled" not implemented for 'Int'
x must be on a device
expected scalar type Double but found Float
)",
            {[] { scaled(counted({1, 1}, at::kInt)); }, [] { scaled(at::empty({1, 1})); },
             [] { counted({1}).data_ptr<double>(); }});
    report.holds("an index: ", error_of([] { counted({2}).size(1); }) != "none");
}

/// PyTorch has another in ATen/cuda/Atomic.cuh alone.
__device__ inline at::Half atomicAdd(at::Half* at, at::Half by) { return *at = by * by; }
__global__ void own_atomic_kernel(at::Half* address) { atomicAdd(address, at::Half(3.0f)); }
CONSTRUCT(torch_atomic_of_a_file) {
    const at::Tensor x = counted({1}, at::kHalf);
    own_atomic_kernel<<<1, 1>>>(x.data_ptr<at::Half>());
    report.equal("its own", values<at::Half>(x), {at::Half(9.0f)});
}

__global__ void philox_kernel(at::PhiloxCudaState state, unsigned long long* numbers) {
    const auto seeds = at::cuda::philox::unpack(state);
    if (threadIdx.x == 0) numbers[0] = std::get<0>(seeds);
    if (threadIdx.x == 0) numbers[1] = std::get<1>(seeds);
    numbers[2 + threadIdx.x] = WARP_SHFL_XOR(unsigned(threadIdx.x), 1);
}
CONSTRUCT(torch_of_the_device) {
    auto* generator = at::get_generator_or_default<at::CUDAGeneratorImpl>(
        c10::nullopt, at::cuda::detail::getDefaultCUDAGenerator());
    at::PhiloxCudaState first, second;
    {
        const std::lock_guard<std::mutex> lock(generator->mutex_);
        first = generator->philox_cuda_state(5);
        second = generator->philox_cuda_state(4);
    }
    Array<unsigned long long> numbers(34), later(34);
    philox_kernel<<<1, 32>>>(first, numbers);
    philox_kernel<<<1, 32>>>(second, later);
    report.holds("a state's offset grows by what was asked for, in fours",
                 later.host()[1] - numbers.host()[1] == 8);
    report.holds("a shuffle", numbers.host()[2] == 1 && numbers.host()[3] == 0);
    const at::Tensor pinned =
        at::empty({34}, at::TensorOptions().dtype(at::kLong).pinned_memory(true));
    philox_kernel<<<1, 32>>>(first, static_cast<unsigned long long*>(pinned.data_ptr()));
    cudaDeviceSynchronize();
    report.holds("pinned memory", pinned.data_ptr<std::int64_t>()[2] == 1);
    report.holds("properties", at::cuda::getCurrentDeviceProperties()->warpSize == 32);
    const auto before = at::cuda::getCurrentCUDAStream();
    {
        const auto other = at::cuda::getStreamFromPool();
        const c10::cuda::CUDAStreamGuard guard(other);
        report.holds("a guard of the stream", at::cuda::getCurrentCUDAStream() == other);
    }
    report.holds("its end", at::cuda::getCurrentCUDAStream() == before);
    const auto failed = error_of([] { C10_CUDA_CHECK(cudaErrorInvalidValue); });
    report.holds("an error: " + failed, failed.find("CUDA error: ") != std::string::npos);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("scaled", &scaled, "Twice a matrix", py::arg("x"),
          py::call_guard<py::gil_scoped_release>());
}
