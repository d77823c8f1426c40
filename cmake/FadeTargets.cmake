# One static library per folder; every target gets the same language level, warnings and sanitizers.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

function(fade_settings target)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/daemon ${PROJECT_BINARY_DIR})
  target_compile_definitions(${target} PUBLIC _GNU_SOURCE FADE_VERSION="${PROJECT_VERSION}")
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wswitch-enum -Wno-missing-field-initializers>
    # clang counts a constant of a function that has the name of one in the same unity source.
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:Clang>>:-Wno-shadow>
    $<$<BOOL:${FADE_WERROR}>:-Werror>)
  if(FADE_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  endif()
  if(FADE_SANITIZE)
    target_compile_options(${target} PUBLIC -fsanitize=${FADE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=${FADE_SANITIZE})
  endif()
endfunction()

# fade_library(name SOURCES a.cpp ... LINKS fade_base ...)
function(fade_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  fade_settings(${name})
  target_link_libraries(${name} PUBLIC ${arg_LINKS})
endfunction()

# fade_program(name SOURCES a.cpp ... LINKS fade_base ...)
function(fade_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  fade_settings(${name})
  target_link_libraries(${name} PRIVATE ${arg_LINKS})
endfunction()
