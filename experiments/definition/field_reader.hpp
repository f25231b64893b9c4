// Fills the structs of spec.hpp from a tree, along the tables of fields.hpp.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "experiments/definition/field_traits.hpp"
#include "experiments/definition/presets.hpp"

namespace linerate::experiments {

/// What reading needs and leaves behind besides the values.
struct ReadContext {
  Diagnostics& diagnostics;
  Presets& presets;
  /// What set each path: "hosts.a.nics.eth0.mtu". Later layers overwrite earlier ones.
  std::map<std::string, Place> places{};
  /// The `within` of values written {value, within}, as canonical text.
  std::map<std::string, std::pair<std::string, std::string>> intervals{};
  int preset_depth = 0;

  /// The place of `path`, or of the nearest path above it that has one.
  Place place_of(std::string path) const;
  void forget_below(const std::string& path);
};

/// Reads one scalar, plain or as {value, within, source}. False after an error.
bool read_scalar(ReadContext& context, const Node& node, const std::string& path,
                 const ScalarRule& rule, Value& value);

bool expect_mapping(ReadContext& context, const Node& node, const std::string& path);
bool expect_sequence(ReadContext& context, const Node& node, const std::string& path);

/// The catalog entry `node` names; nullptr after an error. At most eight may build on each other.
const Node* find_preset(ReadContext& context, const Node& node, const std::string& path,
                        const char* folder);

/// "1-48" or "7", ports from 1; false if it is neither.
bool parse_port_range(const std::string& text, int& first, int& last);
/// Whether `text` is a number from 1 to 4094.
bool is_vlan_number(const std::string& text);
void read_ports(ReadContext& context, const Node& node, const std::string& path, Ports& ports);
void read_tolerances(ReadContext& context, const Node& node, const std::string& path,
                     const FieldRule& rule, std::vector<Tolerance>& tolerances);
void read_size_point(ReadContext& context, const Node& node, const std::string& path,
                     SizePoint& point);
void read_frame_size(ReadContext& context, const Node& node, const std::string& path,
                     const FieldRule& rule, FrameSize& size);

/// Visits the fields of one mapping and then refuses the keys that no field took.
class FieldReader {
 public:
  FieldReader(ReadContext& context, const Node& node, std::string path)
      : context_(context), node_(node), path_(std::move(path)), used_(node.keys.size()) {}

  template <class T>
  void operator()(const char* key, T& field, const char* words, const FieldRule& rule = {});

  template <class Inner>
  void group(const char* key, const char*, Inner&& inner) {
    const Node* value = take(key);
    if (!value || value->is_null()) return;
    const std::string path = child(key);
    if (!expect_mapping(context_, *value, path)) return;
    context_.places[path] = value->place;
    FieldReader fields(context_, *value, path);
    inner(fields);
    fields.finish();
  }

  void later(std::initializer_list<const char*> keys);
  /// Keys of `like` and of catalog entries that carry no value.
  void ignore(const char* key) { take(key); }
  void finish();

 private:
  const Node* take(const char* key);
  void missing(const char* key, const char* words);
  std::string child(const char* key) const { return path_.empty() ? key : path_ + "." + key; }

