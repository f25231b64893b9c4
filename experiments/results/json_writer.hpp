// Helpers of json.cpp for writing. Only json.cpp includes this.
#pragma once

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sim/check.hpp"

namespace linerate::experiments {

/// Keys stay in the order they were written in.
using Json = nlohmann::ordered_json;

/// How the values of an enumeration are spelled.
template <typename Enum, std::size_t count>
using Names = std::array<std::pair<Enum, const char*>, count>;

template <typename Enum, std::size_t count>
const char* name_of(const Names<Enum, count>& names, Enum value) {
  for (const auto& [candidate, name] : names)
    if (candidate == value) return name;
  LINERATE_CHECK(false, "every value of an enumeration has a name");
}

/// A number that JSON can hold. What is unknown is left out by the caller, never written as NaN.
inline Json number(double value) {
  LINERATE_CHECK(std::isfinite(value), "a number in a result is finite");
  return value;
}

inline Json number(std::int64_t value) { return value; }

inline Json pair_of_numbers(const std::pair<double, double>& bounds) {
  return Json::array({number(bounds.first), number(bounds.second)});
}

template <typename List, typename Write>
Json list_to_json(const List& list, Write write_element) {
  Json json = Json::array();
  for (const auto& element : list) json.push_back(write_element(element));
  return json;
}

/// `write_member` gives the pair of key and value; keys must differ. Appends without the search for
/// an equal key that operator[] does, which is quadratic over a thousand ports.
template <typename List, typename Write>
Json map_to_json(const List& list, Write write_member) {
  Json::object_t members;
  std::vector<Json::object_t::value_type>& entries = members;
  for (const auto& element : list) {
    auto [key, value] = write_member(element);
    entries.emplace_back(std::move(key), std::move(value));
  }
  return members;
}

template <typename Map>
Json numbers_to_json(const Map& map) {
  return map_to_json(map, [](const auto& entry) {
    return std::pair{entry.first, number(entry.second)};
  });
}

/// The document, indented by two; what fits on a line of 100 columns stays on one, so that a result
/// reads as a table and a list of samples does not fill a screen. Ends with a newline. Bytes that
/// are no UTF-8 (from a machine's own description) become U+FFFD.
std::string to_text(const Json& json);

}  // namespace linerate::experiments
