#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "runtime/hip/device.h"

namespace monojit::runtime {

/// A code object loaded on one device; unloaded with this object.
class Module {
 public:
  /// Throws DeviceError when the device does not take it.
  Module(const Device& device, std::span<const std::byte> code_object) : table_(device.table()) {
    device.select();
    table_->check(table_->hipModuleLoadData(&module_, code_object.data()), "hipModuleLoadData");
  }
  ~Module() { (void)table_->hipModuleUnload(module_); }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// The kernel `symbol`. Throws DeviceError when the module has none of this name.
  hipFunction_t function(const std::string& symbol) const {
    hipFunction_t function = nullptr;
    table_->check(table_->hipModuleGetFunction(&function, module_, symbol.c_str()), "hipModuleGetFunction");
    return function;
  }

 private:
  std::shared_ptr<const HipTable> table_;
  hipModule_t module_ = nullptr;
};

}  // namespace monojit::runtime
