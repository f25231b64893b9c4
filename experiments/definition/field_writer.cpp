#include "experiments/definition/field_writer.hpp"

#include <nlohmann/json.hpp>

namespace linerate::experiments {

std::string json_string(const std::string& text) {
  // Input is valid UTF-8 (libyaml refuses anything else); a --set need not be.
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void FieldWriter::begin(const char* key) {
  if (!first_) out_ += ',';
  first_ = false;
  out_ += json_string(key) + ":";
}

void FieldWriter::scalar(const ScalarRule& rule, const Value& value, const std::string& path) {
  context_.places.try_emplace(path, Place{});  // nothing set it: built-in default
  std::string text = format_value(rule, value);
  const bool bare = rule.kind == Kind::count || rule.kind == Kind::number;
  const auto quoted = [&](const std::string& plain) { return bare ? plain : json_string(plain); };
  if (rule.kind == Kind::toggle) {
    out_ += value.integer ? "true" : "false";
    return;
  }
  const auto interval = context_.intervals.find(path);
  if (interval == context_.intervals.end()) {
    out_ += quoted(text);
    return;
  }
  out_ += "{\"value\":" + quoted(text) + ",\"within\":[" + quoted(interval->second.first) + "," +
          quoted(interval->second.second) + "]}";
}

void FieldWriter::write_ports(Ports& ports, const std::string& path) {
  if (ports.ranges.empty()) {
    write(ports.count, path, {});
    return;
  }
  std::string separator = "{";
  for (Ports::Range& range : ports.ranges) {
    const std::string key = range.first == range.last
                                ? std::to_string(range.first)
                                : std::to_string(range.first) + "-" + std::to_string(range.last);
    out_ += separator + json_string(key) + ":";
    write(range.rate, path + "." + key, {});
    separator = ",";
  }
  out_ += '}';
}

}  // namespace linerate::experiments
