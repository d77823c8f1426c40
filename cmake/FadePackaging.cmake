# `cpack` makes the Debian package fade. All that is installed belongs to it; a package of its own for the daemon comes
# with the daemon.
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME fade)
set(CPACK_PACKAGE_VENDOR fade)
set(CPACK_PACKAGE_CONTACT "The fade maintainers <fade@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "record and correct the HIP calls of a program from outside")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The runtime that the bundled programs use: theirs alone, found through their run path.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/demo)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3, sqlite3")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
  "fade supervises a program that uses an AMD GPU through HIP. It records every call with arguments, results and times in
an SQLite file, can put other answers in place of device properties, and reports from the file. The program is neither
recompiled nor preloaded into.")
include(CPack)
