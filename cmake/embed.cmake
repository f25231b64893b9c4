# Embeds text files in a library, so that the program is one file and finds its catalog anywhere.
# linerate_embed(TARGET DIR...) generates embedded_files.cpp, which defines
# linerate::experiments::embedded_files() (experiments/catalog/embedded.hpp): path -> text.
function(linerate_embed target)
  set(generated ${CMAKE_BINARY_DIR}/generated/embedded_files.cpp)
  set(files "")
  foreach(directory ${ARGN})
    file(GLOB_RECURSE found CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}
         ${CMAKE_SOURCE_DIR}/${directory}/*.yaml)
    list(APPEND files ${found})
  endforeach()
  list(SORT files)
  set(absolute ${files})
  list(TRANSFORM absolute PREPEND ${CMAKE_SOURCE_DIR}/)
  string(REPLACE ";" "," joined "${files}")
  add_custom_command(
    OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_SOURCE_DIR} -DFILES=${joined} -DOUTPUT=${generated}
            -P ${CMAKE_SOURCE_DIR}/cmake/write_embedded.cmake
    DEPENDS ${absolute} ${CMAKE_SOURCE_DIR}/cmake/write_embedded.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${generated})
endfunction()
