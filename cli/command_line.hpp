// cli/: one file per verb over the libraries; the only place that sees both back ends. Holds no
// model, no statistics and no parsing of experiments: it moves values between libraries, files and
// the terminal, and turns outcomes into exit codes.
#pragma once

#include <string>
#include <vector>

namespace linerate::cli {

/// Runs one command line (without the program's name) and returns the exit code of exit_code.hpp.
/// Reports every error itself; lets none escape.
int run(const std::vector<std::string>& arguments);

}  // namespace linerate::cli
