#include "cli/capture_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/program_options.hpp>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <variant>

#include "cli/failure.hpp"
#include "experiments/definition/nearest.hpp"
#include "experiments/definition/quantity.hpp"

namespace linerate::cli {
namespace {

namespace po = boost::program_options;
namespace fs = std::filesystem;
using experiments::Experiment;

// More files than this are a mistake, and more than most systems let a program open.
constexpr std::size_t kMostPorts = 256;

std::string temporary(const std::string& path) { return path + ".part"; }

Bytes size_option(const Invocation& invocation, const char* option, const char* otherwise) {
  const std::string text = invocation.text(option, otherwise);
  auto parsed = experiments::parse_value({.kind = experiments::Kind::size}, text);
  if (const auto* trouble = std::get_if<experiments::Trouble>(&parsed))
    throw usage_error(fmt::format("--{}: {}", option, trouble->message), trouble->remedy);
  return Bytes(std::get<experiments::Value>(parsed).integer);
}

std::vector<std::string> port_names(const Experiment& experiment) {
  std::vector<std::string> names;
  for (const auto& host : experiment.hosts)
    for (const auto& nic : host.nics) names.push_back(host.name + ":" + nic.name);
  for (const auto& node : experiment.switches)
    for (std::size_t i = 1; i <= node.port_rates.size(); ++i)
      names.push_back(fmt::format("{}:{}", node.name, i));
  return names;
}

}  // namespace

CaptureFolder::CaptureFolder(const Invocation& invocation, const Experiment& experiment)
    : folder_(invocation.text("pcap")) {
  if (folder_.empty()) {
    for (const char* option : {"pcap-ports", "pcap-payload", "pcap-limit"})
      if (invocation.has(option))
        throw usage_error(fmt::format("--{} without --pcap", option), "add --pcap DIR");
    return;
  }
  std::istringstream list(invocation.text("pcap-ports"));
  for (std::string port; std::getline(list, port, ',');) {
    if (!models::find_port(experiment, port))
      throw usage_error(fmt::format("--pcap-ports: there is no port `{}`", port),
                        experiments::suggest(port, port_names(experiment)));
    options_.ports.push_back(port);
  }
  std::size_t ports = options_.ports.size();
  if (ports == 0)
    for (const auto& test : experiment.tests) ports += 2 * test.pairs.size();
  if (ports > kMostPorts)
    throw usage_error(fmt::format("a capture of {} ports", ports),
                      fmt::format("name at most {} with --pcap-ports", kMostPorts));
  options_.payload_bytes =
      static_cast<std::uint32_t>(size_option(invocation, "pcap-payload", "0B").count());
  options_.limit = size_option(invocation, "pcap-limit", "1GiB");
  options_.open = [this](const std::string& name) -> std::ostream& { return open(name); };
  const Console& console = invocation.console;
  options_.note = [&console](const std::string& text) {
    console.warn({{{}, "--pcap", text, "raise --pcap-limit, or shorten the test"}});
  };
  std::error_code failed;
  fs::create_directories(folder_, failed);
  if (failed) throw file_error(ExitCode::bad_input, folder_, failed.message());
  if (::access(folder_.c_str(), W_OK | X_OK) != 0)
    throw file_error(ExitCode::bad_input, folder_, std::generic_category().message(errno),
                     "give --pcap a folder that can be written");
}

CaptureFolder::~CaptureFolder() {
  for (const auto& [path, file] : files_) std::remove(temporary(path).c_str());
}

std::ostream& CaptureFolder::open(const std::string& name) {
  const std::string path = (fs::path(folder_) / name).string();
  std::ofstream& file = files_[path];
  file.open(temporary(path), std::ios::binary | std::ios::trunc);
  if (!file)
    throw file_error(ExitCode::refused, path, std::generic_category().message(errno),
                     "give --pcap a folder that can be written");
  return file;
}

void CaptureFolder::keep() {
  for (auto& [path, file] : files_) {
    file.close();
    if (!file)
      throw file_error(ExitCode::refused, path, "the capture could not be written completely",
                       "free space, or lower --pcap-limit");
    std::error_code failed;
    fs::rename(temporary(path), path, failed);
    if (failed) throw file_error(ExitCode::refused, path, failed.message());
  }
  files_.clear();
}

void capture_options(po::options_description_easy_init add) {
  add("pcap", po::value<std::string>()->value_name("DIR"),
      "write what ports saw in the simulation to DIR, a pcapng file a test and port")(
      "pcap-ports", po::value<std::string>()->value_name("LIST"),
      "which ports: a:eth0,s1:2 (default: the NICs between which tests run)")(
      "pcap-payload", po::value<std::string>()->value_name("SIZE"),
      "payload kept of each frame beside its headers (default 0B)")(
      "pcap-limit", po::value<std::string>()->value_name("SIZE"),
      "largest size of one file (default 1GiB)");
}

}  // namespace linerate::cli
