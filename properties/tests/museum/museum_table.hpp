// SPDX-License-Identifier: Apache-2.0
// The docs' page of the museum.
#pragma once

namespace gradverify {

/// Measures on the cpu device what it takes to kill each piece, and prints the page. Returns the
/// exit code: 1 where one is not killed from 19 seeds of 20, or not at its smallest problem.
int museum_table_main();

}  // namespace gradverify
