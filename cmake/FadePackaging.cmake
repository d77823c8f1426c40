# `cpack` makes the Debian packages fade and fade-daemon. All that is installed belongs to the first, but for the
# component "daemon": faded, fadectl and the units.
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Debian's policy wants the licence of each package under this name.
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/fade RENAME copyright)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/fade-daemon RENAME copyright COMPONENT daemon)

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
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libcurl4 | libcurl4t64, python3, sqlite3")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
  "fade supervises a program that uses an AMD GPU through HIP. It records every call with arguments, results and times
in an SQLite file, can put other answers in place of device properties, and reports from the file. The program is
neither recompiled nor preloaded into.")
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL Unspecified daemon)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_NAME fade)
set(CPACK_COMPONENT_UNSPECIFIED_DESCRIPTION "${CPACK_DEBIAN_PACKAGE_DESCRIPTION}")
set(CPACK_DEBIAN_DAEMON_PACKAGE_NAME fade-daemon)
set(CPACK_DEBIAN_DAEMON_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_DAEMON_PACKAGE_DEPENDS "fade (= ${PROJECT_VERSION}), systemd | systemd-standalone-sysusers")
set(CPACK_DEBIAN_DAEMON_PACKAGE_RECOMMENDS "")
set(CPACK_COMPONENT_DAEMON_DESCRIPTION
  "a daemon that records HIP calls for its users
 faded records running programs for whoever asks with fadectl and may trace them by the kernel's own rule, each session
in a process of its own. It is not enabled by default.")
set(CPACK_DEBIAN_DAEMON_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/systemd/debian/postinst
  ${PROJECT_SOURCE_DIR}/systemd/debian/prerm
  ${PROJECT_SOURCE_DIR}/systemd/debian/postrm)
set(CPACK_DEBIAN_DAEMON_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
