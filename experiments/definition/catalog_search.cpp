#include "experiments/definition/catalog_search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "experiments/catalog/embedded.hpp"
#include "experiments/definition/nearest.hpp"

namespace linerate::experiments {

namespace {

constexpr std::string_view kCatalogRoot = "experiments/catalog/";
constexpr std::size_t kMostNamed = 6;

using Words = std::vector<std::string>;

/// Words in lower case; `apart`: letters and digits are words of their own.
Words words_in(std::string_view text, bool apart) {
  Words words;
  int last = 0;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    const int kind = std::isdigit(byte) ? 1 : std::isalpha(byte) ? 2 : 0;
    if (kind != 0) {
      if (last == 0 || (apart && kind != last)) words.emplace_back();
      words.back() += static_cast<char>(std::tolower(byte));
    }
    last = kind;
  }
  return words;
}

/// Whether `said` has every word of `text`; parts of one word next to each other.
bool has_all(std::string_view said, std::string_view text, bool apart) {
  const Words there = words_in(said, apart), whole = words_in(text, false);
  return !whole.empty() && std::all_of(whole.begin(), whole.end(), [&](const std::string& word) {
    const Words parts = words_in(word, apart);
    return std::search(there.begin(), there.end(), parts.begin(), parts.end()) != there.end();
  });
}

/// What an entry's `about` line says.
std::string_view about_text(std::string_view entry) {
  constexpr std::string_view kKey = "about: ";
  const std::size_t at = entry.starts_with(kKey) ? 0 : entry.find("\nabout: ");
  if (at == std::string_view::npos) return {};
  const std::size_t from = entry.find(kKey, at);
  return entry.substr(from, entry.find('\n', from) - from);
}

std::vector<std::string> matches(std::string_view folder, std::string_view text, bool apart) {
  std::vector<std::string> found;
  for (const auto& [path, entry] : embedded_files()) {
    if (!path.starts_with(kCatalogRoot)) continue;
    const std::string_view place = path.substr(kCatalogRoot.size());
    const std::size_t slash = place.find('/');
    if (!folder.empty() && place.substr(0, slash) != folder) continue;
    const std::string_view name = place.substr(slash + 1, place.rfind('.') - slash - 1);
    const std::string said = fmt::format("{} {}", name, about_text(entry));
    if (has_all(said, text, apart)) found.emplace_back(name);
  }
  return found;
}

}  // namespace

std::vector<std::string> catalog_matches(std::string_view folder, std::string_view text) {
  std::vector<std::string> found = matches(folder, text, false);
  return found.empty() ? matches(folder, text, true) : found;
}

std::string suggest_entry(std::string_view folder, std::string_view text,
                          const std::vector<std::string>& names) {
  std::vector<std::string> found = catalog_matches(folder, text);
  const std::string nearest = nearest_name(text, names);
  if (found.empty() && !nearest.empty()) found.push_back(nearest);
  if (found.empty() || found.size() > kMostNamed)
    return fmt::format("`linerate catalog{}{}` lists what there is", folder.empty() ? "" : " ",
                       folder);
  return fmt::format("did you mean `{}`?", fmt::join(found, "` or `"));
}

}  // namespace linerate::experiments
