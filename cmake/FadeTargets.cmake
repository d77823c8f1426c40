# One static library per folder; every target gets the same language level, warnings and sanitizers.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

# A precompiled header serves targets with the same options. ccache would have to be told to know it.
if(FADE_UNITY AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(FADE_PRECOMPILE ON)
endif()

function(fade_settings target)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/daemon ${PROJECT_BINARY_DIR})
  target_compile_definitions(${target} PUBLIC _GNU_SOURCE FADE_VERSION="${PROJECT_VERSION}")
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wswitch-enum
    -Wno-missing-field-initializers>
    # clang counts a constant of a function that has the name of one in the same unity source.
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:Clang>>:-Wno-shadow>
    $<$<BOOL:${FADE_WERROR}>:-Werror>)
  if(FADE_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  endif()
  if(FADE_LINKER)
    target_link_options(${target} PRIVATE -fuse-ld=${FADE_LINKER})
  endif()
  if(FADE_SANITIZE)
    target_compile_options(${target} PUBLIC -fsanitize=${FADE_SANITIZE} -fno-omit-frame-pointer
      -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=${FADE_SANITIZE})
  endif()
endfunction()

# fade_precompiled(target SHARED) uses the headers of the target SHARED, which the first call makes. HEADERS: more of
# them.
function(fade_precompiled target shared)
  cmake_parse_arguments(arg "" "" "HEADERS;LINKS;OPTIONS" ${ARGN})
  if(NOT FADE_PRECOMPILE)
    return()
  endif()
  if(NOT TARGET ${shared})
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${shared}.cpp CONTENT "// Of the headers that it includes.\n")
    add_library(${shared} OBJECT ${PROJECT_BINARY_DIR}/${shared}.cpp)
    fade_settings(${shared})
    target_include_directories(${shared} PRIVATE ${EXPECTED_INCLUDE})
    target_compile_options(${shared} PRIVATE ${arg_OPTIONS})
    target_link_libraries(${shared} PRIVATE fmt::fmt nlohmann_json::nlohmann_json ${arg_LINKS})
    target_precompile_headers(${shared} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled.hpp ${arg_HEADERS})
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL EXECUTABLE)  # compiled as libraries are, since it shares their header
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${shared})
  # g++ 12 warns of its own strings if they come from a precompiled header.
  target_compile_options(${target} PRIVATE
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-array-bounds -Wno-stringop-overflow>)
endfunction()

# fade_library(name SOURCES a.cpp ... LINKS fade_base ...)
function(fade_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  fade_settings(${name})
  fade_precompiled(${name} fade_headers)
  target_link_libraries(${name} PUBLIC ${arg_LINKS})
endfunction()

# fade_program(name SOURCES a.cpp ... LINKS fade_base ...)
function(fade_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  fade_settings(${name})
  fade_precompiled(${name} fade_headers)
  target_link_libraries(${name} PRIVATE ${arg_LINKS})
endfunction()
