# SPDX-License-Identifier: Apache-2.0
# What Debian has elsewhere than others do, or wants besides. CPack runs this before it packs.
set(share ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share)
set(doc ${share}/doc/gradverify)
# Debian has the text already, and `copyright` says where.
file(REMOVE ${doc}/LICENSE)
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${doc}/changelog "gradverify (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * What is new is in CHANGELOG.md, beside the sources.

 -- ${CPACK_PACKAGE_CONTACT}  ${now}
")
execute_process(COMMAND gzip -9n ${doc}/changelog COMMAND_ERROR_IS_FATAL ANY)
