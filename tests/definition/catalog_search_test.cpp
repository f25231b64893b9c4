// Profiles are found by what people call them.
#include "experiments/definition/catalog_search.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace linerate::experiments;

namespace {

bool finds(const char* folder, const char* words, const char* name) {
  const std::vector<std::string> found = catalog_matches(folder, words);
  return std::find(found.begin(), found.end(), name) != found.end();
}

}  // namespace

TEST_CASE("a part number or the words of an `about` line find a profile") {
  CHECK(catalog_matches("nics", "x520") == std::vector<std::string>{"intel-82599"});
  CHECK(catalog_matches("nics", "RTL8111") == std::vector<std::string>{"rtl8168"});
  CHECK(finds("nics", "i210", "intel-i210"));
  CHECK(finds("hosts", "pi4", "raspberry-4"));
  CHECK(finds("hosts", "Pi 4", "raspberry-4"));
  CHECK_FALSE(finds("hosts", "pi4", "raspberry-5"));
  CHECK(catalog_matches("hosts", "x520").empty());
  CHECK(catalog_matches("", "x520").size() == 1);
  CHECK(catalog_matches("hosts", "").empty());
}

TEST_CASE("an unknown profile has a remedy: what is meant, or where to look") {
  CHECK(suggest_entry("nics", "x520", {}) == "did you mean `intel-82599`?");
  CHECK(suggest_entry("hosts", "rasberry-4", {"raspberry-4", "ideal"}) ==
        "did you mean `raspberry-4`?");
  CHECK(suggest_entry("hosts", "cray-1", {"ideal"}) ==
        "`linerate catalog hosts` lists what there is");
}
