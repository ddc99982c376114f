// SPDX-License-Identifier: Apache-2.0
#include "properties/tests/training/digits.hpp"

#include <algorithm>
#include <cmath>

#include "harness/base/random.hpp"

namespace gradverify {

namespace {

struct Segment {
    double from_x, from_y, to_x, to_y;
};

// On a unit square, y downwards: top, upper right, lower right, bottom, lower left, upper left,
// middle.
constexpr Segment segments[] = {{0, 0, 1, 0},  {1, 0, 1, .5}, {1, .5, 1, 1}, {0, 1, 1, 1},
                                {0, .5, 0, 1}, {0, 0, 0, .5}, {0, .5, 1, .5}};
constexpr const char* segments_of_digit[] = {"012345", "12",     "01643", "01623",   "5612",
                                             "05623",  "056432", "012",   "0123456", "012356"};

double distance(double x, double y, const Segment& segment) {
    const double along_x = segment.to_x - segment.from_x, along_y = segment.to_y - segment.from_y;
    const double share =
        std::clamp(((x - segment.from_x) * along_x + (y - segment.from_y) * along_y) /
                       (along_x * along_x + along_y * along_y),
                   0.0, 1.0);
    return std::hypot(x - segment.from_x - share * along_x, y - segment.from_y - share * along_y);
}

}  // namespace

Digits draw_digits(std::int64_t n, std::int64_t size, std::uint64_t seed) {
    SplitMix64 random(mix_seed(seed, "digits"));
    const auto uniform = [&](double from, double to) {
        return from + (to - from) * static_cast<double>(random.below(1u << 24)) * 0x1p-24;
    };
    Digits digits{{{n, 1, size, size}, {}}, {{n}, {}}};
    for (std::int64_t i = 0; i < n; ++i) {
        const auto label = random.below(10);
        digits.labels.data.push_back(static_cast<double>(label));
        const double side = static_cast<double>(size);
        const double width = uniform(0.3, 0.45), height = uniform(0.55, 0.75);
        const double left = uniform(0.12, 0.88 - width), top = uniform(0.1, 0.9 - height);
        const double slant = uniform(-0.2, 0.2), thickness = uniform(0.09, 0.16);
        const double brightness = uniform(0.6, 1.0);
        for (std::int64_t row = 0; row < size; ++row)
            for (std::int64_t column = 0; column < size; ++column) {
                const double y = ((static_cast<double>(row) + 0.5) / side - top) / height;
                const double x =
                    ((static_cast<double>(column) + 0.5) / side - left) / width + slant * (y - 0.5);
                double nearest = 1.0;
                for (const char* at = segments_of_digit[label]; *at != '\0'; ++at)
                    nearest = std::min(nearest, distance(x, y, segments[*at - '0']));
                const double ink = std::clamp(1.5 - nearest / thickness, 0.0, 1.0);
                const double pixel = brightness * ink + uniform(-0.15, 0.15);
                digits.images.data.push_back(static_cast<double>(static_cast<float>(pixel)));
            }
    }
    return digits;
}

}  // namespace gradverify
