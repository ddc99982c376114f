// SPDX-License-Identifier: Apache-2.0
#include "harness/base/version.hpp"

namespace gradverify {

constinit const std::string_view version = GRADVERIFY_VERSION;

}  // namespace gradverify
