#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"
#include "reports/record.h"

namespace assay::fuzz {

// The folder of a campaign:
//
//   records.jsonl   what was done, a line each (reports/record.h)
//   findings/N/     a folder each, complete from the moment it is there
//   corpus/N.tp     cases that did something new, from which others are made
//   ahead           what is tried and not in the records yet (ahead.h)
//   lock            held while a campaign writes
//
// Whatever kills the writer, what is there is whole: a record is one write to the end of the file,
// and files and folders come by being renamed.
class Journal {
 public:
  Journal() = default;
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  // Makes the folder; with `resume` the records that are there are read, and a last line that was
  // cut off is taken away. An error names what is in the way: another campaign, records where none
  // were to be resumed, a record that is none.
  Result<std::vector<reports::Record>> open(const std::string& folder, bool resume);

  Result<bool> add(const reports::Record& record);

  struct File {
    std::string name;
    std::string text;
    bool is_executable = false;
  };
  // A folder below the folder with these files, all of them or none.
  Result<bool> write_folder(const std::string& path, const std::vector<File>& files);
  // A file below the folder, whole from the moment it is there.
  Result<bool> write(const std::string& path, std::string_view text);
  Result<std::string> read(const std::string& path) const;
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
  int lock_ = -1;
  int records_ = -1;
};

}  // namespace assay::fuzz
