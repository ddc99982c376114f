// SPDX-License-Identifier: Apache-2.0
// The operator hash_grid: for each position in a unit square or cube the features of grids of
// growing resolution, linear between their corners, as Instant-NGP encodes positions. A grid with
// no more corners than a table has rows lies in it as it is; others share its rows by a hash.
#include "harness/declare_operator.hpp"

namespace gradverify {
namespace {

std::int64_t row_of(const std::vector<std::int64_t>& corner, std::int64_t side, std::int64_t rows) {
    constexpr std::int64_t primes[] = {1, 2654435761, 805459861};
    std::int64_t dense = 0, hash = 0, stride = 1;
    for (std::size_t axis = 0; axis < corner.size(); ++axis) {
        if (stride <= rows) dense += corner[axis] * stride, stride *= side;
        hash ^= corner[axis] * primes[axis] & 0xffffffff;
    }
    return (stride <= rows ? dense : hash) % rows;
}

template <class T>
void forward(const ForwardCall<T>& call) {
    const auto positions = call.input("positions"), table = call.input("table");
    const double growth = call.problem().real("growth");
    double resolution = static_cast<double>(call.parameter("base"));
    for (std::int64_t level = 0; level < table.size(0); ++level, resolution *= growth)
        for (std::int64_t n = 0; n < positions.size(0); ++n)
            for (std::int64_t corner = 0; corner < 1 << positions.size(1); ++corner) {
                std::vector<std::int64_t> at;
                T weight = 1.0;
                for (std::int64_t axis = 0; axis < positions.size(1); ++axis) {
                    const T place = positions(n, axis) * (resolution - 1.0) + 0.5;
                    const T first = floor(place), share = place - first;
                    at.push_back(index_of(first) + (corner >> axis & 1));
                    weight = weight * (corner >> axis & 1 ? share : 1.0 - share);
                }
                const auto row = row_of(at, std::llround(std::ceil(resolution)), table.size(1));
                for (std::int64_t f = 0; f < table.size(2); ++f)
                    call.output("y")(n, level, f) += weight * table(level, row, f);
            }
}

Operator describe() {
    return declare_operator("hash_grid")
        .parameter("n", {.minimum = 0})
        .parameter("dims", {.default_value = 2, .minimum = 2, .maximum = 3})
        .parameter("levels", {.maximum = 8})
        .parameter("features")
        .parameter("rows")
        .parameter("base", {.default_value = 2, .maximum = 63})
        .attribute("growth", {2.0, 1.5})
        .separable_along("n")
        .input("positions", {"n", "dims"}, numbers_between(0.0, 1.0))
        .input("table", {"levels", "rows", "features"})
        .output("y", {"n", "levels", "features"})
        .typical("n", 1, 64)
        .benchmark("n=262144,dims=3,levels=8,features=2,rows=524288,base=16")
        .forward([]<class T>(const ForwardCall<T>& call) { forward(call); })
        .gradient("backward", {"dy", "positions", "table"}, {"dpositions", "dtable"});
}

GRADVERIFY_OPERATOR(describe);

}  // namespace
}  // namespace gradverify
