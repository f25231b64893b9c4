#include "cli/encapsulation_letters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "cli/failure.hpp"

namespace linerate::cli {
namespace {

/// The option of a layer that a value alone is for.
struct MainOption {
  std::string_view layer;
  const char* key;
};
constexpr std::array kMainOptions{MainOption{"esp", "cipher"},     MainOption{"mpls", "labels"},
                                  MainOption{"geneve", "options"}, MainOption{"vxlan", "vni"},
                                  MainOption{"wireguard", "mtu"},  MainOption{"vlan", "id"}};
constexpr std::array<std::string_view, 5> kSwitches{"key", "checksum", "sequence", "sci",
                                                    "nat_traversal"};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// In quotes, so that a value stays one value.
std::string in_quotes(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

std::string field(const std::string& key, const std::string& value) {
  const bool number = !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
  return in_quotes(key) + ": " + (number ? value : in_quotes(value));
}

std::string option_of(const std::string& layer, std::string word) {
  if (const std::size_t colon = word.find(':'); colon != std::string::npos)
    return field(word.substr(0, colon), word.substr(colon + 1));
  if (word == "ip4" || word == "ip6") return field("ip", word.substr(2));
  if (word == "tunnel" || word == "transport") return field("mode", word);
  std::string key = word;
  std::replace(key.begin(), key.end(), '-', '_');
  if (std::find(kSwitches.begin(), kSwitches.end(), key) != kSwitches.end())
    return in_quotes(key) + ": on";
  for (const MainOption& option : kMainOptions)
    if (option.layer == layer) return field(option.key, word);
  return field(key, "on");
}

}  // namespace

std::string encapsulation_list(const std::string& letters) {
  std::string list;
  for (const std::string& part : split(letters, ',')) {
    const std::size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    if (name.empty())
      throw usage_error("--encapsulation has a layer without a name",
                        "write --encapsulation vxlan,esp=gcm");
    list += list.empty() ? "" : ", ";
    if (equals == std::string::npos) {
      list += in_quotes(name);
      continue;
    }
    std::string options;
    for (const std::string& word : split(part.substr(equals + 1), '+'))
      options += (options.empty() ? "" : ", ") + option_of(name, word);
    list += fmt::format("{{{}: {{{}}}}}", in_quotes(name), options);
  }
  return "[" + list + "]";
}

}  // namespace linerate::cli
