// SPDX-License-Identifier: Apache-2.0
// How a launcher refuses a problem where the library that it calls decides which it takes.
#pragma once

#include <stdexcept>

namespace gradverify {

/// Thrown by a launcher before it has launched anything. The case is skipped, with the text as the
/// reason, if the kernel declares `may_refuse()`; else it has failed.
class NotSupported : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
    // Defined in the library, so that every unit throws the class that the library catches.
    ~NotSupported() override;
};

}  // namespace gradverify
