# CMake reads this with llama-cpp-python's own CMakeLists.txt, which would have libggml-vulkan.so look for
# libggml-base.so beside itself, and for libvulkan.so.1 in the Vulkan SDK of whoever compiles it. In a bundle it
# lies one folder deeper (see build_environment.py), and libvulkan.so.1 is the system's.
cmake_language(DEFER CALL set_target_properties ggml-vulkan PROPERTIES
    INSTALL_RPATH "$ORIGIN/.." INSTALL_RPATH_USE_LINK_PATH FALSE)
