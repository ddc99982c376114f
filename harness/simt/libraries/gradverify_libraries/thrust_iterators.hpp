// SPDX-License-Identifier: Apache-2.0
// Thrust's pointers and iterators, and where what they point at lies: on the host, or the device.
#pragma once
#pragma GCC system_header

#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>

#include "gradverify_simt/forced.hpp"

namespace thrust {
namespace gradverify_detail {

/// The rest of a random access iterator, from `at()`, `move(n)` and `from(other)`.
template <class Self, class T, class Reference>
class Iterator {
    Self& self() { return static_cast<Self&>(*this); }
    const Self& self() const { return static_cast<const Self&>(*this); }

  public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using reference = Reference;
    using pointer = void;

    Reference operator*() const { return self().at(); }
    Reference operator[](std::ptrdiff_t n) const { return (self() + n).at(); }
    Self operator+(std::ptrdiff_t n) const {
        Self moved = self();
        moved.move(n);
        return moved;
    }
    friend Self operator+(std::ptrdiff_t n, const Self& at) { return at + n; }
    Self operator-(std::ptrdiff_t n) const { return self() + -n; }
    std::ptrdiff_t operator-(const Self& other) const { return self().from(other); }
    Self& operator+=(std::ptrdiff_t n) {
        self().move(n);
        return self();
    }
    Self& operator-=(std::ptrdiff_t n) { return *this += -n; }
    Self& operator++() { return *this += 1; }
    Self& operator--() { return *this -= 1; }
    Self operator++(int) { return ++self() - 1; }
    Self operator--(int) { return --self() + 1; }
    friend bool operator==(const Self& a, const Self& b) { return a.from(b) == 0; }
    friend bool operator!=(const Self& a, const Self& b) { return a.from(b) != 0; }
    friend bool operator<(const Self& a, const Self& b) { return a.from(b) < 0; }
    friend bool operator>(const Self& a, const Self& b) { return a.from(b) > 0; }
    friend bool operator<=(const Self& a, const Self& b) { return a.from(b) <= 0; }
    friend bool operator>=(const Self& a, const Self& b) { return a.from(b) >= 0; }
};

template <class It>
using value_of = typename std::iterator_traits<It>::value_type;
template <class It>
using reference_of = typename std::iterator_traits<It>::reference;

}  // namespace gradverify_detail

template <class T>
class device_ptr : public gradverify_detail::Iterator<device_ptr<T>, std::remove_const_t<T>, T&> {
  public:
    using pointer = device_ptr;
    device_ptr() = default;
    explicit device_ptr(T* pointer) : pointer_(pointer) {}
    template <class U, class = std::enable_if_t<std::is_same_v<const U, T>>>
    device_ptr(device_ptr<U> other) : pointer_(other.get()) {}
    T* get() const { return pointer_; }
    T* operator->() const { return &at(); }
    explicit operator bool() const { return pointer_ != nullptr; }
    /// On the host a reference copies: device memory is the host's, too, until the next work ends.
    T& at() const {
        using namespace ::gradverify::simt::unit;
        if (!on_device_thread()) gradverify_simt_begin_device_work();
        return *pointer_;
    }
    void move(std::ptrdiff_t n) { pointer_ += n; }
    std::ptrdiff_t from(device_ptr other) const { return pointer_ - other.pointer_; }

  private:
    T* pointer_ = nullptr;
};
template <class T>
device_ptr<T> device_pointer_cast(T* pointer) {
    return device_ptr<T>(pointer);
}
template <class T>
T* raw_pointer_cast(T* pointer) {
    return pointer;
}
template <class T>
T* raw_pointer_cast(device_ptr<T> pointer) {
    return pointer.get();
}

template <class T>
class counting_iterator : public gradverify_detail::Iterator<counting_iterator<T>, T, T> {
  public:
    counting_iterator() = default;
    explicit counting_iterator(T value) : value_(value) {}
    T at() const { return value_; }
    void move(std::ptrdiff_t n) { value_ = static_cast<T>(value_ + n); }
    std::ptrdiff_t from(counting_iterator other) const {
        return static_cast<std::ptrdiff_t>(value_) - static_cast<std::ptrdiff_t>(other.value_);
    }

  private:
    T value_{};
};
template <class T>
counting_iterator<T> make_counting_iterator(T value) {
    return counting_iterator<T>(value);
}

template <class T>
class constant_iterator : public gradverify_detail::Iterator<constant_iterator<T>, T, T> {
  public:
    explicit constant_iterator(T value, std::ptrdiff_t at = 0) : value_(value), at_(at) {}
    T at() const { return value_; }
    void move(std::ptrdiff_t n) { at_ += n; }
    std::ptrdiff_t from(constant_iterator other) const { return at_ - other.at_; }

