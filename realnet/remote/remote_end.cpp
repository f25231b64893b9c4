#include "realnet/remote/remote_end.hpp"

#include <algorithm>
#include <cstring>

#include "realnet/remote/order_text.hpp"

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
    take(*news);
    if (news->contains("failed")) return -1;
    if (news->contains("said")) return news->at("said").get<std::string>().at(0);
  }
}

void RemoteEnd::take(const Json& news) {
  if (news.contains("received")) report_.received = news.at("received").get<std::int64_t>();
  if (news.contains("port")) report_.port = news.at("port");
  if (news.contains("hardware_address")) report_.hardware_address = news.at("hardware_address");
  if (news.contains("sent")) report_.sent = news.at("sent").get<std::int64_t>();
  if (news.contains("failed")) {
    const std::string text = news.at("failed");
    auto& failure = role_ == Role::sender ? report_.sender_failure : report_.receiver_failure;
    const std::size_t size = std::min(text.size(), failure.size() - 1);
    std::copy_n(text.begin(), size, failure.begin());
    failure[size] = '\0';
  }
  if (!news.contains("report")) return;
  const std::string text = news.at("report");
  const std::size_t size = role_ == Role::sender ? sizeof report_.sender : sizeof report_.receiver;
  const auto bytes = from_base64(text, size);
  if (!bytes) agent_.fail("its report is damaged");
  if (role_ == Role::sender) {
    put_section(*bytes, report_.sender);
  } else {
    put_section(*bytes, report_.receiver);
  }
}

}  // namespace linerate::realnet
