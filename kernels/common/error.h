#pragma once

#include <stdexcept>
#include <string>

namespace monojit {

/// Something the caller asked for can't be: a bad key, file, flag or environment. The text says what is wrong, with
/// which thing, and what to do; the process and all of its state live on.
class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace monojit
