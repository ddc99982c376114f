// SPDX-License-Identifier: Apache-2.0
#include "harness/registry/not_supported.hpp"

namespace gradverify {

NotSupported::~NotSupported() = default;

}  // namespace gradverify
