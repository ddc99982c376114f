// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/execute/os_stack.hpp"

#include <pthread.h>

namespace gradverify::simt {

AddressRange stack_of_os_thread() {
    static thread_local const AddressRange stack = [] {
        pthread_attr_t attributes;
        void* begin = nullptr;
        std::size_t bytes = 0;
        if (pthread_getattr_np(pthread_self(), &attributes) != 0) return AddressRange{};
        pthread_attr_getstack(&attributes, &begin, &bytes);
        pthread_attr_destroy(&attributes);
        return AddressRange{number(begin), number(begin) + bytes};
    }();
    return stack;
}

}  // namespace gradverify::simt
