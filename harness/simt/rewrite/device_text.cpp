// SPDX-License-Identifier: Apache-2.0
// Makes one text of the two that nvcc compiles: a file preprocessed for the host, and for a device,
// where __CUDA_ARCH__ is defined. Their declarations are matched by name, scope by scope. A
// function of the device alone has the device's body, one of both has both.
#include <algorithm>
#include <string_view>
#include <vector>

#include "harness/simt/rewrite/declarations.hpp"
#include "harness/simt/rewrite/rewrite.hpp"
#include "harness/simt/rewrite/stream.hpp"

namespace gradverify::simt::rewrite {
namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

/// One declaration of the result: its numbers in the two texts, or none.
struct Pair {
    std::size_t host, device;
};

/// The longest common subsequence, in order, with what only one of them has between (Myers 1986).
std::vector<Pair> match(const std::vector<Declaration>& host,
                        const std::vector<Declaration>& device) {
    const auto n = static_cast<std::ptrdiff_t>(host.size());
    const auto m = static_cast<std::ptrdiff_t>(device.size());
    const auto skip_equal = [&](std::ptrdiff_t x, std::ptrdiff_t k) {
        while (x < n && x - k < m && host[std::size_t(x)].key == device[std::size_t(x - k)].key)
            ++x;
        return x;
    };
    // furthest[d][k + d + 1]: how far d steps lead into `host` on diagonal k.
    std::vector<std::vector<std::ptrdiff_t>> furthest;
    const auto came_down = [&](std::ptrdiff_t d, std::ptrdiff_t k) {
        const auto& last = furthest[std::size_t(d - 1)];
        return k == -d || (k != d && last[std::size_t(k + d - 1)] < last[std::size_t(k + d + 1)]);
    };
    const auto start = [&](std::ptrdiff_t d, std::ptrdiff_t k) -> std::ptrdiff_t {
        if (d == 0) return 0;
        const auto& last = furthest[std::size_t(d - 1)];
        return came_down(d, k) ? last[std::size_t(k + d + 1)] : last[std::size_t(k + d - 1)] + 1;
    };
    constexpr std::ptrdiff_t most_differences = 8000;  // the steps take half a gigabyte then
    for (std::ptrdiff_t d = 0;; ++d) {
        if (d > most_differences)
            throw RewriteError("the text for a device has hardly a declaration of the host's");
        furthest.emplace_back(2 * d + 3, -1);
        for (std::ptrdiff_t k = -d; k <= d; k += 2)
            furthest.back()[std::size_t(k + d + 1)] = skip_equal(start(d, k), k);
        const std::ptrdiff_t k = n - m;
        if (k >= -d && k <= d && furthest.back()[std::size_t(k + d + 1)] >= n) break;
    }
    std::vector<Pair> pairs;
    std::ptrdiff_t x = n, k = n - m;
    for (auto d = std::ptrdiff_t(furthest.size()) - 1; d >= 0; --d) {
        for (const std::ptrdiff_t begin = start(d, k); x > begin; --x)
            pairs.push_back({std::size_t(x - 1), std::size_t(x - 1 - k)});
        if (d == 0) break;
        const bool down = came_down(d, k);
        pairs.push_back(down ? Pair{none, std::size_t(x - k - 1)} : Pair{std::size_t(x - 1), none});
        k += down ? 1 : -1;
        if (!down) --x;
    }
    std::ranges::reverse(pairs);
    return pairs;
}

/// Whether the head of a function is a constructor's with `: member(...)`.
bool has_initializers(const Stream& stream, Range head) {
    for (std::size_t at = head.begin; at < head.end; ++at) {
        if (stream.is(at, "(")) at = stream.matching(at);
        if (stream.is(at, ":")) return true;
    }
    return false;
}

/// Where a function with these marks runs, as nvcc has it.
struct Sides {
    bool host = true, device = false;
};
Sides sides_of(const Stream& stream, const Declaration& function) {
    bool marked_host = false, marked_device = false;
    for (std::size_t i = function.range.begin; i < function.open; ++i) {
        marked_host |= stream.is(i, "__host__");
        marked_device |= stream.is(i, "__device__") || stream.is(i, "__global__");
    }
    return {.host = marked_host || !marked_device, .device = marked_device};
}

/// The body of a lambda within a host function that is marked to run on a device.
struct DeviceLambda {
    Range body;
    bool on_host;
};
std::vector<DeviceLambda> device_lambdas(const Stream& stream, Range range) {
    std::vector<DeviceLambda> found;
    for (std::size_t i = range.begin; i < range.end; ++i) {
        if (!stream.is(i, "]") || !is_mark(stream.at(i + 1))) continue;
        std::size_t open = i + 1;
        for (; open < range.end && !stream.is(open, "{"); ++open)
            if (stream.at(open).opens()) open = stream.matching(open);
        if (open >= range.end) break;
        const bool on_host = stream.is(i + 1, "__host__") || stream.is(i + 2, "__host__");
        i = stream.matching(open);
        found.push_back({{open + 1, i}, on_host});
    }
    return found;
}

class Merger {
  public:
    Merger(const Stream& host, const Stream& device) : host_(host), device_(device) {}