  private:
    T value_;
    std::ptrdiff_t at_;
};
template <class T>
constant_iterator<T> make_constant_iterator(T value, std::ptrdiff_t at = 0) {
    return constant_iterator<T>(value, at);
}

template <class F, class It>
using transformed = std::invoke_result_t<const F&, gradverify_detail::reference_of<It>>;
template <class F, class It>
class transform_iterator
    : public gradverify_detail::Iterator<transform_iterator<F, It>,
                                         std::decay_t<transformed<F, It>>, transformed<F, It>> {
  public:
    transform_iterator(It base, F function) : base_(base), function_(function) {}
    transformed<F, It> at() const { return (*function_.pointer())(*base_); }
    void move(std::ptrdiff_t n) { base_ += n; }
    std::ptrdiff_t from(const transform_iterator& other) const { return base_ - other.base_; }

  private:
    /// A lambda can be copied, and not assigned.
    struct Kept {
        alignas(F) unsigned char bytes[sizeof(F)];
        explicit Kept(const F& function) { new (bytes) F(function); }
        const F* pointer() const { return reinterpret_cast<const F*>(bytes); }
    };
    static_assert(std::is_trivially_copyable_v<F>,
                  "gradverify: a transform_iterator takes a trivially copyable function");
    It base_;
    Kept function_;
};
template <class F, class It>
transform_iterator<F, It> make_transform_iterator(It base, F function) {
    return {base, function};
}

template <class Elements, class Indices>
class permutation_iterator
    : public gradverify_detail::Iterator<permutation_iterator<Elements, Indices>,
                                         gradverify_detail::value_of<Elements>,
                                         gradverify_detail::reference_of<Elements>> {
  public:
    permutation_iterator(Elements elements, Indices indices)
        : elements_(elements), indices_(indices) {}
    gradverify_detail::reference_of<Elements> at() const { return elements_[*indices_]; }
    void move(std::ptrdiff_t n) { indices_ += n; }
    std::ptrdiff_t from(const permutation_iterator& other) const {
        return indices_ - other.indices_;
    }

  private:
    Elements elements_;
    Indices indices_;
};
template <class Elements, class Indices>
permutation_iterator<Elements, Indices> make_permutation_iterator(Elements e, Indices i) {
    return {e, i};
}

template <class Tuple>
class zip_iterator;
template <class... Its>
class zip_iterator<std::tuple<Its...>>
    : public gradverify_detail::Iterator<zip_iterator<std::tuple<Its...>>,
                                         std::tuple<gradverify_detail::value_of<Its>...>,
                                         std::tuple<gradverify_detail::reference_of<Its>...>> {
  public:
    zip_iterator(std::tuple<Its...> parts) : parts_(parts) {}
    std::tuple<gradverify_detail::reference_of<Its>...> at() const {
        return std::apply(
            [](const auto&... part) {
                return std::tuple<gradverify_detail::reference_of<Its>...>(*part...);
            },
            parts_);
    }
    void move(std::ptrdiff_t n) {
        std::apply([n](auto&... part) { ((part += n), ...); }, parts_);
    }
    std::ptrdiff_t from(const zip_iterator& other) const {
        return std::get<0>(parts_) - std::get<0>(other.parts_);
    }

  private:
    std::tuple<Its...> parts_;
};
template <class... Its>
zip_iterator<std::tuple<Its...>> make_zip_iterator(std::tuple<Its...> parts) {
    return {parts};
}
template <class... Its>
zip_iterator<std::tuple<Its...>> make_zip_iterator(Its... parts) {
    return {std::tuple<Its...>(parts...)};
}

namespace gradverify_detail {

/// Where an argument's elements lie; most arguments have none.
struct Side {
    bool host = false, device = false;
    constexpr Side operator|(Side other) const {
        return {host || other.host, device || other.device};
    }
};
template <class T, class = void>
struct SideOf {
    static constexpr Side value{};
};
template <class T>
struct SideOf<T*, void> {
    static constexpr Side value{!std::is_function_v<T>, false};
};
template <class T>  // the iterators of the standard library
struct SideOf<T, std::void_t<typename T::iterator_category, typename T::pointer,
                             decltype(std::declval<T>().operator->())>> {
    static constexpr Side value{true, false};
};
template <class T>
struct SideOf<device_ptr<T>, void> {
    static constexpr Side value{false, true};
};
template <class F, class It>
struct SideOf<transform_iterator<F, It>, void> : SideOf<It> {};
template <class E, class I>
struct SideOf<permutation_iterator<E, I>, void> {
    static constexpr Side value = SideOf<E>::value | SideOf<I>::value;
};
template <class... Its>
struct SideOf<zip_iterator<std::tuple<Its...>>, void> {
    static constexpr Side value = (Side{} | ... | SideOf<Its>::value);
};

}  // namespace gradverify_detail
}  // namespace thrust
