// SPDX-License-Identifier: Apache-2.0
// A shared variable that the CPU device cannot place: reported on line 3.
__shared__ int at_file_scope;
