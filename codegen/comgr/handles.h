#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/comgr/library.h"

namespace monojit::codegen::comgr {

/// Owners of comgr's objects. Each throws CodegenError when comgr refuses a call.

/// Some bytes with a kind and a name.
class Data {
 public:
  Data(const Library& library, amd_comgr_data_kind_t kind, const char* name, std::span<const std::byte> bytes);
  /// Takes over `data`.
  Data(const Library& library, amd_comgr_data_t data) : library_(library), data_(data) {}
  Data(const Data&) = delete;
  Data& operator=(const Data&) = delete;
  ~Data() { library_.release_data(data_); }

  amd_comgr_data_t get() const { return data_; }
  std::vector<std::byte> bytes() const;

 private:
  const Library& library_;
  amd_comgr_data_t data_;
};

class DataSet {
 public:
  explicit DataSet(const Library& library);
  DataSet(const DataSet&) = delete;
  DataSet& operator=(const DataSet&) = delete;
  ~DataSet() { library_.destroy_data_set(set_); }

  amd_comgr_data_set_t get() const { return set_; }
  void add(const Data& data) { library_.check(library_.data_set_add(set_, data.get()), "data_set_add"); }
  std::size_t count(amd_comgr_data_kind_t kind) const;
  /// The bytes of the data of `kind` at `index` < count(kind).
  std::vector<std::byte> bytes(amd_comgr_data_kind_t kind, std::size_t index) const;

 private:
  const Library& library_;
  amd_comgr_data_set_t set_{};
};

/// What an action works for: an ISA and options, with comgr's log kept.
class ActionInfo {
 public:
  ActionInfo(const Library& library, const std::string& isa_name, std::span<const std::string> options);
  ActionInfo(const ActionInfo&) = delete;
  ActionInfo& operator=(const ActionInfo&) = delete;
  ~ActionInfo() { library_.destroy_action_info(info_); }

  amd_comgr_action_info_t get() const { return info_; }

 private:
  explicit ActionInfo(const Library& library);
  const Library& library_;
  amd_comgr_action_info_t info_{};
};

}  // namespace monojit::codegen::comgr
