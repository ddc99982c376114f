// SPDX-License-Identifier: Apache-2.0
// Walks a shrink tree from what fails to something smaller that fails too. Pulls in rapidcheck.
#pragma once

#include <rapidcheck/Shrinkable.h>

namespace gradverify {

/// Goes greedily, as rapidcheck itself does: always to the first child that `fails`, until none
/// does or `may_go_on` says no.
template <class T, class Fails, class MayGoOn>
T walk(rc::Shrinkable<T> node, Fails fails, MayGoOn may_go_on) {
    for (bool moved = true; moved;) {
        moved = false;
        rc::Seq<rc::Shrinkable<T>> children = node.shrinks();
        while (!moved && may_go_on()) {
            auto child = children.next();
            if (!child) break;
            moved = fails(child->value());
            if (moved) node = std::move(*child);
        }
    }
    return node.value();
}

}  // namespace gradverify
