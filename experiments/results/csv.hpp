// Comma-separated text (RFC 4180) as rows of cells that know where they stand.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace linerate::experiments {

/// What is wrong with a table and where: "table.csv:3: column 9 (receiver_mbit_s): …".
class CsvError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct CsvRow {
  int line = 0;                    ///< of its first cell, from 1
  std::vector<std::string> cells;  ///< as many as the header has
  bool operator==(const CsvRow&) const = default;
};

struct CsvTable {
  std::vector<std::string> header;
  std::vector<CsvRow> rows;
  bool operator==(const CsvTable&) const = default;
};

/// Reads a table whose first record is its header. A byte order mark is skipped; LF and CRLF end a
/// record; a quoted cell may hold commas, line breaks and doubled quotes; spaces around an unquoted
/// cell are dropped; empty lines are skipped. Throws CsvError: no header, an empty or repeated
/// column name, a row of another width, a quote that is not closed or stands inside a cell.
CsvTable read_csv(const std::string& text, const std::string& source);

}  // namespace linerate::experiments
