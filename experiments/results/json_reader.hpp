// Helpers of json.cpp for strict reading: every value knows its path, so that every error can name
// it. Only json.cpp includes this.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "experiments/results/json_writer.hpp"

namespace linerate::experiments {

/// Parses text from outside: at most 256 MiB, nested 64 deep, no key twice in an object. Throws
/// ResultFormatError.
Json parse_bounded(const std::string& text, const std::string& source);

/// A JSON value with the path that leads to it. The accessors throw ResultFormatError,
/// "file.json: tests[0].name: is not a string", when the value is of another type.
class JsonValue {
 public:
  /// The path of a document's root is its source, which must outlive the value.
  JsonValue(const Json& json, const std::string& source) : json_(&json), source_(&source) {}

  [[noreturn]] void fail(const std::string& problem) const;

  std::string text() const;
  bool boolean() const;
  double number() const;
  std::int64_t integer() const;
  std::uint64_t unsigned_integer() const;
  /// [lower, upper]
  std::pair<double, double> interval() const;
  std::vector<std::string> texts() const;
  /// An object as compact JSON text; "" for {}.
  std::string raw_object() const;

  std::vector<JsonValue> elements() const;
  std::vector<std::pair<std::string, JsonValue>> members() const;

  template <typename Read>
  auto list(Read read) const {
    std::vector<decltype(read(*this))> result;
    for (const JsonValue& element : elements()) result.push_back(read(element));
    return result;
  }

  template <typename T, typename Read>
  std::map<std::string, T> map(Read read) const {
    std::map<std::string, T> result;
    for (const auto& [key, member] : members()) result.emplace(key, read(member));
    return result;
  }

  template <typename Enum, std::size_t count>
  Enum one_of(const Names<Enum, count>& names) const {
    const std::string stated = text();
    std::string known;
    for (const auto& [value, name] : names) {
      if (stated == name) return value;
      known += (known.empty() ? "" : ", ") + std::string(name);
    }
    fail("is \"" + stated + "\", not one of " + known);
  }

 private:
  JsonValue(const Json& json, const std::string& source, std::string path)
      : json_(&json), source_(&source), path_(std::move(path)) {}

  const Json* json_;
  const std::string* source_;
  std::string path_;
};

/// An object that is read key by key; `finish` refuses the keys that were not asked for.
class JsonObject {
 public:
  explicit JsonObject(const JsonValue& value);

  JsonValue required(const std::string& key);
  std::optional<JsonValue> optional(const std::string& key);
  std::string text_or_empty(const std::string& key);
  void finish() const;

 private:
  JsonValue value_;
  std::vector<std::pair<std::string, JsonValue>> members_;
  std::set<std::string> read_;
};

}  // namespace linerate::experiments
