# fade_embed(target name file...): links the files' bytes into the target as fade_<name>_begin/end, one pair per file.
# <name> is the file's name; `_` replaces characters that C identifiers cannot have.
function(fade_embed target)
  foreach(file ${ARGN})
    get_filename_component(path ${file} ABSOLUTE)
    get_filename_component(name ${file} NAME)
    string(MAKE_C_IDENTIFIER ${name} FADE_EMBED_NAME)
    set(FADE_EMBED_FILE ${path})
    set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded_${FADE_EMBED_NAME}.S)
    configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/embed.S.in ${source} @ONLY)
    set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS ${path})
    target_sources(${target} PRIVATE ${source})
  endforeach()
endfunction()
