#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The .deb that cpack makes of a build holds what was installed from it; unpacked, it gives a verdict,
# and CMake finds it: deb_test.sh BUILD PREFIX WORK VERSION COMPILER
set -euo pipefail
build=$1 prefix=$2 work=$3 version=$4 compiler=$5
if ! command -v dpkg-shlibdeps >/dev/null || ! command -v file >/dev/null; then
    echo 'skipped: without dpkg-dev and file CPack makes no .deb'
    exit
fi
rm -rf "$work"
mkdir -p "$work"
# Packed for this test alone, so not small.
cpack --config "$build/CPackConfig.cmake" -B "$work" -D CPACK_DEBIAN_COMPRESSION_TYPE=none \
    >"$work/log" 2>&1 || { cat "$work/log" && exit 1; }
dpkg-deb -x "$work/gradverify_${version}_$(dpkg --print-architecture).deb" "$work/unpacked"
usr=$work/unpacked/usr

for folder in bin include lib libexec; do
    diff <(cd "$prefix" && find "$folder" | sort) <(cd "$usr" && find "$folder" | sort)
done
for file in bash-completion/completions/gradverify doc/gradverify/copyright man/man1/gradverify.1.gz; do
    [[ -s $usr/share/$file ]] || { echo "no share/$file" && exit 1; }
done
gunzip -c "$usr/share/man/man1/gradverify.1.gz" | grep -q "^.TH GRADVERIFY 1 .*$version"
"$usr/bin/gradverify" check 'relu.*' --device cpu --cases 20
cmake -S "$(dirname "$0")/version" -B "$work/version" -DCMAKE_PREFIX_PATH="$usr" \
    -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Debug
