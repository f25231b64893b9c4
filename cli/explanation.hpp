// Words for what limits a test, from the limits a back end reported.
#pragma once

#include <string>

#include "experiments/results/result.hpp"

namespace linerate::cli {

/// Every limit of a test, ranked, with utilisation, formula and the place of its parameter, and for
/// the binding one what to change.
std::string explain(const experiments::TestResult& test);

/// What `quick` shows of a test: goodput, where the bytes of a full frame go, and what binds.
std::string summary_of(const experiments::TestResult& test);

/// Where every byte of a full frame goes; "" when the result does not say.
std::string byte_ledger(const experiments::TestResult& test);

/// What to change so that the resource limits less, in a few words; "" for an unknown one.
std::string advice_for(const experiments::Limit& limit);

}  // namespace linerate::cli
