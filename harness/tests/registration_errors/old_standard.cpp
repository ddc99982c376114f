// SPDX-License-Identifier: Apache-2.0
// flags: -std=c++17
// expect: kernel files need C++20; pass -std=c++20 to nvcc
#include "harness/kernel.hpp"
