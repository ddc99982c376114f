// SPDX-License-Identifier: Apache-2.0
// PyTorch's C++ names for extensions on the CPU device: what stands for each of its headers.
#pragma once
#pragma GCC system_header

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "gradverify_torch/dispatch.hpp"
#include "gradverify_torch/functions.hpp"
#include "gradverify_torch/module.hpp"
