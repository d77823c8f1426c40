# fade_standin_zluda(NAME DIRECTORY dir [FOLDED]): ZLUDA's files: libnvcuda.so, libcuda.so and libcuda.so.1 beside a
# libamdhip64.so.
# Every function of probes/cuda.probes that the sources do not define is exported and not supported. FOLDED: those of
# one group share one address, as where the linker folds identical code; the first in the alphabet counts for all of
# them.
set(zluda_probes ${PROJECT_SOURCE_DIR}/probes/cuda.probes)
set(zluda_sources device.c memory.c module.c entry_points.c pass.c)

function(zluda_defined out)
  set(names)
  foreach(source ${zluda_sources})
    file(STRINGS ${standin_dir}/zluda/${source} lines REGEX "^(CU|PASS|ANSWERED)\\(")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^[A-Z]+\\(([A-Za-z0-9_]+).*" "\\1" name "${line}")
      list(APPEND names ${name})
    endforeach()
  endforeach()
  set(${out} ${names} PARENT_SCOPE)
endfunction()

# "cuDeviceGet.device cuInit.device ...", in the order of the alphabet
function(zluda_functions out)
  set(names)
  file(STRINGS ${zluda_probes} lines REGEX "^(group |CUresult cu)")
  foreach(line IN LISTS lines)
    if(line MATCHES "^group (.+)")
      set(group ${CMAKE_MATCH_1})
    elseif(line MATCHES "^CUresult (cu[A-Za-z0-9_]+)")
      list(APPEND names ${CMAKE_MATCH_1}.${group})
    endif()
  endforeach()
  list(SORT names)
  set(${out} ${names} PARENT_SCOPE)
endfunction()

function(zluda_generate name folded)
  zluda_defined(defined)
  zluda_functions(functions)
  set(c "#include \"zluda/zluda.h\"\n")
  foreach(function IN LISTS functions)
    string(REPLACE "." ";" parts ${function})
    list(GET parts 0 symbol)
    list(GET parts 1 group)
    if(symbol IN_LIST defined)
      continue()
    elseif(NOT folded OR NOT DEFINED body_${group})
      string(APPEND c "UNSUPPORTED(${symbol})\n")
      set(body_${group} ${symbol})
    else()
      string(APPEND c "FOLDED(${symbol}, ${body_${group}});\n")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${name}.c CONTENT "${c}" @ONLY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${zluda_probes})
endfunction()

function(fade_standin_zluda name)
  cmake_parse_arguments(arg "FOLDED" "DIRECTORY" "" ${ARGN})
  zluda_generate(${name} ${arg_FOLDED})
  list(TRANSFORM zluda_sources PREPEND zluda/ OUTPUT_VARIABLE sources)
  add_library(${name} SHARED ${sources} oracle.c rules.c ${CMAKE_CURRENT_BINARY_DIR}/${name}.c)
  target_compile_definitions(${name} PRIVATE STANDIN_BODIES)
  standin_compile(${name})
  file(CONFIGURE OUTPUT zluda.map CONTENT "{ global: cu*; local: *; };\n")
  target_link_options(${name} PRIVATE -Wl,--version-script=${CMAKE_CURRENT_BINARY_DIR}/zluda.map -Wl,--build-id
    -Wl,-soname,libcuda.so.1)
  target_link_libraries(${name} PRIVATE standin_link Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(${name} PROPERTIES OUTPUT_NAME nvcuda NO_SONAME ON LIBRARY_OUTPUT_DIRECTORY ${arg_DIRECTORY}
    SKIP_BUILD_RPATH ON
    LINK_DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/zluda.map)
  foreach(link libcuda.so libcuda.so.1)
    add_custom_command(TARGET ${name} POST_BUILD COMMAND ${CMAKE_COMMAND} -E create_symlink libnvcuda.so
      ${arg_DIRECTORY}/${link} VERBATIM)
  endforeach()
  add_custom_command(TARGET ${name} POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E create_symlink $<TARGET_FILE:standin_v6> ${arg_DIRECTORY}/libamdhip64.so VERBATIM)
  add_dependencies(${name} standin_v6)
endfunction()

# fade_standin_nvml(NAME dir), fade_standin_cudart(NAME dir): what stands beside ZLUDA's libcuda: its NVML, and NVIDIA's
# CUDA runtime.
function(fade_standin_nvml name directory)
  add_library(${name} SHARED zluda/nvml.c oracle.c rules.c)
  target_compile_definitions(${name} PRIVATE STANDIN_BODIES)
  standin_compile(${name})
  file(CONFIGURE OUTPUT nvml.map CONTENT "{ global: nvml*; local: *; };\n")
  target_link_options(${name} PRIVATE -Wl,--version-script=${CMAKE_CURRENT_BINARY_DIR}/nvml.map -Wl,--build-id)
  target_link_libraries(${name} PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(${name} PROPERTIES OUTPUT_NAME nvidia-ml VERSION 1 SOVERSION 1
    LIBRARY_OUTPUT_DIRECTORY ${directory} SKIP_BUILD_RPATH ON)
endfunction()
function(fade_standin_cudart name directory)
  add_library(${name} SHARED zluda/cudart.c)
  standin_compile(${name})
  target_link_libraries(${name} PRIVATE ${CMAKE_DL_LIBS})
  set_target_properties(${name} PROPERTIES OUTPUT_NAME cudart VERSION 12.4.127 SOVERSION 12
    LIBRARY_OUTPUT_DIRECTORY ${directory} SKIP_BUILD_RPATH ON)
endfunction()
