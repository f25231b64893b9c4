#include "experiments/definition/field_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "experiments/definition/catalog_search.hpp"
#include "experiments/definition/nearest.hpp"

namespace linerate::experiments {

namespace {

constexpr int kMostPorts = 4096;
constexpr int kDeepestPreset = 8;

const char* shape(const Node& node) {
  if (node.is_mapping()) return "a mapping";
  if (node.is_sequence()) return "a list";
  return node.is_null() ? "nothing" : "a single value";
}

bool parse_scalar(ReadContext& context, const Node& node, const std::string& path,
                  const ScalarRule& rule, Value& value) {
  if (!node.is_scalar()) {
    context.diagnostics.error(
        node.place, path, fmt::format("{} is expected, not {}", kind_name(rule.kind), shape(node)));
    return false;
  }
  auto parsed = parse_value(rule, node.text);
  if (const Trouble* trouble = std::get_if<Trouble>(&parsed)) {
    context.diagnostics.error(node.place, path, trouble->message, trouble->remedy);
    return false;
  }
  value = std::move(std::get<Value>(parsed));
  return true;
}

/// `within: [low, high]` around a value.
void read_within(ReadContext& context, const Node& node, const std::string& path,
                 const ScalarRule& rule, const Value& value) {
  if (!holds_real(rule.kind) &&
      (!holds_integer(rule.kind) || rule.kind == Kind::toggle || rule.kind == Kind::choice)) {
    context.diagnostics.error(node.place, path,
                              fmt::format("{} has no interval", kind_name(rule.kind)),
                              "remove `within`");
    return;
  }
  if (!node.is_sequence() || node.items.size() != 2) {
    context.diagnostics.error(node.place, path, "`within` needs two values",
                              "write within: [lowest, highest]");
    return;
  }
  Value low, high;
  if (!parse_scalar(context, node.items[0], path, rule, low) ||
      !parse_scalar(context, node.items[1], path, rule, high)) {
    return;
  }
  const auto number = [](const Value& v) { return static_cast<double>(v.integer) + v.real; };
  if (number(low) > number(value) || number(value) > number(high)) {
    context.diagnostics.error(node.place, path, "the value lies outside its own interval",
                              "order them lowest <= value <= highest");
    return;
  }
  context.intervals[path] = {format_value(rule, low), format_value(rule, high)};
}

}  // namespace

Place ReadContext::place_of(std::string path) const {
  while (!path.empty()) {
    const auto found = places.find(path);
    if (found != places.end()) return found->second;
    const std::size_t cut = path.find_last_of(".[");
    path.resize(cut == std::string::npos ? 0 : cut);
  }
  return {1, 1, 1};  // source 1 is the experiment file itself
}

void ReadContext::forget_below(const std::string& path) {
  // '/' follows '.' in ASCII, so this is every key that starts with "path.".
  places.erase(places.lower_bound(path + "."), places.lower_bound(path + "/"));
  intervals.erase(intervals.lower_bound(path + "."), intervals.lower_bound(path + "/"));
}

bool read_scalar(ReadContext& context, const Node& node, const std::string& path,
                 const ScalarRule& rule, Value& value) {
  context.intervals.erase(path);
  const Node* inner = node.is_mapping() ? node.find("value") : nullptr;
  if (!inner) {
    if (!parse_scalar(context, node, path, rule, value)) return false;
    context.places[path] = node.place;
    return true;
  }
  for (const Node::Key& key : node.keys) {
    if (key.text == "value" || key.text == "within" || key.text == "source") continue;
    context.diagnostics.error(key.place, path, fmt::format("unknown key `{}`", key.text),
                              "a value has `value`, `within` and `source`");
  }
  if (!parse_scalar(context, *inner, path, rule, value)) return false;
  context.places[path] = inner->place;
  if (const Node* within = node.find("within"); within && !within->is_null()) {
    read_within(context, *within, path, rule, value);
  }
  return true;
}

bool expect_mapping(ReadContext& context, const Node& node, const std::string& path) {
  if (node.is_mapping()) return true;
  context.diagnostics.error(node.place, path,
                            fmt::format("a mapping is expected, not {}", shape(node)),
                            "write key: value pairs");
  return false;
}

bool expect_sequence(ReadContext& context, const Node& node, const std::string& path) {
  if (node.is_sequence()) return true;
  context.diagnostics.error(node.place, path,
                            fmt::format("a list is expected, not {}", shape(node)),
                            "write [ … ] or lines that begin with `-`");
  return false;
}

const std::string* read_option_name(ReadContext& context, const Node& node, const std::string& path,
                                    const std::vector<std::string>& names) {
  if (!node.is_scalar() && (!node.is_mapping() || node.keys.size() != 1)) {
    context.diagnostics.error(node.place, path, "one name is expected, or one name and its options",
                              fmt::format("write {0} or {{{0}: {{…}}}}", names.front()));
    return nullptr;
  }
  const std::string& name = node.is_scalar() ? node.text : node.keys.front().text;
  if (std::find(names.begin(), names.end(), name) != names.end()) return &name;
  const std::string nearest = nearest_name(name, names);
  context.diagnostics.error(node.place, path, fmt::format("unknown name `{}`", name.substr(0, 80)),
                            nearest.empty() ? fmt::format("one of {}", fmt::join(names, ", "))
                                            : fmt::format("did you mean `{}`?", nearest));
  return nullptr;
}

const Node* find_preset(ReadContext& context, const Node& node, const std::string& path,
                        const char* folder) {
  Value name;
  if (!parse_scalar(context, node, path, {.kind = Kind::text}, name)) return nullptr;
  if (context.preset_depth >= kDeepestPreset) {
    context.diagnostics.error(
        node.place, path, fmt::format("`{}` builds on itself, or on too many others", name.text));
    return nullptr;
  }
  const Node* tree = context.presets.find(folder, name.text);
  if (!tree && !context.presets.broken(folder, name.text)) {
    context.diagnostics.error(
        node.place, path,
        fmt::format("`{}` is in neither the catalog's {} nor ./profiles", name.text, folder),
        suggest_entry(folder, name.text, context.presets.names(folder)));
  }
  return tree;
}

const Node* FieldReader::take(const char* key) {
  known_.emplace_back(key);
  for (std::size_t i = 0; i < node_.keys.size(); ++i) {
    if (node_.keys[i].text == key) {
      used_[i] = true;
      return &node_.items[i];
    }
  }
  return nullptr;
}

void FieldReader::missing(const char* key, const char* words) {
  context_.diagnostics.error(node_.place, path_, fmt::format("the key `{}` is missing", key),
                             fmt::format("add `{}`: {}", key, words));
}

void FieldReader::later(std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    for (std::size_t i = 0; i < node_.keys.size(); ++i) {
      if (node_.keys[i].text != key) continue;
      used_[i] = true;
      context_.diagnostics.error(node_.keys[i].place, path_,
                                 fmt::format("`{}` is not supported yet in this version", key),
                                 "remove it");
    }
  }
}

