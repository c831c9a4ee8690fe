# CMake reads this with llama-cpp-python's own CMakeLists.txt, right after its project(): for bundles.

include("${CMAKE_CURRENT_LIST_DIR}/llama_only.cmake")

# No library names the folders that it was compiled in: two builds of one source are equal.
if(NOT MSVC)
    add_compile_options(
        "-ffile-prefix-map=${CMAKE_SOURCE_DIR}=llama-cpp-python" "-ffile-prefix-map=${CMAKE_BINARY_DIR}=build")
endif()

function(change_library_for_gpus declarations)
    if(NOT TARGET ggml-vulkan)
        return()
    endif()
    # It would look for libggml-base.so beside itself, and for libvulkan.so.1 in the Vulkan SDK of whoever compiles
    # it. In a bundle it lies one folder deeper (see build_environment.py), and libvulkan.so.1 is the system's.
    set_target_properties(ggml-vulkan PROPERTIES
        INSTALL_RPATH "$ORIGIN/.." INSTALL_RPATH_USE_LINK_PATH FALSE)
    if(NOT MSVC AND EXISTS "${Vulkan_INCLUDE_DIR}/vulkan/vulkan_core.h")
        target_compile_options(ggml-vulkan PRIVATE "SHELL:-include \"${declarations}\"")
    endif()
endfunction()

# First linked with the folder that it is compiled in, and changed as it is installed, a library would have another
# build ID in each folder.
function(link_as_installed folder)
    get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target IN LISTS targets)
        get_target_property(kind ${target} TYPE)
        if(kind MATCHES "^(SHARED|MODULE)_LIBRARY$")
            set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH TRUE)
        endif()
    endforeach()
    get_property(below DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
    foreach(each IN LISTS below)
        link_as_installed("${each}")
    endforeach()
endfunction()

# When all targets are known. The path is put in now: this file's folder is unknown by then.
cmake_language(EVAL CODE "cmake_language(DEFER CALL link_as_installed [[${CMAKE_SOURCE_DIR}]])")
cmake_language(EVAL CODE "cmake_language(DEFER CALL change_library_for_gpus
    [[${CMAKE_CURRENT_LIST_DIR}/vulkan_layer_settings.h]])")
