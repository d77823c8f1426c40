# Everything outside the standard library; all of it is packaged by Debian 12 and Ubuntu 22.04 (docker/packages.txt).
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
pkg_check_modules(sqlite3 REQUIRED IMPORTED_TARGET sqlite3>=3.37)
pkg_check_modules(libelf REQUIRED IMPORTED_TARGET libelf)
pkg_check_modules(libdw REQUIRED IMPORTED_TARGET libdw)
pkg_check_modules(liblzma REQUIRED IMPORTED_TARGET liblzma)
pkg_check_modules(zlib REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(libzstd REQUIRED IMPORTED_TARGET libzstd)
find_path(CURL_INCLUDE curl/curl.h REQUIRED)  # its library is loaded at run time: cli/push/curl.hpp
pkg_check_modules(ncursesw REQUIRED IMPORTED_TARGET ncursesw)
# Its _XOPEN_SOURCE=600 is less than what _GNU_SOURCE asks for.
set_target_properties(PkgConfig::ncursesw PROPERTIES INTERFACE_COMPILE_OPTIONS "")
pkg_check_modules(smartcols REQUIRED IMPORTED_TARGET smartcols)
find_path(EXPECTED_INCLUDE tl/expected.hpp REQUIRED)
find_path(BOOST_INCLUDE boost/asio.hpp REQUIRED)
find_path(ZYDIS_INCLUDE Zydis/Zydis.h REQUIRED)
find_library(ZYDIS_LIBRARY Zydis REQUIRED)
# The part of libunwind for other processes. Not by pkg-config, which adds the unwinder of the own process.
find_path(UNWIND_INCLUDE libunwind-x86_64.h REQUIRED)
find_library(UNWIND_LIBRARY unwind-x86_64 REQUIRED)
