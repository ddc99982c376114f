// SPDX-License-Identifier: Apache-2.0
// Stands for CUDA's header of this name.
#pragma once
#pragma GCC system_header

#include "gradverify_simt/forced.hpp"
