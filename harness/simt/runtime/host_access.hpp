// SPDX-License-Identifier: Apache-2.0
// While a launcher is watched, device memory is closed to the host: its pages are open while the
// device works alone. Memory that both sides may use is never closed.
#pragma once

#include <cstdint>

namespace gradverify::simt {

/// The device begins to work for this OS thread, if it does not already; and ends.
void begin_device_work();
void end_device_work();

/// Whether device memory is closed at the moment.
bool is_device_memory_closed();
/// Whether that is why an access to the address is a fault.
bool is_closed(std::uintptr_t address);
/// Opens all of it, inputs for writes too, and closes it no more before another launcher begins.
void open_device_memory();

}  // namespace gradverify::simt
