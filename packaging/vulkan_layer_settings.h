// What Vulkan's headers lack before 1.3.272 of all that llama.cpp's library for GPUs is compiled with: the extension
// VK_EXT_layer_settings, by which llama.cpp asks the validation layers for advice. With it, the headers of Debian 12
// (1.3.239) do. Names and layout are those of the Vulkan specification.
#pragma once
#include <vulkan/vulkan_core.h>

#ifndef VK_EXT_layer_settings
#include <cstdint>
#include <vector>

namespace vk {

enum class LayerSettingTypeEXT : std::int32_t { eBool32 = 0 };

struct LayerSettingEXT {
    const char * pLayerName;
    const char * pSettingName;
    LayerSettingTypeEXT type;
    std::uint32_t valueCount;
    const void * pValues;
};

struct LayerSettingsCreateInfoEXT {
    explicit LayerSettingsCreateInfoEXT(const std::vector<LayerSettingEXT> & settings)
        : settingCount(static_cast<std::uint32_t>(settings.size())), pSettings(settings.data()) {}

    VkStructureType sType = static_cast<VkStructureType>(1000496000);
    const void * pNext = nullptr;
    std::uint32_t settingCount;
    const LayerSettingEXT * pSettings;
};

}  // namespace vk
#endif