void FieldReader::finish() {
  for (std::size_t i = 0; i < used_.size(); ++i) {
    if (used_[i]) continue;
    const std::string& key = node_.keys[i].text;
    std::string remedy;
    if (!context_.diagnostics.crowded()) remedy = suggest(key, known_);
    context_.diagnostics.error(node_.keys[i].place, path_,
                               fmt::format("unknown key `{}`", key.substr(0, 80)), remedy);
  }
}

bool parse_port_range(const std::string& text, int& first, int& last) {
  const char* end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, first);
  if (error != std::errc{}) return false;
  last = first;
  if (rest != end) {
    if (*rest != '-') return false;
    const auto parsed = std::from_chars(rest + 1, end, last);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return false;
  }
  return first >= 1 && last >= first && last <= kMostPorts;
}

bool is_vlan_number(const std::string& text) {
  int number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  return parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size() && number >= 1 &&
         number <= 4094;
}

void read_ports(ReadContext& context, const Node& node, const std::string& path, Ports& ports) {
  ports = {};
  context.places[path] = node.place;
  if (!node.is_mapping() || node.find("value")) {
    read_value(context, node, path, ports.count, {.low = 1, .high = kMostPorts});
    return;
  }
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    Ports::Range range;
    const Node::Key& key = node.keys[i];
    if (!parse_port_range(key.text, range.first, range.last)) {
      context.diagnostics.error(
          key.place, path, fmt::format("`{}` is no range of ports", key.text.substr(0, 80)),
          fmt::format("write \"1-48\" or \"49\", ports counting from 1 to at most {}", kMostPorts));
      continue;
    }
    read_value(context, node.items[i], path + "." + key.text, range.rate, {.low = 1});
    ports.ranges.push_back(range);
  }
  std::sort(ports.ranges.begin(), ports.ranges.end(),
            [](const Ports::Range& a, const Ports::Range& b) { return a.first < b.first; });
  int next = 1;
  for (const Ports::Range& range : ports.ranges) {
    if (range.first != next) {
      context.diagnostics.error(
          node.place, path,
          range.first < next ? fmt::format("port {} stands in two ranges", range.first)
                             : fmt::format("ports {}-{} have no rate", next, range.first - 1),
          "the ranges must cover every port from 1 once");
    }
    next = range.last + 1;
  }
  ports.count = next - 1;
}

void read_tolerances(ReadContext& context, const Node& node, const std::string& path,
                     const FieldRule& rule, std::vector<Tolerance>& tolerances) {
  if (node.is_null() || !expect_mapping(context, node, path)) return;
  context.places[path] = node.place;
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    Tolerance tolerance{node.keys[i].text, 0};
    if (node.items[i].is_null()) continue;
    read_value(context, node.items[i], path + "." + tolerance.pattern, tolerance.relative, rule);
    tolerances.push_back(std::move(tolerance));
  }
}

void read_size_point(ReadContext& context, const Node& node, const std::string& path,
                     SizePoint& point) {
  if (!node.is_sequence() || node.items.size() != 2) {
    context.diagnostics.error(node.place, path, "a point is a size and a share",
                              "write [64KiB, 0.5]: half of all are at most so large");
    return;
  }
  read_value(context, node.items[0], path + "[0]", point.size, {});
  read_value(context, node.items[1], path + "[1]", point.share, {.high = 1});
}

void read_frame_size(ReadContext& context, const Node& node, const std::string& path,
                     const FieldRule& rule, FrameSize& size) {
  size.imix = node.is_scalar() && node.text == "imix";
  if (!size.imix) return read_value(context, node, path, size.size, rule);
  context.places[path] = node.place;
}

}  // namespace linerate::experiments
