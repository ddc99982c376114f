// SPDX-License-Identifier: Apache-2.0
// The build tool: `gradverify_rewrite IN.ii OUT.ii [DEVICE.ii [FOLDER...]]`, where DEVICE.ii is the
// file's text for a device, or empty where it is the same, and files in a FOLDER have no marks.
// Exit code 1 with one `file:line: error:` line when the input cannot be rewritten, 2 for a bad
// command line or file.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>

#include "harness/simt/rewrite/rewrite.hpp"

namespace {

bool read(const char* path, std::string& text) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream source;
    source << in.rdbuf();
    if (!in) std::cerr << "gradverify_rewrite: cannot read " << path << '\n';
    text = source.str();
    return static_cast<bool>(in);
}

}  // namespace

int main(int argc, char** argv) {
    using namespace gradverify::simt::rewrite;
    if (argc < 3) {
        std::cerr << "usage: gradverify_rewrite IN.ii OUT.ii [DEVICE.ii [FOLDER...]]\n";
        return 2;
    }
    std::string text, device_text;
    if (!read(argv[1], text) || (argc > 3 && !read(argv[3], device_text))) return 2;
    try {
        if (!device_text.empty()) text = merge_device_text(text, device_text);
        const std::string result = rewrite(text, {argv + std::min(argc, 4), argv + argc});
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
