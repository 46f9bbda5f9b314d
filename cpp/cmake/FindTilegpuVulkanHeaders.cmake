# Vulkan's headers, and the registry beside them, of at least TILEGPU_VULKAN_HEADERS: the machine's (libvulkan-dev), or where those are
# older, Debian's package of that version, downloaded once into build/vulkan-headers. Makes Tilegpu::VulkanHeaders, for the build alone:
# who links tilegpu needs no newer headers than the machine's.
set(TILEGPU_VULKAN_HEADERS 1.4.309)
set(_archive libvulkan-dev_${TILEGPU_VULKAN_HEADERS}.0-1_amd64.deb)
set(_archive_url
  http://deb.debian.org/debian/pool/main/v/vulkan-loader/${_archive}
  https://snapshot.debian.org/archive/debian/20250601T000000Z/pool/main/v/vulkan-loader/${_archive})
set(_archive_sha256 8d329d465e16168afff58b1bd0dd6db46aac2cc3f56054a481b25a04e90b345a)

# The version that vulkan_core.h below `include` has; empty: none is there.
function(tilegpu_vulkan_version include out)
  set(${out} "" PARENT_SCOPE)
  if(EXISTS ${include}/vulkan/vulkan_core.h)
    file(STRINGS ${include}/vulkan/vulkan_core.h _complete REGEX "define VK_HEADER_VERSION_COMPLETE ")
    file(STRINGS ${include}/vulkan/vulkan_core.h _patch REGEX "define VK_HEADER_VERSION ")
    if(_complete MATCHES "\\(0, *([0-9]+), *([0-9]+),")
      set(_version ${CMAKE_MATCH_1}.${CMAKE_MATCH_2})
      string(REGEX MATCH "[0-9]+" _patch "${_patch}")
      set(${out} ${_version}.${_patch} PARENT_SCOPE)
    endif()
  endif()
endfunction()

function(tilegpu_download_headers root)
  foreach(_url IN LISTS _archive_url)
    file(DOWNLOAD ${_url} ${root}/${_archive} EXPECTED_HASH SHA256=${_archive_sha256} STATUS _status INACTIVITY_TIMEOUT 60)
    list(GET _status 0 _code)
    if(_code EQUAL 0)
      file(ARCHIVE_EXTRACT INPUT ${root}/${_archive} DESTINATION ${root})
      file(ARCHIVE_EXTRACT INPUT ${root}/data.tar.xz DESTINATION ${root} PATTERNS "*/include/*" "*.xml")
      file(REMOVE ${root}/${_archive} ${root}/data.tar.xz ${root}/control.tar.xz ${root}/debian-binary)
      return()
    endif()
    message(STATUS "${_url}: ${_status}")
    file(REMOVE ${root}/${_archive})
  endforeach()
  message(FATAL_ERROR "Vulkan headers ${TILEGPU_VULKAN_HEADERS} or newer are needed (the newest here: '${TILEGPU_VULKAN_FOUND}') and could not "
    "be downloaded; unpack such a libvulkan-dev (Debian 13 has it) and give -DTILEGPU_VULKAN_INCLUDE=<its usr/include>")
endfunction()

set(_headers_root ${CMAKE_CURRENT_SOURCE_DIR}/build/vulkan-headers)
find_path(TILEGPU_VULKAN_INCLUDE vulkan/vulkan_core.h)
tilegpu_vulkan_version("${TILEGPU_VULKAN_INCLUDE}" TILEGPU_VULKAN_FOUND)
if(NOT TILEGPU_VULKAN_FOUND OR TILEGPU_VULKAN_FOUND VERSION_LESS TILEGPU_VULKAN_HEADERS)
  tilegpu_vulkan_version(${_headers_root}/usr/include _downloaded)
  if(NOT _downloaded VERSION_GREATER_EQUAL TILEGPU_VULKAN_HEADERS)
    message(STATUS "Vulkan headers here are '${TILEGPU_VULKAN_FOUND}'; downloading ${TILEGPU_VULKAN_HEADERS}")
    tilegpu_download_headers(${_headers_root})
  endif()
  set(TILEGPU_VULKAN_INCLUDE ${_headers_root}/usr/include CACHE PATH "Vulkan's headers" FORCE)
endif()
tilegpu_vulkan_version("${TILEGPU_VULKAN_INCLUDE}" _version)
string(REGEX REPLACE "^.*\\." "" TILEGPU_VULKAN_PATCH "${_version}")  # of the driver's version, in its manifest too
if(NOT TARGET Tilegpu::VulkanHeaders)
  add_library(Tilegpu::VulkanHeaders INTERFACE IMPORTED)
  target_include_directories(Tilegpu::VulkanHeaders SYSTEM INTERFACE ${TILEGPU_VULKAN_INCLUDE})
endif()
set(TilegpuVulkanHeaders_FOUND TRUE)
