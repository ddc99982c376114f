// SPDX-License-Identifier: Apache-2.0
// How a launcher says that it does not take a problem, where no declaration could: the library that
// it calls decides that. Included by CUDA units.
#pragma once

#include <stdexcept>

namespace gradverify {

/// Thrown by a launcher before it has launched anything. The kernel declares `may_refuse()`: then
/// the case is skipped, with the text as the reason; without that the case has failed.
class NotSupported : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
    // Defined in the library, so that every unit throws the class that the library catches.
    ~NotSupported() override;
};

}  // namespace gradverify
