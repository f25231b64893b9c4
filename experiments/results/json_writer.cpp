#include "experiments/results/json_writer.hpp"

namespace linerate::experiments {
namespace {

constexpr std::size_t line_width = 100;

std::string scalar(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Appends the value on one line with a space after colons and commas; gives up, returning false,
/// once the text is longer than the limit.
bool append_flat(std::string& out, const Json& json, std::size_t limit) {
  if (!json.is_structured()) {
    out += scalar(json);
    return out.size() <= limit;
  }
  out += json.is_object() ? '{' : '[';
  bool first = true;
  for (const auto& item : json.items()) {
    if (!first) out += ", ";
    first = false;
    if (json.is_object()) out += scalar(item.key()) + ": ";
    if (!append_flat(out, item.value(), limit)) return false;
  }
  out += json.is_object() ? '}' : ']';
  return out.size() <= limit;
}

void append(std::string& out, const Json& json, std::size_t indent, std::size_t line_start) {
  const std::size_t before = out.size();
  // One column is kept for the comma that may follow.
  if (append_flat(out, json, line_start + line_width - 1)) return;
  out.resize(before);
  if (!json.is_structured()) {
    out += scalar(json);
    return;
  }
  out += json.is_object() ? '{' : '[';
  bool first = true;
  for (const auto& item : json.items()) {
    out += first ? "\n" : ",\n";
    first = false;
    const std::size_t start = out.size();
    out.append(indent + 2, ' ');
    if (json.is_object()) out += scalar(item.key()) + ": ";
    append(out, item.value(), indent + 2, start);
  }
  out += '\n';
  out.append(indent, ' ');
  out += json.is_object() ? '}' : ']';
}

}  // namespace

std::string to_text(const Json& json) {
  std::string out;
  append(out, json, 0, 0);
  out += '\n';
  return out;
}

}  // namespace linerate::experiments
