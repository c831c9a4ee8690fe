# CMake reads this with llama-cpp-python's own CMakeLists.txt, right after its project(). It compiles libllama and
# libggml alone, in a quarter of the processor time (bench/README.md). What they compute is the same, bit for bit.

# Nobody calls what llama.cpp's own programs share (llama-common), nor its library for pictures and sound (mtmd).
# Plain variables come before the values in the cache, which llama-cpp-python sets.
set(LLAMA_BUILD_COMMON OFF)
set(LLAVA_BUILD OFF)
set(LLAMA_ALL_WARNINGS OFF)

# Where tokens are computed: these are compiled as llama.cpp has them compiled, as all of ggml-cpu is.
set(hot_sources llama-batch llama-context llama-graph llama-kv-cache)
# Of ggml, what is done once for a file or a device.
set(cold_sources gguf ggml-backend-meta ggml-backend-reg ggml-opt)

function(compile_what_is_used llama_cpp)
    if(NOT TARGET llama)
        return()
    endif()
    foreach(folder hash miniaudio nlohmann sheredom stb)  # what llama-common and mtmd are linked with
        get_property(targets DIRECTORY "${llama_cpp}/vendor/${folder}" PROPERTY BUILDSYSTEM_TARGETS)
        foreach(target IN LISTS targets)
            set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL TRUE)
        endforeach()
    endforeach()
    # On Windows one file would read the macros that another had from windows.h.
    if(WIN32 OR NOT CMAKE_CXX_COMPILER_ID MATCHES "^(GNU|Clang|AppleClang)$")
        return()
    endif()
    list(TRANSFORM hot_sources REPLACE ".+" "${llama_cpp}/src/\\0.cpp")
    list(TRANSFORM cold_sources REPLACE ".+" "${llama_cpp}/ggml/src/\\0.cpp")
    # As llama.cpp does with its architectures: so many files at a time read the same headers and templates once.
    set_target_properties(llama PROPERTIES UNITY_BUILD_BATCH_SIZE 32)
    get_target_property(sources llama SOURCES)
    list(FILTER sources INCLUDE REGEX "^[a-z0-9-]+[.]cpp$")
    list(TRANSFORM sources PREPEND "${llama_cpp}/src/")
    list(REMOVE_ITEM sources ${hot_sources})
    set_source_files_properties(${sources} DIRECTORY "${llama_cpp}/src" PROPERTIES SKIP_UNITY_BUILD_INCLUSION OFF)
    # Of several such options the last one counts.
    target_compile_options(llama PRIVATE -O1)
    set_source_files_properties(${hot_sources} DIRECTORY "${llama_cpp}/src" PROPERTIES COMPILE_OPTIONS -O3)
    set_source_files_properties(${cold_sources} DIRECTORY "${llama_cpp}/ggml/src" PROPERTIES COMPILE_OPTIONS -O1)
endfunction()

# When all targets are known.
cmake_language(EVAL CODE "cmake_language(DEFER CALL compile_what_is_used [[${CMAKE_SOURCE_DIR}/vendor/llama.cpp]])")
