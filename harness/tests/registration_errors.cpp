// SPDX-License-Identifier: Apache-2.0
// A kernel's registration that compiles, and mistakes in one that must not, each with what the
// compiler says:
// NOT_A_PAIR: as_pairs<T>() takes a type of two numbers that as<T>() takes, const or not: float2,
// NOT_A_PASS: the first argument of GRADVERIFY_KERNEL must be a pass of an operator, such as
// OLD_STANDARD: kernel files need C++20; pass -std=c++20 to nvcc
// WRONG_SIGNATURE: wrong launcher signature; the third argument of GRADVERIFY_KERNEL must
#include "harness/kernel.hpp"
#include "reference/conv.hpp"

using namespace gradverify;

#ifdef NOT_A_PAIR
const float* read(const TensorView& view) { return view.as_pairs<const float>(); }
#endif

#ifdef NOT_A_PASS
using Registered = conv::Parameters;
#else
using Registered = conv::GradWeight;
#endif

#ifdef WRONG_SIGNATURE
static void launch(const conv::GradBias&) {}
#else
static void launch(const Registered&) {}
#endif

GRADVERIFY_KERNEL(Registered, "right", launch).where("stride", equals(1));

// Launchers that are templates, instances of them, or overloads.
template <class T, int block, class Call>
static void launch_in(const Call&) {}
template <class Call>
static void launch_any(const Call&) {}
template <int block = 32>
static void launch_blocks(const conv::GradBias&) {}
static void launch_each(const conv::GradBias&) {}
static void launch_each(const conv::GradWeight&) {}
GRADVERIFY_KERNEL(conv::GradBias, "any", launch_any);
GRADVERIFY_KERNEL(conv::GradBias, "instance", launch_any<conv::GradBias>);
GRADVERIFY_KERNEL(conv::GradBias, "in_float", launch_in<float, 32>).where("stride", equals(1));
GRADVERIFY_KERNEL(conv::GradBias, "blocks", launch_blocks);
GRADVERIFY_KERNEL(conv::GradBias, "blocks_of_64", &launch_blocks<64>);
GRADVERIFY_KERNEL(conv::GradBias, "each", launch_each);
GRADVERIFY_KERNEL(conv::GradWeight, "each", launch_each);
