// JSON Schema draft-07 of the experiment file, from the same tables as the parser.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/definition/field_traits.hpp"

namespace linerate::experiments {

namespace {

using Json = nlohmann::ordered_json;

// "h[1-32]" stands for many names; `{i}` in a value for the number of each.
constexpr const char* kNamePattern = "^[a-z][a-z0-9-]*(\\[[0-9]+-[0-9]+\\][a-z0-9-]*)?$";
constexpr const char* kBound = "\\{[^}]*\\}";

const char* definition_name(Kind kind) {
  switch (kind) {
    case Kind::time:
      return "time";
    case Kind::size:
      return "size";
    case Kind::rate:
      return "rate";
    case Kind::hertz:
      return "clock";
    case Kind::fraction:
      return "percentage";
    case Kind::length:
      return "length";
    case Kind::money:
      return "money";
    case Kind::per_second:
      return "frequency";
    default:
      return "toggle";
  }
}

Json reference(const std::string& name) { return {{"$ref", "#/definitions/" + name}}; }

Json any_of(std::initializer_list<Json> shapes) { return {{"anyOf", Json(shapes)}}; }

/// {value, within, source} around a value.
Json with_source(const Json& plain, bool interval) {
  Json properties{{"value", plain}};
  if (interval) {
    properties["within"] = {{"type", "array"}, {"items", plain}, {"minItems", 2}, {"maxItems", 2}};
  }
  properties["source"] = {{"type", "string"}};
  return {{"type", "object"},
          {"properties", properties},
          {"required", Json::array({"value"})},
          {"additionalProperties", false}};
}

/// null takes back what a layer below says.
Json null_shape() { return {{"type", "null"}}; }

std::string quantity_pattern(Kind kind) {
  std::string units;
  for (const std::string& unit : unit_names(kind)) {
    if (!units.empty()) units += '|';
    units += unit;
  }
  return fmt::format("^\\+?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)? *({})$|{}", units, kBound);
}

Json definitions() {
  Json result = Json::object();
  const auto define = [&](const std::string& name, Json plain, bool interval) {
    result["plain_" + name] = std::move(plain);
    const Json plain_reference = reference("plain_" + name);
    result[name] = any_of({plain_reference, with_source(plain_reference, interval), null_shape()});
  };
  for (const Kind kind : {Kind::time, Kind::size, Kind::rate, Kind::hertz, Kind::fraction,
                          Kind::length, Kind::money, Kind::per_second}) {
    const Json quantity{{"type", "string"}, {"pattern", quantity_pattern(kind)}};
    const bool zero =
        kind == Kind::time || kind == Kind::size || kind == Kind::fraction || kind == Kind::length;
    const Json nothing{{"type", "integer"}, {"enum", {0}}};
    define(definition_name(kind), zero ? any_of({quantity, nothing}) : quantity, true);
  }
  define("toggle", {{"enum", {true, false, "on", "off", "yes", "no", "true", "false"}}}, false);
  define("text", {{"type", "string"}}, false);
  // Numbers carry their limits where they stand; these are the other ways to write one.
  const Json bound{{"type", "string"}, {"pattern", kBound}};
  for (const char* type : {"integer", "number"}) {
    result[std::string("other_") + type] =
        any_of({bound, with_source({{"type", type}}, true), null_shape()});
  }
  return result;
}

class SchemaWriter {
 public:
  SchemaWriter() : schema_{{"type", "object"}, {"properties", Json::object()}} {}

  template <class T>
  void operator()(const char* key, T& field, const char* words, const FieldRule& rule = {}) {
    Json shape = shape_of(field, rule);
    // draft-07 ignores what stands beside a $ref, so words wrap it.
    if (shape.contains("$ref")) shape = {{"allOf", Json::array({shape})}};
    shape["description"] = words;
    schema_["properties"][key] = std::move(shape);
    if (rule.required) required_.push_back(key);
  }

  template <class Inner>
  void group(const char* key, const char* words, Inner&& inner) {
    SchemaWriter fields;
    inner(fields);
    Json shape = fields.finish();
    shape["description"] = words;
    schema_["properties"][key] = std::move(shape);
  }

  void later(std::initializer_list<const char*>) {}

  Json finish() {
    if (!required_.empty()) schema_["required"] = required_;
    schema_["additionalProperties"] = false;
    return std::move(schema_);
  }

  void add(const char* key, Json shape) { schema_["properties"][key] = std::move(shape); }

 private:
  static Json scalar(const ScalarRule& rule) {
    switch (rule.kind) {
      case Kind::text:
        return reference("text");
      case Kind::name:
        // A name may hold `{i}`.
        return {{"type", "string"}, {"minLength", 1}};
      case Kind::choice: {
        Json words = Json::array();
        for (const Word& word : rule.words) {
          if (!word.later) words.push_back(word.text);
          // YAML 1.1 readers turn a plain `off` or `on` into a boolean before the schema sees it.
          if (std::string_view(word.text) == "off") words.push_back(false);
          if (std::string_view(word.text) == "on") words.push_back(true);
        }
        const Json plain{{"enum", words}};
        return any_of({plain, with_source(plain, false), null_shape()});
      }
      case Kind::count:
        return any_of({limited("integer", static_cast<std::int64_t>(rule.low), rule.high),
                       reference("other_integer")});
      case Kind::number:
        return any_of({limited("number", rule.low, rule.high), reference("other_number")});
      default:
        return reference(definition_name(rule.kind));
    }
  }

