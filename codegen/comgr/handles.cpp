#include "codegen/comgr/handles.h"

#include <fmt/format.h>

#include "codegen/error.h"

namespace monojit::codegen::comgr {
namespace {

amd_comgr_data_t create_data(const Library& library, amd_comgr_data_kind_t kind) {
  amd_comgr_data_t data{};
  library.check(library.create_data(kind, &data), "create_data");
  return data;
}

}  // namespace

// The delegated-to constructor makes the object whole, so that it is released when what follows throws.
Data::Data(const Library& library, amd_comgr_data_kind_t kind, const char* name, std::span<const std::byte> bytes)
    : Data(library, create_data(library, kind)) {
  library.check(library.set_data(data_, bytes.size(), reinterpret_cast<const char*>(bytes.data())), "set_data");
  library.check(library.set_data_name(data_, name), "set_data_name");
}

std::vector<std::byte> Data::bytes() const {
  std::size_t size = 0;
  library_.check(library_.get_data(data_, &size, nullptr), "get_data");
  std::vector<std::byte> bytes(size);
  library_.check(library_.get_data(data_, &size, reinterpret_cast<char*>(bytes.data())), "get_data");
  return bytes;
}

DataSet::DataSet(const Library& library) : library_(library) {
  library.check(library.create_data_set(&set_), "create_data_set");
}

std::size_t DataSet::count(amd_comgr_data_kind_t kind) const {
  std::size_t count = 0;
  library_.check(library_.action_data_count(set_, kind, &count), "action_data_count");
  return count;
}

std::vector<std::byte> DataSet::bytes(amd_comgr_data_kind_t kind, std::size_t index) const {
  amd_comgr_data_t data{};
  library_.check(library_.action_data_get_data(set_, kind, index, &data), "action_data_get_data");
  return Data(library_, data).bytes();
}

ActionInfo::ActionInfo(const Library& library) : library_(library) {
  library.check(library.create_action_info(&info_), "create_action_info");
}

ActionInfo::ActionInfo(const Library& library, const std::string& isa_name, std::span<const std::string> options)
    : ActionInfo(library) {
  if (library.action_info_set_isa_name(info_, isa_name.c_str()) != AMD_COMGR_STATUS_SUCCESS) {
    throw CodegenError(fmt::format("comgr {} ({}) knows no target {}", library.version(), library.path(), isa_name));
  }
  std::vector<const char*> texts;
  texts.reserve(options.size());
  for (const std::string& option : options) texts.push_back(option.c_str());
  library.check(library.action_info_set_option_list(info_, texts.data(), texts.size()), "action_info_set_option_list");
  library.check(library.action_info_set_logging(info_, true), "action_info_set_logging");
}

}  // namespace monojit::codegen::comgr
