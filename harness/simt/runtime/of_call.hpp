// SPDX-License-Identifier: Apache-2.0
// What belongs to a call is the process's, as a launcher may launch from threads that it joins; one
// of them at a time has the device. Fibers, and what runs on them, are an OS thread's own.
#pragma once

#include <mutex>

namespace gradverify::simt {

/// Recursive: a launch has it until its end, and what it calls asks for it again.
inline std::recursive_mutex& call_mutex() {
    // Never destroyed: a thread may outlive static variables.
    static auto* const mutex = new std::recursive_mutex;
    return *mutex;
}

/// The one `T` of the process, which this OS thread has as long as this lives.
template <class T>
class OfCall {
  public:
    T* operator->() const { return &of_process(); }
    T& operator*() const { return of_process(); }

  private:
    static T& of_process() {
        static auto* const one = new T;
        return *one;
    }
    std::unique_lock<std::recursive_mutex> lock_{call_mutex()};
};

}  // namespace gradverify::simt
