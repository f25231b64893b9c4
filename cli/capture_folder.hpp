// The files that --pcap asks for: each is written under another name and gets its own when it is
// complete.
#pragma once

#include <boost/program_options/options_description.hpp>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "cli/verb.hpp"
#include "experiments/definition/experiment.hpp"
#include "models/capture/capture_options.hpp"

namespace linerate::cli {

class CaptureFolder {
 public:
  /// Reads --pcap and what goes with it. Throws Failure (2) for what makes no sense here and for
  /// a folder that cannot be made or written.
  CaptureFolder(const Invocation& invocation, const experiments::Experiment& experiment);
  ~CaptureFolder();
  CaptureFolder(const CaptureFolder&) = delete;
  CaptureFolder& operator=(const CaptureFolder&) = delete;

  /// What to give to the simulation; nullptr if nothing is captured.
  const models::CaptureOptions* options() const { return folder_.empty() ? nullptr : &options_; }
  /// Gives the files their names. Throws Failure (3) if not all could be written.
  void keep();

 private:
  std::ostream& open(const std::string& name);

  std::string folder_;
  models::CaptureOptions options_;
  std::map<std::string, std::ofstream> files_;  ///< by final path
};

/// --pcap, --pcap-ports, --pcap-payload, --pcap-limit.
void capture_options(boost::program_options::options_description_easy_init add);

}  // namespace linerate::cli
