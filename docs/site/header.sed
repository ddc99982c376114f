# SPDX-License-Identifier: Apache-2.0
# Makes of a header what doxygen shows of it, without moving a line.

# The comment at its head, behind the licence, is the text of its page, with formulas and code.
1s|.*|/// \\file|
2,/^#pragma/{
    s|^//|///|
    s|^///   |///     |
}
# What is private is left out: doxygen would link to a list of its structs, and not make the list.
/^  private:$/,/^};$/{
    /^};$/!s/.*//
}
