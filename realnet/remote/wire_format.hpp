// What controller and agent say to each other: a JSON value a line.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "realnet/system.hpp"
#include "sim/units.hpp"

namespace linerate::realnet {

using Json = nlohmann::json;

/// Raised when a message changes its meaning; both ends must agree.
inline constexpr int kProtocol = 1;

/// Bytes as text (RFC 4648, base64).
std::string to_base64(std::span<const std::byte> bytes);
/// The bytes; nothing if `text` is not base64 of exactly `size` bytes.
std::optional<std::string> from_base64(const std::string& text, std::size_t size);

/// What a peer has said, as it may be shown: of bounded length, and without the control characters
/// that would let it write to a terminal as it likes.
std::string shown(std::string text);

/// A message that a peer has sent; nothing if it is no JSON object, or nested deeper than any
/// message is (values nested without end would use up the stack when they are copied).
std::optional<Json> message_in(const std::string& line);

/// Lines as they come from a pipe. Longer ones than any message are an error, and so is a peer that
/// talks without end.
class LineReader {
 public:
  explicit LineReader(int descriptor) : descriptor_(descriptor) {}

  enum class State { open, ended };
  /// Takes what there is without waiting. Throws std::runtime_error for a line that is too long, or
  /// more messages in a second than any agent has to say.
  State read();
  /// The oldest whole line, or nothing.
  std::optional<std::string> next();

  static constexpr std::size_t kLongestLine = 4 << 20;
  static constexpr int kMostLinesASecond = 20'000;

 private:
  void count_lines(std::size_t lines);

  int descriptor_;
  std::string text_;
  std::size_t begin_ = 0;
  Time second_;
  std::size_t lines_ = 0;
};

/// Writes a message and its line end to a pipe. Throws std::runtime_error when the reader has gone
/// or takes nothing for `patience`.
void write_message(const FileDescriptor& pipe, const Json& message, Time patience);

}  // namespace linerate::realnet
