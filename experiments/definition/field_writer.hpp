// The resolved experiment as canonical JSON, which is again a legal experiment file, and the origin
// of every value in it.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "experiments/definition/field_reader.hpp"

namespace linerate::experiments {

/// `text` as a JSON string with its quotes.
std::string json_string(const std::string& text);

/// Appends JSON objects to a text. Keys that hold nothing (an optional, an empty name or list) are
/// left out; every other field is written, also where it is the default.
class FieldWriter {
 public:
  FieldWriter(ReadContext& context, std::string& out, std::string path)
      : context_(context), out_(out), path_(std::move(path)) {
    out_ += '{';
  }

  template <class T>
  void operator()(const char* key, T& field, const char*, const FieldRule& rule = {}) {
    if (holds_nothing(field) || (test_ && !key_applies(*test_, key))) return;
    begin(key);
    write(field, child(key), rule);
  }

  template <class Inner>
  void group(const char* key, const char*, Inner&& inner) {
    if (test_ && !key_applies(*test_, key)) return;
    const std::size_t before = out_.size();
    const bool was_first = first_;
    begin(key);
    FieldWriter fields(context_, out_, child(key));
    inner(fields);
    fields.finish();
    if (!fields.first_) return;
    out_.resize(before);  // an empty group says nothing
    first_ = was_first;
  }

  void later(std::initializer_list<const char*>) {}
  void finish() { out_ += '}'; }

 private:
  template <class T>
  static bool holds_nothing(const T& field) {
    if constexpr (IsOptional<T>::value) {
      return !field.has_value();
    } else if constexpr (std::same_as<T, std::string> || IsVector<T>::value) {
      return field.empty();
    } else if constexpr (IsEnds<T>::value) {
      return !field.given();
    } else if constexpr (std::same_as<T, SocketBuffer>) {
      return !field.send && !field.receive;
    } else if constexpr (std::same_as<T, Ports>) {
      return field.count == 0;
    } else {
      return false;
    }
  }

  template <class T>
  void write(T& field, const std::string& path, const FieldRule& rule) {
    if constexpr (std::same_as<T, LabSwitch>) {
      write(field.kind, path, rule);
    } else if constexpr (IsOptional<T>::value) {
      write(*field, path, rule);
    } else if constexpr (kIsScalar<T>) {
      scalar(scalar_rule<T>(rule), to_value(field), path);
    } else if constexpr (std::same_as<T, Loss>) {
      if (field.directions.empty()) {
        write(field.both, path, rule);
      } else {
        write(field.directions, path, {});
      }
    } else if constexpr (std::same_as<T, SizePoint>) {
      out_ += '[';
      write(field.size, path + "[0]", rule);
      out_ += ',';
      write(field.share, path + "[1]", rule);
      out_ += ']';
    } else if constexpr (std::same_as<T, FrameSize>) {
      if (field.imix) {
        out_ += json_string("imix");
      } else {
        write(field.size, path, rule);
      }
    } else if constexpr (IsEnds<T>::value) {
      if (field.values.size() == 1) {
        write(field.values[0], path, rule);
      } else {
        write_vector(field.values, path, rule);
      }
    } else if constexpr (std::same_as<T, std::vector<Tolerance>>) {
      std::string separator = "{";
      for (Tolerance& tolerance : field) {
        out_ += separator + json_string(tolerance.pattern) + ":";
        write(tolerance.relative, path + "." + tolerance.pattern, rule);
        separator = ",";
      }
      out_ += '}';
    } else if constexpr (IsVector<T>::value) {
      write_vector(field, path, rule);
    } else if constexpr (IsVariant<T>::value) {
      std::visit(
          [&](auto& option) {
            out_ += "{" + json_string(option.kName) + ":";
            write(option, path + "." + option.kName, rule);
            out_ += '}';
          },
          field);
    } else if constexpr (std::same_as<T, Ports>) {
      write_ports(field, path);
    } else if constexpr (std::same_as<T, Template>) {
      out_ += "{}";  // never there: what it made is
    } else if constexpr (std::same_as<T, EgressSpec>) {
      write(field.queue, path, rule);
    } else if constexpr (std::same_as<T, QueueSpec>) {
      if (field.only_limit()) {
        write(*field.limit, path, rule);
      } else {
        FieldWriter fields(context_, out_, path);
        describe(fields, field);
        fields.finish();
      }
    } else if constexpr (std::same_as<T, SocketBuffer>) {
      FieldWriter fields(context_, out_, path);
      fields("send", field.send, "", rule);
      fields("receive", field.receive, "", rule);
      fields.finish();
    } else {
      FieldWriter fields(context_, out_, path);
      if constexpr (std::same_as<T, TestSpec>) fields.test_ = &field;
      describe(fields, field);
      fields.finish();
    }
  }

  template <class T>
  void write_vector(std::vector<T>& field, const std::string& path, const FieldRule& rule) {
    out_ += kKeyed<T> ? '{' : '[';
    for (std::size_t i = 0; i < field.size(); ++i) {
      if (i > 0) out_ += ',';
      if constexpr (kKeyed<T>) {
        out_ += json_string(entry_name(field[i])) + ":";
        write(field[i], path + "." + entry_name(field[i]), rule);
      } else if constexpr (kListed<T>) {
        write(field[i], path + "." + entry_name(field[i]), rule);
      } else {
        write(field[i], path + "[" + std::to_string(i) + "]", rule);
      }
    }
    out_ += kKeyed<T> ? '}' : ']';
  }

  void begin(const char* key);
  void scalar(const ScalarRule& rule, const Value& value, const std::string& path);
  void write_ports(Ports& ports, const std::string& path);
  std::string child(const char* key) const { return path_.empty() ? key : path_ + "." + key; }

  ReadContext& context_;
  std::string& out_;
  std::string path_;
  const TestSpec* test_ = nullptr;  ///< the test being written, whose keys depend on its type
  bool first_ = true;
};

}  // namespace linerate::experiments
