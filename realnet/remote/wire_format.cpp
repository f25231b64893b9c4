#include "realnet/remote/wire_format.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>

namespace linerate::realnet {
namespace {

constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int digit_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

/// write(), which for a pipe that nobody reads any more fails with EPIPE and raises no SIGPIPE, so
/// that an agent's death does not depend on what the program does with that signal.
ssize_t write_quietly(const FileDescriptor& pipe, std::string_view text) {
  sigset_t signal, before, pending;
  ::sigemptyset(&signal);
  ::sigaddset(&signal, SIGPIPE);
  ::sigpending(&pending);
  ::pthread_sigmask(SIG_BLOCK, &signal, &before);
  const ssize_t size = ::write(pipe.number(), text.data(), text.size());
  const int error = errno;
  if (size < 0 && error == EPIPE && ::sigismember(&pending, SIGPIPE) == 0) {
    const timespec at_once{};
    ::sigtimedwait(&signal, nullptr, &at_once);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return size;
}

}  // namespace

std::string to_base64(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j)
      group =
          group << 8 | (i + j < bytes.size() ? std::to_integer<std::uint32_t>(bytes[i + j]) : 0);
    for (std::size_t j = 0; j < 4; ++j)
      text += i + j <= bytes.size() ? kAlphabet[group >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

std::optional<std::string> from_base64(const std::string& text, std::size_t size) {
  if (text.size() != (size + 2) / 3 * 4) return std::nullopt;
  std::string bytes;
  bytes.reserve(size + 2);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      const bool padding = text[i + j] == '=' && i + 4 == text.size() && j >= 2;
      const int digit = padding ? 0 : digit_of(text[i + j]);
      if (digit < 0) return std::nullopt;
      group = group << 6 | static_cast<std::uint32_t>(digit);
    }
    for (int shift = 16; shift >= 0; shift -= 8) bytes += static_cast<char>(group >> shift & 255);
  }
  bytes.resize(size);
  return bytes;
}

std::string shown(std::string text) {
  constexpr std::size_t kMost = 1'000;
  if (text.size() > kMost) text = text.substr(0, kMost) + " …";
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return text;
}

std::optional<Json> message_in(const std::string& line) {
  constexpr int kDeepest = 8;
  const auto shallow = [](int depth, Json::parse_event_t, const Json&) { return depth < kDeepest; };
  Json message = Json::parse(line, shallow, false);
  if (!message.is_object()) return std::nullopt;
  return message;
}

LineReader::State LineReader::read() {
  std::array<char, 65536> buffer;
  // A bounded share of a peer's flood, so that others get their turn.
  for (int i = 0; i < 16; ++i) {
    pollfd readable{descriptor_, POLLIN, 0};
    if (::poll(&readable, 1, 0) <= 0) return State::open;
    const ssize_t size = ::read(descriptor_, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return State::open;
    if (size <= 0) return State::ended;
    const auto taken = static_cast<std::size_t>(size);
    count_lines(static_cast<std::size_t>(std::count(buffer.begin(), buffer.begin() + size, '\n')));
    text_.append(buffer.data(), taken);
    if (text_.size() - begin_ > kLongestLine && text_.find('\n', begin_) == std::string::npos)
      throw std::runtime_error(fmt::format("a line of more than {} bytes", kLongestLine));
    if (text_.size() - begin_ > 4 * kLongestLine)
      throw std::runtime_error("more text than anybody has to say");
  }
  return State::open;
}

void LineReader::count_lines(std::size_t lines) {
  const Time now = monotonic_now();
  if (now - second_ > Time::seconds(1)) {
    second_ = now;
    lines_ = 0;
  }
  lines_ += lines;
  if (lines_ > kMostLinesASecond)
    throw std::runtime_error(fmt::format("more than {} messages in a second", kMostLinesASecond));
}

std::optional<std::string> LineReader::next() {
  const std::size_t end = text_.find('\n', begin_);
  if (end == std::string::npos) {
    text_.erase(0, begin_);
    begin_ = 0;
    return std::nullopt;
  }
  std::string line = text_.substr(begin_, end - begin_);
  begin_ = end + 1;
  return line;
}

void write_message(const FileDescriptor& pipe, const Json& message, Time patience) {
  const std::string text = message.dump() + "\n";
  const int flags = ::fcntl(pipe.number(), F_GETFL);
  ::fcntl(pipe.number(), F_SETFL, flags | O_NONBLOCK);
  const Time give_up = monotonic_now() + patience;
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t size = write_quietly(pipe, std::string_view(text).substr(done));
    if (size > 0) {
      done += static_cast<std::size_t>(size);
      continue;
    }
    if (size < 0 && errno != EAGAIN && errno != EINTR) throw std::runtime_error("it has gone");
    if (monotonic_now() > give_up) throw std::runtime_error("it takes no message");
    pollfd writable{pipe.number(), POLLOUT, 0};
    ::poll(&writable, 1, 100);
  }
}

}  // namespace linerate::realnet