    std::string run() {
        merge({0, host_.size()}, {0, device_.size()});
        space_before(host_.size());
        return joined_;
    }

  private:
    bool same(Range a, Range b) const {
        if (a.end - a.begin != b.end - b.begin) return false;
        for (std::size_t i = 0; i < a.end - a.begin; ++i) {
            if (host_.at(a.begin + i).text != device_.at(b.begin + i).text) return false;
        }
        return true;
    }

    /// What stands between the host's tokens stays, once: pragmas, line markers and spaces.
    void space_before(std::size_t host_token) {
        if (host_token < next_space_) return;
        joined_ += host_.text_before(host_token);
        next_space_ = host_token + 1;
    }

    void copy(const Stream& from, Range range) {
        if (range.empty()) return;
        const bool goes_on = last_ == &from && last_end_ == range.begin;
        if (&from == &host_) {
            space_before(range.begin);
            next_space_ = range.end;
        } else if (goes_on) {
            joined_ += from.text_before(range.begin);
        }
        if (!goes_on) joined_ += from.marker(range.begin);
        joined_ += from.text(range);
        last_ = &from;
        last_end_ = range.end;
    }

    void merge(Range host_scope, Range device_scope) {
        if (same(host_scope, device_scope)) return copy(host_, host_scope);
        constexpr int most_scopes = 256;
        if (++depth_ > most_scopes) host_.fail(host_scope.begin, "more than 256 scopes are nested");
        const std::vector<Declaration> host = declarations_in(host_, host_scope);
        const std::vector<Declaration> device = declarations_in(device_, device_scope);
        for (const auto& [h, d] : match(host, device)) {
            if (h != none) space_before(host[h].range.begin);
            if (d == none) {
                copy_unless_other_side(host_, host[h], &Sides::host);
            } else if (h == none) {
                copy_unless_other_side(device_, device[d], &Sides::device);
            } else {
                merge(host[h], device[d]);
            }
        }
        --depth_;
    }

    /// A function that only the other side compiles is in that side's text.
    void copy_unless_other_side(const Stream& from, const Declaration& declaration,
                                bool Sides::* side) {
        const Sides sides = sides_of(from, declaration);
        const bool is_marked = sides.device;
        const bool is_function = declaration.kind == DeclarationKind::function;
        if (is_function && is_marked && !(sides.*side)) return;
        copy(from, declaration.range);
    }

    void merge(const Declaration& host, const Declaration& device) {
        if (same(host.range, device.range)) return copy(host_, host.range);
        if (host.kind != device.kind || host.kind == DeclarationKind::other)
            return copy(device_, device.range);
        const Range host_body{host.open + 1, host_.matching(host.open)};
        const Range device_body{device.open + 1, device_.matching(device.open)};
        if (host.kind == DeclarationKind::scope) {
            copy(host_, {host.range.begin, host_body.begin});
            merge(host_body, device_body);
            copy(host_, {host_body.end, host.range.end});
        } else if (!sides_of(device_, device).device) {
            host_function(host.range, device.range);
        } else if (!sides_of(host_, host).host) {
            copy(device_, device.range);
        } else {
            merge_heads({host.range.begin, host.open}, {device.range.begin, device.open});
            both(host_body, device_body);
        }
    }

    /// One of them may leave out the names of its parameters.
    void merge_heads(Range host, Range device) {
        if (!same(host, device) &&
            (has_initializers(host_, host) || has_initializers(device_, device)))
            host_.fail(host.begin,
                       "a constructor that initializes other members, or otherwise, where "
                       "__CUDA_ARCH__ is defined: assign in its body");
        if (host.end - host.begin >= device.end - device.begin) return copy(host_, host);
        copy(device_, device);
    }

    void host_function(Range host, Range device) {
        const std::vector<DeviceLambda> in_host = device_lambdas(host_, host);
        const std::vector<DeviceLambda> in_device = device_lambdas(device_, device);
        for (std::size_t i = 0; i < in_host.size() && in_host.size() == in_device.size(); ++i) {
            const Range body = in_host[i].body;
            copy(host_, {host.begin, body.begin});
            if (in_host[i].on_host)
                both(body, in_device[i].body);
            else
                copy(device_, in_device[i].body);
            host.begin = body.end;
        }
        copy(host_, host);
    }

    void both(Range host_body, Range device_body) {
        joined_ += " { if (::gradverify::simt::unit::on_device_thread()) {";
        copy(device_, device_body);
        joined_ += "} else {";
        copy(host_, host_body);
        joined_ += "} }";
        last_ = nullptr;
    }

    const Stream& host_;
    const Stream& device_;
    std::string joined_;
    int depth_ = 0;
    const Stream* last_ = nullptr;
    std::size_t last_end_ = 0;
    std::size_t next_space_ = 0;  ///< the host's token before which it has not been copied
};

}  // namespace

std::string merge_device_text(std::string_view host, std::string_view device) {
    const Stream host_stream(host, Marks::kept), device_stream(device, Marks::kept);
    return Merger(host_stream, device_stream).run();
}

}  // namespace gradverify::simt::rewrite
