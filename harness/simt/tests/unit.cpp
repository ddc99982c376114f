// SPDX-License-Identifier: Apache-2.0
// CMake wants an object library to have a source of its own.
