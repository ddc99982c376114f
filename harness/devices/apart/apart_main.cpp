// SPDX-License-Identifier: Apache-2.0
// The main of a launcher process.
#include "harness/devices/apart/apart_device.hpp"

int main(int argc, char** argv) { return gradverify::serve_apart(argc > 1 ? argv[1] : ""); }
