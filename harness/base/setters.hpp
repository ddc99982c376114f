// SPDX-License-Identifier: Apache-2.0
// The setters of a declaration change it and return it, so that it reads as one sentence.
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

namespace gradverify::detail {

template <class Declaration, class T>
Declaration& set(Declaration& declaration, T& field, std::type_identity_t<T> value) {
    field = std::move(value);
    return declaration;
}

template <class Declaration, class T>
Declaration& add(Declaration& declaration, std::vector<T>& list, std::type_identity_t<T> element) {
    list.push_back(std::move(element));
    return declaration;
}

}  // namespace gradverify::detail
