// SPDX-License-Identifier: Apache-2.0
// The build tool: `gradverify_rewrite IN.ii OUT.ii`. Exit code 1 with one `file:line: error:` line
// when the input cannot be rewritten, 2 for a bad command line or file.
#include <fstream>
#include <iostream>
#include <sstream>

#include "harness/simt/rewrite/rewrite.hpp"

int main(int argc, char** argv) {
    if (argc != 3) {
        std::cerr << "usage: gradverify_rewrite IN.ii OUT.ii\n";
        return 2;
    }
    std::ifstream in(argv[1], std::ios::binary);
    std::stringstream source;
    source << in.rdbuf();
    if (!in) {
        std::cerr << "gradverify_rewrite: cannot read " << argv[1] << '\n';
        return 2;
    }
    try {
        const std::string result = gradverify::simt::rewrite::rewrite(source.str());
        std::ofstream out(argv[2], std::ios::binary);
        out << result;
        out.close();
        if (!out) {
            std::cerr << "gradverify_rewrite: cannot write " << argv[2] << '\n';
            return 2;
        }
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}
