# Provides libopus as the target carillon_opus: the system's library if it is 1.4 or later (Debian 13, package libopus-dev),
# otherwise a build of version 1.3.1 from the npm package @discordjs/opus. The package's binding is not used.
option(CARILLON_SYSTEM_OPUS "Use the system's libopus if it is 1.4 or later" ON)
if(CARILLON_SYSTEM_OPUS)
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(SYSTEM_OPUS QUIET IMPORTED_TARGET opus>=1.4)
  endif()
  if(SYSTEM_OPUS_FOUND)
    message(STATUS "libopus ${SYSTEM_OPUS_VERSION} of the system")
    add_library(carillon_opus INTERFACE)
    target_link_libraries(carillon_opus INTERFACE PkgConfig::SYSTEM_OPUS)
    target_compile_definitions(carillon_opus INTERFACE CARILLON_OPUS_ORIGIN="system")
    return()
  endif()
endif()

# The build uses floating point. On x86, libopus selects its SSE4.1 routines at run time. A function in opus/ replaces one of
# libopus, which is renamed.
set(OPUS_DIR ${CMAKE_CURRENT_SOURCE_DIR}/../node_modules/@discordjs/opus/deps/opus)
if(NOT EXISTS ${OPUS_DIR}/include/opus.h)
  # The setup compiles the other files while npm installs the package; their options must not change afterwards.
  message(STATUS "libopus is missing: npm install brings it (@discordjs/opus)")
  add_library(carillon_opus INTERFACE)
  target_include_directories(carillon_opus SYSTEM INTERFACE ${OPUS_DIR}/include)
  target_compile_definitions(carillon_opus INTERFACE CARILLON_OPUS_ORIGIN="bundled")
  return()
endif()

# libopus is not built with sanitizers, so sanitizer builds reuse the library of the plain build if it exists.
set(PLAIN_OPUS ${CMAKE_CURRENT_SOURCE_DIR}/../build/native/libcarillon_opus.a)
if(CARILLON_SANITIZE AND EXISTS ${PLAIN_OPUS} AND NOT CMAKE_BINARY_DIR STREQUAL ${CMAKE_CURRENT_SOURCE_DIR}/../build/native)
  add_library(carillon_opus STATIC IMPORTED)
  set_target_properties(carillon_opus PROPERTIES
    IMPORTED_LOCATION ${PLAIN_OPUS} INTERFACE_INCLUDE_DIRECTORIES ${OPUS_DIR}/include
    INTERFACE_COMPILE_DEFINITIONS CARILLON_OPUS_ORIGIN="bundled")
  return()
endif()

file(GLOB OPUS_SOURCES ${OPUS_DIR}/src/*.c ${OPUS_DIR}/celt/*.c ${OPUS_DIR}/silk/*.c ${OPUS_DIR}/silk/float/*.c)
list(FILTER OPUS_SOURCES EXCLUDE REGEX "(_demo|opus_compare|mlp_train|tests/.*)\\.c$")

add_library(carillon_opus STATIC ${OPUS_SOURCES})
# Several files per unit: half the time. The files with `static` definitions of public functions stay alone.
set_target_properties(carillon_opus PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
set_source_files_properties(${OPUS_DIR}/celt/celt_encoder.c ${OPUS_DIR}/celt/celt_decoder.c
  PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
target_include_directories(carillon_opus SYSTEM PUBLIC ${OPUS_DIR}/include)
target_include_directories(carillon_opus PRIVATE ${OPUS_DIR} ${OPUS_DIR}/celt ${OPUS_DIR}/silk ${OPUS_DIR}/silk/float)
target_compile_definitions(carillon_opus INTERFACE CARILLON_OPUS_ORIGIN="bundled")
target_compile_definitions(carillon_opus PRIVATE OPUS_BUILD VAR_ARRAYS HAVE_LRINTF HAVE_LRINT
  PACKAGE_VERSION="1.3.1")
target_compile_options(carillon_opus PRIVATE -O3 -w)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  file(GLOB OPUS_X86_SOURCES ${OPUS_DIR}/celt/x86/*.c ${OPUS_DIR}/silk/x86/*.c)
  target_sources(carillon_opus PRIVATE ${OPUS_X86_SOURCES})
  list(FILTER OPUS_X86_SOURCES INCLUDE REGEX "sse4_1\\.c$")
  set_source_files_properties(${OPUS_X86_SOURCES} PROPERTIES COMPILE_OPTIONS -msse4.1)
  target_sources(carillon_opus PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/opus/warped_autocorrelation.c)
  set_source_files_properties(${OPUS_DIR}/silk/float/warped_autocorrelation_FLP.c PROPERTIES COMPILE_DEFINITIONS
    silk_warped_autocorrelation_FLP=silk_warped_autocorrelation_plain)
  target_compile_definitions(carillon_opus PRIVATE OPUS_HAVE_RTCD CPU_INFO_BY_C
    OPUS_X86_MAY_HAVE_SSE OPUS_X86_MAY_HAVE_SSE2 OPUS_X86_MAY_HAVE_SSE4_1 OPUS_X86_PRESUME_SSE OPUS_X86_PRESUME_SSE2)
endif()