  ReadContext& context_;
  const Node& node_;
  std::string path_;
  std::vector<bool> used_;
  std::vector<std::string> known_;
};

template <class T>
void read_value(ReadContext& context, const Node& node, const std::string& path, T& field,
                const FieldRule& rule);

/// Reads `node` over what `target` holds; the preset it names comes first.
template <class T>
void read_struct(ReadContext& context, const Node& node, const std::string& path, T& target) {
  constexpr PresetPlace place = preset_place<T>();
  if constexpr (place.key != nullptr) {
    const bool short_form = kNamedWhole<T> && node.is_scalar();
    const Node* preset = short_form ? &node : node.find(place.key);
    if (preset && !preset->is_null()) {
      if constexpr (kNamedWhole<T>) {
        // A preset is a whole stack: nothing of an earlier layer's stays.
        target = T{};
        context.forget_below(path);
      }
      if (const Node* tree = find_preset(context, *preset, path, place.folder)) {
        ++context.preset_depth;
        read_struct(context, *tree, path, target);
        --context.preset_depth;
      }
      if (short_form) {
        if constexpr (kNamedWhole<T>) target.preset = node.text;
        context.places[path] = node.place;
        context.places[path + ".preset"] = node.place;
        return;
      }
    }
  }
  if (!expect_mapping(context, node, path)) return;
  FieldReader fields(context, node, path);
  describe(fields, target);
  if (context.preset_depth > 0) {
    fields.ignore("about");
    fields.ignore("source");
  }
  fields.finish();
}

template <class T>
void start_entry(ReadContext& context, const std::string& path, T& entry) {
  if constexpr (std::same_as<T, Host>) {
    const Node name = scalar_node(kDefaultStack, {});
    read_struct(context, name, path + ".stack", entry.stack);
  }
}

/// A mapping from name to entry. Entries of an earlier layer (a profile's NICs) are read over.
template <class T>
void read_keyed(ReadContext& context, const Node& node, const std::string& path,
                std::vector<T>& entries) {
  if (!expect_mapping(context, node, path)) return;
  context.places[path] = node.place;
  const std::size_t earlier = entries.size();
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const Node::Key& key = node.keys[i];
    const std::string entry_path = path + "." + key.text;
    if (node.items[i].is_null()) continue;
    if constexpr (kNumbered<T>) {
      if (!is_vlan_number(key.text)) {
        context.diagnostics.error(key.place, path,
                                  "`" + key.text.substr(0, 80) + "` is no VLAN number",
                                  "write a number from 1 to 4094 (IEEE 802.1Q)");
        continue;
      }
    } else if (!is_name(key.text)) {
      context.diagnostics.error(key.place, path, "`" + key.text.substr(0, 80) + "` is not a name",
                                "a name is lower-case letters, digits and hyphens, a letter first");
      continue;
    }
    T* entry = nullptr;
    for (std::size_t j = 0; j < earlier; ++j) {
      if (entry_name(entries[j]) == key.text) entry = &entries[j];
    }
    if (!entry) {
      entry = &entries.emplace_back();
      entry_name(*entry) = key.text;
      start_entry(context, entry_path, *entry);
    }
    context.places[entry_path] = key.place;
    if constexpr (std::same_as<T, LabSwitch>) {
      read_value(context, node.items[i], entry_path, entry->kind, {});
    } else {
      read_struct(context, node.items[i], entry_path, *entry);
    }
  }
}

/// A list whose entries are addressed by name: "tests.bulk".
template <class T>
void read_listed(ReadContext& context, const Node& node, const std::string& path,
                 std::vector<T>& entries) {
  if (!expect_sequence(context, node, path)) return;
  context.places[path] = node.place;
  entries.clear();
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const Node& item = node.items[i];
    const Node* name = item.find("name");
    const std::string entry_path = name && name->is_scalar()
                                       ? path + "." + name->text.substr(0, 200)
                                       : path + "[" + std::to_string(i) + "]";
    context.places[entry_path] = item.place;
    read_struct(context, item, entry_path, entries.emplace_back());
  }
}

template <class T>
void read_list(ReadContext& context, const Node& node, const std::string& path,
               std::vector<T>& list, const FieldRule& rule) {
  if (!expect_sequence(context, node, path)) return;
  context.places[path] = node.place;
  list.clear();
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    T element{};
    read_value(context, node.items[i], path + "[" + std::to_string(i) + "]", element, rule);
    list.push_back(std::move(element));
  }
}

/// The name of the alternative that `node` chooses, as `vxlan` or `{vxlan: {vni: 7}}`, which is one
/// of `names`; nullptr after an error.
const std::string* read_option_name(ReadContext& context, const Node& node, const std::string& path,
                                    const std::vector<std::string>& names);

