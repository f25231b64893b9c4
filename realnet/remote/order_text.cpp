#include "realnet/remote/order_text.hpp"

#include <iterator>
#include <stdexcept>

namespace linerate::realnet {

Json to_message(const EndOrder& order) {
  const TransferEnd& end = order.end;
  const auto test = end.options.test - order.experiment.tests.data();
  LINERATE_CHECK(test >= 0 && test < std::ssize(order.experiment.tests),
                 "agents know the experiment's own tests");
  return {{"role", order.role == Role::sender ? "sender" : "receiver"},
          {"host", order.host},
          {"test", test},
          {"address", end.place.address},
          {"interface", end.place.interface},
          {"peer", end.peer_address},
          {"port", order.report.port},
          {"hardware_address", order.report.hardware_address},
          {"line_bit_s", end.line.bits_per_second()},
          {"mtu", end.mtu.count()},
          {"seed", end.seed},
          {"entity", end.entity},
          {"may_spin", end.may_spin},
          {"limit_ps", order.limit.picoseconds()}};
}

RemoteOrder order_from(const Json& message, const experiments::Experiment& experiment) {
  RemoteOrder order;
  const std::string role = message.at("role");
  if (role != "sender" && role != "receiver") throw std::runtime_error("no such role");
  order.role = role == "sender" ? Role::sender : Role::receiver;
  order.host = message.at("host");
  const int test = message.at("test");
  if (test < 0 || test >= static_cast<int>(experiment.tests.size()) || order.host < 0 ||
      order.host >= static_cast<int>(experiment.hosts.size()))
    throw std::runtime_error("no such test or host");
  order.port = message.at("port");
  order.hardware_address = message.at("hardware_address");
  order.end.place.interface = message.at("interface");
  order.end.line = BitRate::bits_per_second(message.at("line_bit_s"));
  order.end.mtu = Bytes(message.at("mtu").get<std::int64_t>());
  order.end.seed = message.at("seed");
  order.end.entity = message.at("entity");
  order.end.may_spin = message.at("may_spin");
  order.limit = Time::picoseconds(message.at("limit_ps"));
  order.end.place.address = message.at("address");
  order.end.peer_address = message.at("peer");
  order.end.options = {&experiment.tests[static_cast<std::size_t>(test)],
                       &experiment.hosts[static_cast<std::size_t>(order.host)].stack, false};
  return order;
}

Json to_message(const HostSetup& setup) {
  Json message{{"do", "set-up"}, {"apply", setup.apply}, {"parameters", setup.parameters}};
  message["interfaces"] = Json::array();
  for (const auto& interface : setup.interfaces) {
    message["interfaces"].push_back({{"device", interface.device},
                                     {"addresses", interface.addresses},
                                     {"mtu", interface.mtu.count()}});
  }
  return message;
}

HostSetup setup_from(const Json& message) {
  HostSetup setup;
  setup.apply = message.at("apply");
  setup.parameters = message.at("parameters");
  for (const auto& [name, value] : setup.parameters) {
    if (!name.starts_with("net/") || name.find("..") != std::string::npos)
      throw std::runtime_error("`" + name + "` is no parameter of the network");
  }
  for (const Json& entry : message.at("interfaces")) {
    setup.interfaces.push_back(
        {entry.at("device"), entry.at("addresses"), Bytes(entry.at("mtu").get<std::int64_t>())});
  }
  return setup;
}

}  // namespace linerate::realnet
