// SPDX-License-Identifier: Apache-2.0
#include "harness/devices/process_state.hpp"

#include <clocale>

namespace gradverify {

ScopedProcessState::ScopedProcessState() : locale_(std::setlocale(LC_ALL, nullptr)) {
    // On x86 the environment holds the whole of MXCSR: flush to zero and denormals are zero too.
    std::fegetenv(&floating_point_);
    pthread_sigmask(SIG_SETMASK, nullptr, &signals_);
}

ScopedProcessState::~ScopedProcessState() {
    std::fesetenv(&floating_point_);
    pthread_sigmask(SIG_SETMASK, &signals_, nullptr);
    if (locale_ != std::setlocale(LC_ALL, nullptr)) std::setlocale(LC_ALL, locale_.c_str());
}

}  // namespace gradverify
