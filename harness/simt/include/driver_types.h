// SPDX-License-Identifier: Apache-2.0
// Stands for CUDA's header of this name. The forced include already declared all that it would;
// a file that includes it by itself gets the same.
#pragma once
#pragma GCC system_header

#include "gradverify_simt/forced.hpp"