  template <class Low>
  static Json limited(const char* type, Low low, double high) {
    Json number{{"type", type}, {"minimum", low}};
    if (std::isfinite(high)) number["maximum"] = static_cast<Low>(high);
    return number;
  }

  template <class T>
  static Json object_of(T& value) {
    SchemaWriter fields;
    describe(fields, value);
    if constexpr (kListed<T>) {
      // `like:` and `defaults:` may supply every key but the name.
      std::erase_if(fields.required_, [](const std::string& key) { return key != "name"; });
    }
    if constexpr (kKeyed<T> || kListed<T>) {
      fields.add("like", {{"type", "string"}, {"description", "copies another entry first"}});
    }
    return fields.finish();
  }

  /// A name, or a mapping from one name to its options.
  template <class... Options>
  static Json options_of(std::variant<Options...>& choice) {
    Json properties = Json::object();
    const auto add_option = [&]<class Option>(Option option) {
      properties[Option::kName] = any_of({object_of(option), null_shape()});
    };
    (add_option(Options{}), ...);
    return any_of({{{"enum", option_names(choice)}},
                   {{"type", "object"},
                    {"properties", properties},
                    {"additionalProperties", false},
                    {"minProperties", 1},
                    {"maxProperties", 1}}});
  }

  template <class T>
  static Json shape_of(T& field, const FieldRule& rule) {
    if constexpr (std::same_as<T, LabSwitch>) {
      return shape_of(field.kind, rule);
    } else if constexpr (IsOptional<T>::value) {
      typename T::value_type value{};
      return shape_of(value, rule);
    } else if constexpr (kIsScalar<T>) {
      return scalar(scalar_rule<T>(rule));
    } else if constexpr (std::same_as<T, Loss>) {
      return any_of({shape_of(field.both, rule), shape_of(field.directions, {})});
    } else if constexpr (IsEnds<T>::value) {
      typename decltype(field.values)::value_type end{};
      const Json one = shape_of(end, rule);
      return any_of({one, {{"type", "array"}, {"items", one}, {"minItems", 2}, {"maxItems", 2}}});
    } else if constexpr (std::same_as<T, std::vector<Tolerance>>) {
      double relative = 0;
      return {{"type", "object"}, {"additionalProperties", shape_of(relative, rule)}};
    } else if constexpr (IsVector<T>::value) {
      typename T::value_type element{};
      if constexpr (kKeyed<typename T::value_type>) {
        const char* names = kNumbered<typename T::value_type> ? "^[0-9]+$" : kNamePattern;
        return {{"type", "object"},
                {"patternProperties", {{names, any_of({shape_of(element, rule), null_shape()})}}},
                {"additionalProperties", false}};
      } else if constexpr (kListed<typename T::value_type>) {
        return {{"type", "array"}, {"items", object_of(element)}};
      } else {
        return {{"type", "array"},
                {"items", shape_of(element, FieldRule{rule.low, rule.high, false, rule.kind})}};
      }
    } else if constexpr (IsVariant<T>::value) {
      return options_of(field);
    } else if constexpr (std::same_as<T, Ports>) {
      int count = 0;
      BitRate rate;
      Json ranges{{"type", "object"},
                  {"patternProperties", {{"^[0-9]+(-[0-9]+)?$", shape_of(rate, {})}}},
                  {"additionalProperties", false}};
      return any_of({shape_of(count, {.low = 1, .high = 4096}), ranges});
    } else if constexpr (std::same_as<T, Template>) {
      return {{"type", Json::array({"object", "null"})}};
    } else if constexpr (std::same_as<T, SocketBuffer>) {
      SchemaWriter fields;
      fields("send", field.send, "SO_SNDBUF", rule);
      fields("receive", field.receive, "SO_RCVBUF", rule);
      return any_of({shape_of(field.send, rule), fields.finish()});
    } else if constexpr (std::same_as<T, EgressSpec>) {
      return shape_of(field.queue, rule);
    } else if constexpr (std::same_as<T, QueueSpec>) {
      return any_of({shape_of(field.limit, rule), object_of(field)});
    } else if constexpr (std::same_as<T, SizePoint>) {
      return {
          {"type", "array"},
          {"items", Json::array({shape_of(field.size, {}), shape_of(field.share, {.high = 1})})},
          {"minItems", 2},
          {"maxItems", 2}};
    } else if constexpr (std::same_as<T, FrameSize>) {
      return any_of({shape_of(field.size, rule), {{"enum", {"imix"}}}});
    } else if constexpr (kNamedWhole<T>) {
      return any_of({{{"type", "string"}}, object_of(field)});
    } else {
      return object_of(field);
    }
  }

  Json schema_;
  std::vector<std::string> required_;
};

}  // namespace

std::string experiment_schema() {
  ExperimentSpec spec;
  SchemaWriter fields;
  describe(fields, spec);
  // `defaults` fills in what the entries below it leave out; its values are checked there.
  fields.add("defaults",
             {{"type", "object"},
              {"description",
               "values for every NIC, and under hosts, switches, hubs, links and tests for "
               "each of those"}});
  Json root{{"$schema", "http://json-schema.org/draft-07/schema#"},
            {"title", "linerate experiment"},
            {"definitions", definitions()}};
  root.update(fields.finish());
  return root.dump(2) + "\n";
}

}  // namespace linerate::experiments