/// One of several structs, chosen by name.
template <class... Options>
void read_option(ReadContext& context, const Node& node, const std::string& path,
                 std::variant<Options...>& field) {
  const std::string* name = read_option_name(context, node, path, option_names(field));
  if (name == nullptr) return;
  context.places[path] = node.place;
  const auto read = [&]<class Option>(Option option) {
    if (*name != Option::kName) return;
    const Node* fields = node.is_mapping() ? &node.items.front() : nullptr;
    if (fields && !fields->is_null()) read_struct(context, *fields, path + "." + *name, option);
    field = std::move(option);
  };
  (read(Options{}), ...);
}

template <class T>
void read_value(ReadContext& context, const Node& node, const std::string& path, T& field,
                const FieldRule& rule) {
  if constexpr (IsOptional<T>::value) {
    if (node.is_null()) {
      field.reset();
      return;
    }
    typename T::value_type value{};
    read_value(context, node, path, value, rule);
    field = std::move(value);
  } else if constexpr (kIsScalar<T>) {
    Value value;
    if (node.is_null()) return;  // null takes back what a key says, so the layer below stands
    if (read_scalar(context, node, path, scalar_rule<T>(rule), value)) {
      assign(field, std::move(value));
    }
  } else if constexpr (std::same_as<T, Loss>) {
    field = {};
    if (node.is_sequence()) {
      read_list(context, node, path, field.directions, {});
    } else {
      read_value(context, node, path, field.both, rule);
    }
  } else if constexpr (std::same_as<T, SizePoint>) {
    read_size_point(context, node, path, field);
  } else if constexpr (std::same_as<T, FrameSize>) {
    read_frame_size(context, node, path, rule, field);
  } else if constexpr (IsEnds<T>::value) {
    if (node.is_sequence()) {
      read_list(context, node, path, field.values, rule);
      if (field.values.size() != 2) {
        context.diagnostics.error(node.place, path, "a link has two ends",
                                  "write one value for both, or [first, second]");
      }
    } else {
      field.values.resize(node.is_null() ? 0 : 1);
      if (!node.is_null()) read_value(context, node, path, field.values[0], rule);
    }
  } else if constexpr (std::same_as<T, std::vector<Tolerance>>) {
    read_tolerances(context, node, path, rule, field);
  } else if constexpr (IsVector<T>::value) {
    using Element = typename T::value_type;
    if (node.is_null()) return;
    if constexpr (kKeyed<Element>) {
      read_keyed(context, node, path, field);
    } else if constexpr (kListed<Element>) {
      read_listed(context, node, path, field);
    } else {
      read_list(context, node, path, field, rule);
    }
  } else if constexpr (IsVariant<T>::value) {
    read_option(context, node, path, field);
  } else if constexpr (std::same_as<T, Ports>) {
    read_ports(context, node, path, field);
  } else if constexpr (std::same_as<T, Template>) {
    if (!node.is_null() && expect_mapping(context, node, path)) field.node = node;
  } else if constexpr (std::same_as<T, EgressSpec>) {
    read_value(context, node, path, field.queue, rule);
  } else if constexpr (std::same_as<T, QueueSpec>) {
    if (node.is_mapping() && !node.find("value")) {
      context.places[path] = node.place;
      read_struct(context, node, path, field);
    } else {  // `queue: 64KiB`
      field = {};
      read_value(context, node, path, field.limit, kAtLeastOne);
    }
  } else if constexpr (std::same_as<T, SocketBuffer>) {
    if (node.is_mapping() && !node.find("value")) {
      FieldReader fields(context, node, path);
      fields("send", field.send, "SO_SNDBUF", rule);
      fields("receive", field.receive, "SO_RCVBUF", rule);
      fields.finish();
    } else {
      read_value(context, node, path, field.send, rule);
      field.receive = field.send;
    }
  } else {
    if (node.is_null()) return;
    context.places[path] = node.place;
    read_struct(context, node, path, field);
  }
}

template <class T>
void FieldReader::operator()(const char* key, T& field, const char* words, const FieldRule& rule) {
  const Node* value = take(key);
  if (value) {
    read_value(context_, *value, child(key), field, rule);
  } else if (rule.required && context_.preset_depth == 0) {
    missing(key, words);
  }
}

}  // namespace linerate::experiments
