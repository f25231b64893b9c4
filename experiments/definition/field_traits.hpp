// How the C++ type of a field decides its shape in the file: scalar, list, mapping of names.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "experiments/definition/fields.hpp"

namespace linerate::experiments {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

template <class T>
struct IsVariant : std::false_type {};
template <class... Options>
struct IsVariant<std::variant<Options...>> : std::true_type {};

/// The names of a variant's alternatives: `vxlan`, or `{vxlan: {vni: 7}}`.
template <class... Options>
std::vector<std::string> option_names(const std::variant<Options...>&) {
  return {Options::kName...};
}

template <class T>
struct IsEnds : std::false_type {};
template <class T>
struct IsEnds<Ends<T>> : std::true_type {};

template <class T>
constexpr bool kIsScalar =
    std::is_enum_v<T> || std::is_arithmetic_v<T> || std::same_as<T, std::string> ||
    std::same_as<T, Time> || std::same_as<T, Bytes> || std::same_as<T, BitRate>;

/// The kind a type has when the table does not say.
template <class T>
constexpr Kind default_kind() {
  if constexpr (std::is_enum_v<T>) return Kind::choice;
  if constexpr (std::same_as<T, bool>) return Kind::toggle;
  if constexpr (std::integral<T>) return Kind::count;
  if constexpr (std::floating_point<T>) return Kind::number;
  if constexpr (std::same_as<T, Time>) return Kind::time;
  if constexpr (std::same_as<T, Bytes>) return Kind::size;
  if constexpr (std::same_as<T, BitRate>) return Kind::rate;
  return Kind::text;
}

template <class T>
ScalarRule scalar_rule(const FieldRule& rule) {
  ScalarRule result{rule.kind.value_or(default_kind<T>()), rule.low, rule.high, {}};
  if constexpr (std::is_enum_v<T>) result.words = words_of(T{});
  // An int field must not be cut silently.
  if constexpr (std::same_as<T, int>) {
    result.high = std::min(result.high, double{std::numeric_limits<int>::max()});
  }
  return result;
}

template <class T>
void assign(T& field, Value&& value) {
  if constexpr (std::same_as<T, std::string>) {
    field = std::move(value.text);
  } else if constexpr (std::same_as<T, Time>) {
    field = Time::picoseconds(value.integer);
  } else if constexpr (std::same_as<T, Bytes>) {
    field = Bytes(value.integer);
  } else if constexpr (std::same_as<T, BitRate>) {
    field = BitRate::bits_per_second(value.integer);
  } else if constexpr (std::floating_point<T>) {
    field = value.real;
  } else {
    field = static_cast<T>(value.integer);
  }
}

template <class T>
Value to_value(const T& field) {
  if constexpr (std::same_as<T, std::string>) {
    return {0, 0, field};
  } else if constexpr (std::same_as<T, Time>) {
    return {field.picoseconds(), 0, {}};
  } else if constexpr (std::same_as<T, Bytes>) {
    return {field.count(), 0, {}};
  } else if constexpr (std::same_as<T, BitRate>) {
    return {field.bits_per_second(), 0, {}};
  } else if constexpr (std::floating_point<T>) {
    return {0, field, {}};
  } else {
    return {static_cast<std::int64_t>(field), 0, {}};
  }
}

/// A vector of these is a mapping from name to entry …
template <class T>
constexpr bool kKeyed =
    std::same_as<T, Host> || std::same_as<T, Nic> || std::same_as<T, SwitchSpec> ||
    std::same_as<T, HubSpec> || std::same_as<T, Bond> || std::same_as<T, VlanSpec> ||
    std::same_as<T, LabHost> || std::same_as<T, LabInterface> || std::same_as<T, LabSwitch>;
/// … (of VLANs from number to entry) …
template <class T>
constexpr bool kNumbered = std::same_as<T, VlanSpec>;
/// … and of these a list whose entries carry their name.
template <class T>
constexpr bool kListed = std::same_as<T, LinkSpec> || std::same_as<T, TestSpec>;

inline std::string& entry_name(Host& entry) { return entry.name; }
inline std::string& entry_name(Nic& entry) { return entry.name; }
inline std::string& entry_name(Bond& entry) { return entry.name; }
inline std::string& entry_name(VlanSpec& entry) { return entry.name; }
inline std::string& entry_name(LabHost& entry) { return entry.name; }
inline std::string& entry_name(LabInterface& entry) { return entry.name; }
inline std::string& entry_name(LabSwitch& entry) { return entry.name; }
inline std::string& entry_name(SwitchSpec& entry) { return entry.value.name; }
inline std::string& entry_name(HubSpec& entry) { return entry.value.name; }
inline std::string& entry_name(LinkSpec& entry) { return entry.name; }
inline std::string& entry_name(TestSpec& entry) { return entry.value.name; }

/// Where the catalog keeps starting values of a struct, and the key that names one.
struct PresetPlace {
  const char* folder = nullptr;
  const char* key = nullptr;
};

template <class T>
constexpr PresetPlace preset_place() {
  if constexpr (std::same_as<T, Host>) return {"hosts", "profile"};
  if constexpr (std::same_as<T, Nic>) return {"nics", "profile"};
  if constexpr (std::same_as<T, SwitchSpec>) return {"switches", "profile"};
  if constexpr (std::same_as<T, Stack>) return {"stacks", "preset"};
  if constexpr (std::same_as<T, Sizes>) return {"sizes", "preset"};
  return {};
}

/// A preset's name alone may stand for these.
template <class T>
constexpr bool kNamedWhole = std::same_as<T, Stack> || std::same_as<T, Sizes>;

/// The stack a host has unless it says otherwise.
constexpr const char* kDefaultStack = "linux-6";

}  // namespace linerate::experiments
