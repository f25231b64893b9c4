#include "realnet/remote/remote_end.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "realnet/remote/order_text.hpp"
#include "realnet/remote/plausible.hpp"

namespace linerate::realnet {
namespace {

/// The part of a report that one end fills, as bytes: both programs are of one version and one
/// layout, which the greeting checks.
template <class Section>
void put_section(const std::string& bytes, Section& section) {
  static_assert(std::is_trivially_copyable_v<Section>);
  std::memcpy(&section, bytes.data(), sizeof section);
}

}  // namespace

RemoteEnd::RemoteEnd(AgentLink& agent, const EndOrder& order)
    : agent_(agent), report_(order.report), role_(order.role), number_(agent.new_number()) {
  agent_.tell({{"do", "start"}, {"end", number_}, {"order", to_message(order)}});
}

RemoteEnd::~RemoteEnd() { agent_.forget(number_); }

void RemoteEnd::go() {
  agent_.tell({{"do", "go"}, {"end", number_}, {"start_ps", report_.start.load()}});
}

void RemoteEnd::stop() { agent_.tell({{"do", "stop"}, {"end", number_}}); }

int RemoteEnd::message() {
  agent_.hear();
  // What the sender has sent in all is the receiver's end of waiting, wherever the two are.
  if (role_ == Role::receiver && report_.sent != sent_) {
    sent_ = report_.sent;
    agent_.tell({{"do", "sent"}, {"end", number_}, {"count", sent_}});
  }
  for (;;) {
    const auto news = agent_.news_of(number_);
    if (!news) return 0;
    const int word = agent_.understand(*news, [&](const Json& said) { return take(said); });
    if (word != 0) return word;
  }
}

int RemoteEnd::take(const Json& news) {
  const auto count = [&](const char* key, std::atomic<std::int64_t>& value) {
    if (!news.contains(key)) return;
    const auto told = news.at(key).get<std::int64_t>();
    if (told < 0) agent_.fail("it counts less than nothing");
    value = told;
  };
  count("received", report_.received);
  count("sent", report_.sent);
  if (news.contains("port")) report_.port = news.at("port");
  if (news.contains("hardware_address")) report_.hardware_address = news.at("hardware_address");
  if (news.contains("report")) take_report(news.at("report"));
  if (news.contains("failed")) {
    take_failure(news.at("failed"));
    return -1;
  }
  if (!news.contains("said")) return 0;
  const std::string word = news.at("said");
  if (word.size() != 1 || word[0] <= said_ || word[0] < kListening || word[0] > kDone)
    agent_.fail("it speaks out of turn");
  said_ = word[0];
  if (said_ == kDone && !news.contains("report")) agent_.fail("its report is missing");
  return said_;
}

void RemoteEnd::take_failure(const std::string& text) {
  auto& failure = role_ == Role::sender ? report_.sender_failure : report_.receiver_failure;
  const std::string reason = shown(text);
  const std::size_t size = std::min(reason.size(), failure.size() - 1);
  std::copy_n(reason.begin(), size, failure.begin());
  failure[size] = '\0';
}

void RemoteEnd::take_report(const std::string& text) {
  const std::size_t size = role_ == Role::sender ? sizeof report_.sender : sizeof report_.receiver;
  const auto bytes = from_base64(text, size);
  if (!bytes) agent_.fail("its report is damaged");
  // Into memory that nobody reads before it has been looked at.
  const auto read_into = [&](auto& section) {
    const auto copy = std::make_unique<std::remove_reference_t<decltype(section)>>();
    put_section(*bytes, *copy);
    if (!plausible(*copy)) agent_.fail("its report makes no sense");
    section = *copy;
  };
  if (role_ == Role::sender) {
    read_into(report_.sender);
  } else {
    read_into(report_.receiver);
  }
}

}  // namespace linerate::realnet
