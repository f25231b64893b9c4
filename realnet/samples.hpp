// Figures in the making.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/results/result.hpp"

namespace linerate::realnet {

/// Named samples, one a repeat, in the order of the repeats.
class Samples {
 public:
  void add(const std::string& name, const char* unit, experiments::Better better, double value) {
    Entry& entry = entries_[name];
    entry.unit = unit;
    entry.better = better;
    entry.values.push_back(value);
  }
  std::map<std::string, experiments::Figure> figures() const {
    std::map<std::string, experiments::Figure> figures;
    for (const auto& [name, entry] : entries_) {
      figures[name] = experiments::make_figure(entry.unit, entry.better, entry.values);
    }
    return figures;
  }

 private:
  struct Entry {
    std::string unit;
    experiments::Better better = experiments::Better::neither;
    std::vector<double> values;
  };
  std::map<std::string, Entry> entries_;
};

}  // namespace linerate::realnet
