#include "tests/kernels/device/k1_mutation.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/kernels/device/k1_launch.h"

namespace monojit::tests {

using kernels::minimax_m3::K1Case;
using kernels::minimax_m3::K1Key;
using kernels::minimax_m3::Requests;

K1Case requests_case(const K1Key& key, const Requests& requests) {
  K1Case a_case = device_case(key);
  a_case.set_requests(requests);
  return a_case;
}

void check_mutations(const K1Case& a_case, std::span<const Surroundings> runs, std::span<const Mutation> mutations,
                     std::span<const Mutation> harmless) {
  if (!device().emulated()) SKIP("a chip tells neither races nor why it went wrong");
  a_case.check();
  const Subject subject{build_key(a_case.key), a_case.tensors, launched(a_case)};
  REQUIRE(disagreement(a_case, subject.after) == "");
  check_mutations({subject.key, launch_of(subject), runs, mutations, harmless});
}

}  // namespace monojit::tests
