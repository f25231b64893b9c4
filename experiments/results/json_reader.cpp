#include "experiments/results/json_reader.hpp"

#include <algorithm>
#include <cmath>

#include "experiments/results/json.hpp"

namespace linerate::experiments {
namespace {

constexpr std::size_t largest_text = std::size_t{256} << 20;
constexpr int deepest_nesting = 64;

/// Keys are quoted when they are not a word, "ports["a:eth0"]", so that a path can be read.
std::string member_path(const std::string& path, const std::string& key) {
  const bool word = !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
  if (!word) return path + "[\"" + key + "\"]";
  return path.empty() ? key : path + "." + key;
}

}  // namespace

Json parse_bounded(const std::string& text, const std::string& source) {
  if (text.size() > largest_text) throw ResultFormatError(source + ": is larger than 256 MiB");
  // The library keeps the last of two equal keys in silence; a file with two medians has no
  // meaning.
  std::vector<std::set<std::string>> keys;
  const auto check = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > deepest_nesting)
      throw ResultFormatError(source + ": is nested deeper than 64 levels");
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!keys.back().insert(key).second)
        throw ResultFormatError(source + ": the key \"" + key + "\" stands twice in one object");
    }
    return true;
  };
  try {
    return Json::parse(text, check);
  } catch (const Json::exception& error) {
    const std::string words = error.what();
    // Without the library's "[json.exception.parse_error.101] ".
    const std::size_t end = words.find("] ");
    throw ResultFormatError(
        source + ": is not JSON: " + (end == std::string::npos ? words : words.substr(end + 2)));
  }
}

void JsonValue::fail(const std::string& problem) const {
  throw ResultFormatError(*source_ + ": " + (path_.empty() ? "" : path_ + ": ") + problem);
}

std::string JsonValue::text() const {
  if (!json_->is_string()) fail("is not a string");
  const auto& text = json_->get_ref<const std::string&>();
  // Names and notes reach terminals, where an escape sequence would act.
  const auto acts = [](unsigned char c) {
    return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
  };
  if (std::any_of(text.begin(), text.end(), acts)) fail("holds a control character");
  return text;
}

bool JsonValue::boolean() const {
  if (!json_->is_boolean()) fail("is not true or false");
  return json_->get<bool>();
}

double JsonValue::number() const {
  if (!json_->is_number()) fail("is not a number");
  const auto value = json_->get<double>();
  if (!std::isfinite(value)) fail("is not a finite number");
  return value;
}

std::int64_t JsonValue::integer() const {
  if (!json_->is_number_integer()) fail("is not a whole number");
  if (json_->is_number_unsigned() && json_->get<std::uint64_t>() > INT64_MAX)
    fail("is larger than 2^63 - 1");
  return json_->get<std::int64_t>();
}

std::uint64_t JsonValue::unsigned_integer() const {
  if (!json_->is_number_unsigned()) fail("is not a whole number of at least 0");
  return json_->get<std::uint64_t>();
}

std::pair<double, double> JsonValue::interval() const {
  const std::vector<JsonValue> bounds = elements();
  if (bounds.size() != 2) fail("is not a pair of numbers");
  const std::pair result{bounds[0].number(), bounds[1].number()};
  if (result.first > result.second) fail("has its lower bound above its upper");
  return result;
}

std::vector<std::string> JsonValue::texts() const {
  return list([](const JsonValue& element) { return element.text(); });
}

std::string JsonValue::raw_object() const {
  if (!json_->is_object()) fail("is not an object");
  return json_->empty() ? "" : json_->dump();
}

std::vector<JsonValue> JsonValue::elements() const {
  if (!json_->is_array()) fail("is not a list");
  std::vector<JsonValue> result;
  result.reserve(json_->size());
  for (std::size_t i = 0; i < json_->size(); ++i)
    result.push_back(JsonValue((*json_)[i], *source_, path_ + "[" + std::to_string(i) + "]"));
  return result;
}

std::vector<std::pair<std::string, JsonValue>> JsonValue::members() const {
  if (!json_->is_object()) fail("is not an object");
  std::vector<std::pair<std::string, JsonValue>> result;
  result.reserve(json_->size());
  for (const auto& [key, member] : json_->items())
    result.emplace_back(key, JsonValue(member, *source_, member_path(path_, key)));
  return result;
}

JsonObject::JsonObject(const JsonValue& value) : value_(value), members_(value.members()) {}

JsonValue JsonObject::required(const std::string& key) {
  auto member = optional(key);
  if (!member) value_.fail("\"" + key + "\" is missing");
  return *member;
}

std::optional<JsonValue> JsonObject::optional(const std::string& key) {
  read_.insert(key);
  for (const auto& [name, member] : members_)
    if (name == key) return member;
  return std::nullopt;
}

std::string JsonObject::text_or_empty(const std::string& key) {
  const auto member = optional(key);
  return member ? member->text() : "";
}

void JsonObject::finish() const {
  for (const auto& [name, member] : members_)
    if (!read_.contains(name)) member.fail("is not a key of this format");
}

}  // namespace linerate::experiments
