#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "kernels/common/health.h"
#include "runtime/group_health.h"

namespace monojit::runtime {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr int kWorkgroups = 256;
constexpr int kLayer = 133;
constexpr std::uint32_t kTag = 9 * 256 + kLayer + 1;

Words healthy() { return Words(static_cast<std::size_t>(kernels::health_bytes(kWorkgroups)) / 4); }

void give_up(Words& words, std::uint32_t workgroup, std::string_view region, std::uint32_t pair) {
  const std::uint32_t record[] = {1, kernels::region_id(region), pair, kTag, 0x77, workgroup, 0, 0};
  std::copy(std::begin(record), std::end(record), words.begin() + (workgroup + 1) * kernels::kHealthRecordWords);
  words[0] = 1;
}

std::vector<WatchedLaunch> launches() {
  return {{kernels::BuildKey::parse("kimi_k3.k2{tokens=2,nblocks=1}"), kLayer - 1},
          {kernels::BuildKey::parse("kimi_k3.k2{tokens=1,nblocks=2}"), kLayer}};
}

TEST_CASE("Workgroups that waited for things from the same workgroup share a line, which names the first") {
  Words words = healthy();
  give_up(words, 4, "ar", 5 * 3584 + 7);
  give_up(words, 5, "ar", 5 * 3584);
  give_up(words, 6, "ar", 3584);
  give_up(words, 200, "lnrdy", 3);
  CHECK(explain_rank(2, words, launches()) ==
        "rank 2: workgroup 4 waited more than 10 s for pair 17927 of ar, partials of the output projection "
        "(source 5, token 0, word 7) from rank 5, workgroup 56, in the launch with layer 133: expected tag 0x986, saw "
        "0x77, no tag: something else writes to that memory; 1 other workgroup for pairs of ar, too\n"
        "rank 2: workgroup 6 waited more than 10 s for pair 3584 of ar, partials of the output projection "
        "(source 1, token 0, word 0) from rank 1, workgroup 56, in the launch with layer 133: expected tag 0x986, saw "
        "0x77, no tag: something else writes to that memory\n"
        "rank 2: workgroup 200 waited more than 10 s for pair 3 of lnrdy, flag of a slice of all rows of ln (slice 3) "
        "from workgroup 59 of its own rank, in the launch with layer 133: expected tag 0x986, saw 0x77, no tag: "
        "something "
        "else writes to that memory");
}

TEST_CASE("A rank's lines come in the order of the data, whatever the order of the workgroups") {
  Words words = healthy();
  give_up(words, 2, "lnrdy", 3);
  give_up(words, 3, "final", 0);
  give_up(words, 57, "xrdy", 17);
  const auto text = explain_rank(2, words, launches());
  REQUIRE(text);
  CHECK(text->starts_with("rank 2: workgroup 57 waited more than 10 s for pair 17 of xrdy, "));
  CHECK(text->find("of lnrdy, ") < text->find("of final, "));
}

TEST_CASE("A rank that is well says nothing; one whose first word alone is set has no record") {
  Words words = healthy();
  CHECK_FALSE(explain_rank(0, words, launches()));
  CHECK_FALSE(explain_rank(0, {}, launches()));
  words[0] = 1;
  CHECK(explain_rank(0, words, launches()) ==
        "rank 0: health word 0 was set before the launch: none of its waits left a record of it, they gave up at once");
}

TEST_CASE("Words that were set before the launch are told so, with the records of earlier launches as such") {
  constexpr std::string_view kSetBefore = "rank 3: health word 0 was set before the launch: ";
  Words words = healthy();
  give_up(words, 4, "ar", 0);
  const auto text = [&](std::uint32_t first_epoch) {
    return explain_rank(3, words, launches(), {.first_tag = first_epoch * 256 + 1}).value_or("");
  };
  CHECK(text(9).starts_with("rank 3: workgroup 4 waited more than 10 s for pair 0 of ar, "));
  CHECK(text(9).find(", in the launch with layer 133: ") != std::string::npos);
  CHECK(text(10).starts_with(kSetBefore));
  CHECK(text(10).find("\nrank 3: workgroup 4 waited more than 10 s for pair 0 of ar, ") != std::string::npos);
  CHECK(text(10).find(", in an earlier launch with layer 133: ") != std::string::npos);
  CHECK(text((1U << 22) - 1).find(kSetBefore) == std::string::npos);  // epochs began anew since

  words[(4 + 1) * kernels::kHealthRecordWords + 3] = kTag + 1;  // of another layer than the step's
  CHECK(explain_rank(3, words, launches())->starts_with(kSetBefore));
  give_up(words, 5, "final", 0);
  CHECK(explain_rank(3, words, launches())->find("was set before") == std::string::npos);
}

TEST_CASE("What was found in the place of the tag is told: nothing, what the memory began with, another launch's tag") {
  const auto line = [](std::uint32_t seen, const LaunchFacts& facts = {}) {
    Words words = healthy();
    give_up(words, 4, "ar", 0);
    words[(4 + 1) * kernels::kHealthRecordWords + 4] = seen;
    const std::string text = explain_rank(2, words, launches(), facts).value_or("");
    return text.substr(text.find("saw "));
  };
  CHECK(line(0) == "saw 0x0, where nobody has written since it was zeroed");
  CHECK(line(0xA69BAB4C) == "saw 0xa69bab4c, no tag: something else writes to that memory");
  CHECK(line(0xA69BAB4C, {.first_tag = {}, .random_memory = true}) ==
        "saw 0xa69bab4c, no tag: nobody has written there since `monojit run` filled the memory");
  CHECK(line(kTag - 1) == "saw 0x985, the tag of an earlier launch (epoch 9, layer 132)");
  CHECK(line(kTag - 256) == "saw 0x886, the tag of an earlier launch (epoch 8, layer 133)");
  CHECK(line(9 * 256 + 5 + 1) == "saw 0x906, the tag of an earlier launch (epoch 9, layer 5)");
  CHECK(line(9 * 256 + 6 + 1) == "saw 0x907, the tag of a later launch (epoch 9, layer 6)");
  CHECK(line(kTag + 256) == "saw 0xa86, the tag of a later launch (epoch 10, layer 133)");
  constexpr std::uint32_t kLastEpoch = (1U << 22) - 1;  // epochs begin anew behind it
  CHECK(line(kLastEpoch * 256 + kLayer + 1) ==
        "saw 0x3fffff86, the tag of an earlier launch (epoch 4194303, layer 133)");
}

TEST_CASE("Words that no kernel leaves are no records: one line counts them") {
  Words words = healthy();
  give_up(words, 0, "latr", 0);
  std::ranges::fill(std::span(words).last(kernels::kHealthRecordWords), 7U);
  const auto text = explain_rank(2, words, launches());
  REQUIRE(text);
  CHECK(text->starts_with("rank 2: workgroup 0 waited more than 10 s for pair 0 of latr, "));
  CHECK(text->ends_with(fmt::format(
      "\nrank 2: 1 of {} health records hold what no kernel leaves there (word 0 is 0x1): were they zeroed?",
      kWorkgroups)));
}

TEST_CASE("A record of a launch or of a region that nobody knows is told as far as it goes") {
  Words words = healthy();
  give_up(words, 1, "nowhere", 9);
  CHECK(explain_rank(0, words, {}) ==
        "rank 0: workgroup 1 waited more than 10 s for pair 9 of an unknown region, of a launch that is none of the "
        "step's: expected tag 0x986, saw 0x77");
}

TEST_CASE("A group's text adds the alarm flags and the ranks that left no record") {
  std::vector<Words> health(3, healthy());
  CHECK_FALSE(explain_group(health, Words{0, 0, 0}, launches()));
  give_up(health[0], 0, "latr", 0);
  health[2].clear();  // can't be read
  const auto text = explain_group(health, Words{1, 0, 0}, launches());
  REQUIRE(text);
  CHECK(
      text->ends_with("\nby rank 0's alarm flags, rank 0 gave up\n"
                      "rank 1 left no record: none of its waits gave up, or it never ran"));
  CHECK(text->find("\nrank 0: workgroup 0 waited more than 10 s for pair 0 of latr, ") != std::string::npos);
}

/// The line of a group's text that names the one to look at.
std::string cause(const std::vector<Words>& health) {
  const auto text = explain_group(health, {}, launches());
  REQUIRE(text);
  return text->substr(0, text->find('\n'));
}

TEST_CASE("Of those that did not put what is missing, the one that did not wait itself is the cause") {
  std::vector<Words> health(8, healthy());
  for (std::size_t rank = 0; rank < health.size(); ++rank) {
    give_up(health[rank], 5, "part", 17 * 6);  // the earliest, but who should have put it waits itself
    give_up(health[rank], 17, "ar", 4 * 3584 + 144 * 8);
    give_up(health[rank], 57, "xrdy", 9);  // as those that go on with stale data leave none
    give_up(health[rank], 9, "part", 0);
    give_up(health[rank], 0, "ar", 3 * 3584);
    give_up(health[rank], 56, "final", 0);
  }
  CHECK(cause(health) ==
        "nearest to the cause: workgroup 200 of rank 4 did not put pair 15488 of ar, and left no record itself");
}

TEST_CASE("Where several did not put what is missing first, all are named") {
  std::vector<Words> health(8, healthy());
  for (std::size_t rank = 0; rank < health.size(); ++rank) give_up(health[rank], 5, "part", 17 * 6);
  CHECK(cause(health) ==
        "nearest to the cause: workgroup 17 of rank 0 did not put pair 102 of part, and left no record itself; nor did "
        "workgroup 17 of rank 1, workgroup 17 of rank 2, workgroup 17 of rank 3, workgroup 17 of rank 4, 3 more put "
        "theirs");
}

TEST_CASE("Of many sources of one region four have a line, and the rest is counted with the last") {
  Words words = healthy();
  for (std::uint32_t source = 0; source < 8; ++source) give_up(words, source, "ar", source * 3584);
  const auto text = explain_rank(2, words, launches());
  REQUIRE(text);
  CHECK(std::ranges::count(*text, '\n') == 3);
  CHECK(text->ends_with("; 4 other workgroups for pairs of ar, too"));
}

TEST_CASE("What an earlier launch left names no cause of this one") {
  std::vector<Words> health(8, healthy());
  give_up(health[3], 5, "part", 17 * 6);
  const auto text = explain_group(health, {}, launches(), {.first_tag = kTag + 256 - kLayer});
  REQUIRE(text);
  CHECK(text->starts_with("rank 3: health word 0 was set before the launch: "));
}

TEST_CASE("Records in which all wait for each other name the earliest, and say so") {
  std::vector<Words> health(2, healthy());
  give_up(health[0], 17, "xrdy", 5);
  give_up(health[0], 5, "part", 17 * 6);
  CHECK(
      cause(health) ==
      "nearest to the cause: workgroup 17 of rank 0 did not put pair 102 of part, but waited itself, like all that are "
      "waited for");
}

TEST_CASE("A pair that came with a wait's last look is not missing") {
  std::vector<Words> health(2, healthy());
  give_up(health[0], 5, "part", 17 * 6);
  health[0][6 * kernels::kHealthRecordWords + 4] = kTag;
  give_up(health[0], 9, "xrdy", 3);
  CHECK(cause(health) ==
        "nearest to the cause: workgroup 3 of rank 0 did not put pair 3 of xrdy, and left no record itself");
}

TEST_CASE("A rank without any record is named where the others waited for it") {
  std::vector<Words> health(8, healthy());
  for (const std::size_t rank : {0U, 1U, 2U, 4U, 5U, 6U, 7U}) give_up(health[rank], 9, "ar", 3 * 3584 + 8);
  CHECK(cause(health) ==
        "nearest to the cause: workgroup 57 of rank 3 did not put pair 10760 of ar, "
        "and rank 3 left no record at all");
  health[3].clear();
  CHECK(cause(health) ==
        "nearest to the cause: workgroup 57 of rank 3 did not put pair 10760 of ar, "
        "and its words can't be read");
}

TEST_CASE("An earlier launch's record comes before a later one's, and what nobody knows names no cause") {
  std::vector<Words> health(2, healthy());
  give_up(health[0], 5, "ar", 3584);
  give_up(health[1], 0, "inter", 0);
  health[1][kernels::kHealthRecordWords + 3] = kTag - 1;
  CHECK(cause(health) == "nearest to the cause: a workgroup of rank 1 did not put pair 0 of inter");
  give_up(health[0], 5, "ar", 3584);
  health[0][6 * kernels::kHealthRecordWords + 3] =
      (0x3FFFFFU << 8) + kLayer + 1;  // the last epoch's before tags begin anew
  health[1][kernels::kHealthRecordWords + 3] = kLayer + 1;
  CHECK(cause(health) ==
        "nearest to the cause: workgroup 56 of rank 1 did not put pair 3584 of ar, and left no record itself");
  health[0] = health[1] = healthy();
  give_up(health[0], 1, "nowhere", 9);
  CHECK(cause(health).starts_with("rank 0: workgroup 1 waited more than 10 s for pair 9 of an unknown region"));
  give_up(health[0], 1, "ar", 1 << 30);
  CHECK(cause(health).starts_with("rank 0: workgroup 1 waited more than 10 s for pair 1073741824 of ar"));
}

}  // namespace
}  // namespace monojit::runtime
