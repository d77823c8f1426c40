// merge A.db B.db ... -o all.db: one recording of several, for reports over all of them.
#include <fmt/format.h>

#include "base/log.hpp"
#include "cli/query/command.hpp"
#include "cli/query/several.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"

namespace fade::query {

Result<void> merge_recordings(Context& context) {
  auto files = expanded(context.words);
  if (!files) return tl::unexpected(files.error());
  if (files->size() < 2)
    return usage("merge takes two recordings or more", {}, "fade-query merge 'run-*.db' -o all.db");
  if (context.new_file.empty())
    return usage("merge needs the name of a new file", {}, "fade-query merge 'run-*.db' -o all.db");
  auto merged = merge_files(*files, context.new_file);
  if (!merged) return tl::unexpected(merged.error());
  log::info("wrote {}: {} with {} and {}", table::printable(context.settings.output),
            table::human_counted(merged->files, "recording"), table::human_counted(merged->sessions, "session"),
            table::human_counted(merged->calls, "call"));
  return {};
}

}  // namespace fade::query
