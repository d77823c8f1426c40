#include "cli/query/program.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.hpp"
#include "base/log.hpp"
#include "base/output_file.hpp"
#include "base/own_memory.hpp"
#include "base/quantity.hpp"
#include "base/suggest.hpp"
#include "cli/options/program.hpp"
#include "cli/options/values.hpp"
#include "cli/query/doubts.hpp"
#include "cli/query/named_row.hpp"
#include "cli/query/page.hpp"
#include "cli/query/pager.hpp"
#include "cli/query/part_file.hpp"
#include "cli/query/questions.hpp"
#include "cli/query/several.hpp"
#include "cli/query/target.hpp"
#include "cli/query/timeline_formats.hpp"
#include "cli/query/user_lines.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"

namespace fade::query {
namespace {

cli::Program program() {
  return {
      .name = "fade-query",
      .section = "query",
      .environment = "FADE_QUERY_OPTIONS",
      .usage = "[RECORDING...] [REPORT] [OPTIONS]",
      .about = "Print reports from a recording. Default: $FADE_OUTPUT, else the newest recording in this directory.",
      .examples = {{"fade-query", "what ran and where its time went"},
                   {"fade-query calls --errors --format jsonl", "failed calls for another program"},
                   {"fade-query run.db top --name 'hipMem.*' --sort -max_ns", "slowest memory functions"},
                   {"fade-query sql 'SELECT name, calls FROM top LIMIT 5'", "SQL of your own"}},
      .words = cli::Words::Any,
      .words_title = "Reports",
      .known_words = words_by_question(),
      .components = fmt::format("sqlite {}", sqlite3_libversion()),
  };
}

// A page stays a page in a pipe or a file. Rows become TSV there.
table::Format format_for(const Settings& settings, const Target& target, bool tty) {
  const bool page = target.command && keeps_page(*target.command, settings);
  return wanted_format(settings).value_or(tty || page ? table::Format::Table : table::Format::Tsv);
}

// The recording, or its log: with --force it would be gone before it is read.
bool is_of_recording(const std::string& output, const std::string& recording) {
  struct stat wanted {
  }, kept{};
  if (recording.empty() || ::stat(output.c_str(), &wanted) != 0) return false;
  return std::ranges::any_of(std::array{"", "-wal", "-shm"}, [&](const char* suffix) {
    return ::stat((recording + suffix).c_str(), &kept) == 0 && kept.st_dev == wanted.st_dev &&
           kept.st_ino == wanted.st_ino;
  });
}

// A page holds all that is in the recording, which also belongs to its owner alone.
constexpr mode_t kOwnersOnly = 0600, kAsTheUserWants = 0666;

Result<Fd> open_output(const Settings& settings, const std::string& recording, mode_t mode) {
  if (is_of_recording(settings.output, recording))
    return fail("cannot write " + settings.output, "it is the recording that is read", "name another file");
  Result<Fd> fd = open_output_file(settings.output, settings.force ? OutputMode::Overwrite : OutputMode::New, mode);
  if (!fd && fd.error().code == EEXIST)
    return fail("cannot write " + settings.output, "it exists", "add --force to overwrite it", EEXIST);
  return fd;
}

void tell_what_was_left_out(const Context& context, const Outcome& outcome) {
  if (!outcome.more) return;
  if (outcome.left_out)
    return tell_below(context, table::human_count(*outcome.left_out) + " more rows; --limit 0 shows all");
  tell_below(context, "there are more rows; --limit 0 shows all");
}

// `fade-query schema VIEW`: a view that the recording has.
Result<void> check_view(Recording& recording, const std::string& view) {
  const auto rows = named_rows(recording, "SELECT DISTINCT view FROM doc_ ORDER BY view", {});
  if (!rows) return tl::unexpected(rows.error());
  std::vector<std::string> known;
  for (const NamedRow& row : *rows) known.push_back(row.raw("view"));
  if (std::ranges::find(known, view) != known.end()) return {};
  return usage("there is no view '" + table::printable(view) + "'" + did_you_mean(view, known), {},
               "fade-query schema lists them");
}

Result<void> answer_report(Context& context, Recording& recording, const Report& report) {
  const std::string word = context.words.empty() ? "" : context.words[0];
  if (report.name == "schema" && !word.empty())
    if (auto known = check_view(recording, word); !known) return known;
  if (context.settings.sql) {
    auto sql = sql_of_report(recording, report, context.settings, word);
    if (!sql) return tl::unexpected(sql.error());
    // Behind the statement: in front it would look like an option where the text is given to fade-query sql.
    const bool ours = sql->find("fade_") != std::string::npos;
    if (auto done = context.output.bytes->write(
            *sql + (ours ? ";\n-- fade_... are functions of fade-query: run this with fade-query sql\n" : ";\n"));
        !done)
      return done;
    return context.output.bytes->flush();
  }
  auto outcome = run_report(recording, report, context.settings, word, context.output);
  if (!outcome) return tl::unexpected(outcome.error());
  if (context.output.format == table::Format::Table && !context.settings.limit)
    tell_what_was_left_out(context, *outcome);
  if (!outcome->remark.empty()) tell_below(context, table::printable(outcome->remark));
  if (!outcome->why_nothing.empty()) tell_below(context, "nothing: " + outcome->why_nothing);
  if (outcome->rows == 0)
    if (const std::string why = verdict(recording); !why.empty()) tell_below(context, why);
  return {};
}

// A reader of "everything was freed" must know that what was allocated or freed may be unknown.
void tell_of_unseen_results(Recording& recording) {
  const auto found = recording.database.one("SELECT sum(n) FROM drops WHERE reason GLOB 'results of calls*'");
  const auto* n = found ? std::get_if<std::int64_t>(&*found) : nullptr;
  if (n && *n > 0)
    log::info("the results of {} {} not seen, and what follows from them is missing here: fade-query drops says why",
              table::human_count(*n), *n == 1 ? "call were" : "calls were");
}

// Below a page: what its figures lack, because it was not recorded. A page without figures has said so.
Result<void> tell_doubts(Context& context, Recording& recording, const Command& command) {
  const Report* report = is_page(command) ? find_report(command.name) : nullptr;
  if (!report || context.told_doubts || !context.settings.stack_format.empty()) return {};
  const auto session = chosen_session(context.settings, recording);
  if (!session) return tl::unexpected(session.error());
  const Report& shown = chosen_variant(*report, context.settings);
  const std::string text = remark(recording, *session, shown.topic, shown.needs_rows);
  return text.empty() ? Result<void>{} : context.output.bytes->write(paragraph(context, text, 0) + "\n");
}

bool shows_one_session(const Target& target, const Settings& settings) {
  return target.command && (target.command->one_session || !settings.timeline_format.empty());
}

Result<void> answer_once(Context& context, const Target& target, bool first) {
  if (target.command && target.command->alone) return target.command->alone(context);
  auto recording = target.paths.empty() ? open_recording(context.path) : open_several(target.paths);
  if (!recording) return tl::unexpected(recording.error());
  if (shows_one_session(target, context.settings)) recording->is_merged = false;
  if (!context.settings.skip_frames.empty())
    if (auto used = use_user_lines(recording->database, context.settings.skip_frames); !used) return used;
  const bool page =
      target.command && target.command->name == "summary" && context.output.format == table::Format::Table;
  if (first && !page && recording->state != State::Closed)
    log::info("{}: {}", table::printable(context.path), state_text(*recording));
  if (first && target.report && target.report->name != "drops") tell_of_unseen_results(*recording);
  if (target.report && (!target.command || wants_rows(*target.command, context)))
    return answer_report(context, *recording, *target.report);
  if (auto done = target.command->on_recording(context, *recording); !done) return done;
  return tell_doubts(context, *recording, *target.command);
}

Result<void> answer(Context& context, const Target& target) {
  if (!context.settings.watch) return answer_once(context, target, true);
  auto every = parse_time(*context.settings.watch);
  if (!every || *every < 100'000'000)
    return usage("--watch takes seconds, 0.1 or more, not '" + *context.settings.watch + "'");
  for (bool first = true;; first = false) {
    if (context.output.style.terminal.tty) (void)context.output.bytes->write("\x1b[H\x1b[2J");
    if (auto done = answer_once(context, target, first); !done) return done;
    if (auto done = context.output.bytes->flush(); !done) return done;
    std::this_thread::sleep_for(std::chrono::nanoseconds(*every));
  }
}

// Empty where the command reads none.
Result<std::string> choose_recording(const Target& target) {
  if (!target.paths.empty()) return name_of_several(target.paths);
  if (!target.path.empty() || (target.command && target.command->alone)) return target.path;
  auto path = default_recording(::getenv("FADE_OUTPUT"), ".");
  if (path) log::info("reading {}", table::printable(*path));
  return path;
}

// A file that we made for an answer that there is not would be in the way of the next attempt.
void drop_if_empty(const Fd& file, const Settings& settings) {
  struct stat about {
  }, named{};
  if (!file || settings.force || ::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode) || about.st_size != 0)
    return;
  if (::lstat(settings.output.c_str(), &named) == 0 && named.st_ino == about.st_ino && named.st_dev == about.st_dev)
    ::unlink(settings.output.c_str());
}

// Returns null where a pager is of no use: without a terminal, for rows that a program reads, for a page that is drawn
// again, for a check in CI, and for a command that stays.
std::unique_ptr<Pager> make_pager(const Context& context, const Target& target) {
  const table::Terminal& terminal = context.output.style.terminal;
  const bool for_people =
      terminal.tty && terminal.rows > 0 && context.output.format == table::Format::Table && !context.settings.watch;
  const bool stays = target.command && (target.command->name == "shell" || target.command->name == "serve");
  if (!for_people || context.settings.no_pager || !context.settings.output.empty() || stays ||
      (target.command && target.command->failure_status != 1))
    return nullptr;
  std::string command = pager_command([](const char* name) -> const char* { return std::getenv(name); });
  return command.empty() ? nullptr : std::make_unique<Pager>(std::move(command), STDOUT_FILENO, terminal.rows);
}

// The format of a viewer, by --format or by the ending of --output; only export has these.
Result<void> choose_timeline(Settings& settings, const Target& target) {
  const bool is_export = target.command && target.command->name == "export";
  if (!settings.timeline_format.empty() && !is_export)
    return usage("only export has the format " + settings.timeline_format, {},
                 "fade-query export --format " + settings.timeline_format);
  if (is_export && !settings.format && settings.timeline_format.empty())
    settings.timeline_format = timeline_format_of(settings.output);
  return {};
}

// The page of run.db, in this directory: run.html.
std::string page_beside(const std::string& recording) {
  std::string name = recording.substr(recording.rfind('/') + 1);
  if (name.ends_with(".db")) name.resize(name.size() - 3);
  return name + ".html";
}

Result<void> check_serve(const Settings& settings, const Target& target) {
  if ((!settings.port && !settings.open) || (target.command && target.command->name == "serve")) return {};
  return usage("only serve has --port and --open", {}, "fade-query serve");
}

Result<void> check_porting(const Settings& settings, const Target& target) {
  if (!settings.with_libraries || (target.command && target.command->name == "porting")) return {};
  return usage("only porting has --with-libraries", {}, "fade-query porting PROGRAM --with-libraries");
}

// The output must not be one of several files that are read.
Result<void> check_inputs(const Settings& settings, const Target& target) {
  const bool is_merge = target.command && target.command->alone == merge_recordings;
  auto files = is_merge ? expanded(target.words) : Result<std::vector<std::string>>(target.paths);
  if (!files) return tl::unexpected(files.error());
  for (const std::string& file : *files)
    if (is_of_recording(settings.output, file))
      return fail("cannot write " + settings.output, "it is one of the recordings that are read", "name another file");
  return {};
}

Result<void> check_numbers(const Settings& settings, const Target& target) {
  if (!settings.numbers || (target.command && target.command->name == "diff")) return {};
  return usage("only diff has --numbers", {}, "fade-query diff BEFORE.db AFTER.db --numbers, or fade-query numbers");
}

// All words are for the reports over a server.
Result<Target> fleet_target(const std::vector<std::string>& words) {
  static const Command kFleet{"--on", {}, nullptr, ask_fleet, kAnyNumber};
  Target out;
  out.command = &kFleet;
  out.words = words;
  return out;
}

// The status to end with. Where there is no answer, `failure_status` says what that means to whoever asked.
Result<int> run(Settings& settings, const cli::Invocation& invocation, int& failure_status) {
  settings.tell_waiting = ::isatty(STDERR_FILENO) == 1 && log::level() >= log::Level::Info;
  auto target = settings.on.empty() ? read_words(invocation.words) : fleet_target(invocation.words);
  if (!target) return tl::unexpected(target.error());
  if (settings.watch && !target->paths.empty())
    return usage("--watch takes one recording", {}, "fade-query merge FILES -o all.db      makes one of them");
  if (!settings.stack_format.empty() && !(target->command && target->command->name == "flame"))
    return usage("only flame has the format " + settings.stack_format, {},
                 "fade-query flame --format " + settings.stack_format);
  if (auto fine = check_serve(settings, *target); !fine) return tl::unexpected(fine.error());
  if (auto fine = check_porting(settings, *target); !fine) return tl::unexpected(fine.error());
  if (auto fine = check_numbers(settings, *target); !fine) return tl::unexpected(fine.error());
  if (auto fine = choose_timeline(settings, *target); !fine) return tl::unexpected(fine.error());
  if (target->command) failure_status = target->command->failure_status;
  const bool is_html = target->command && target->command->name == "page";
  const bool is_merge = target->command && target->command->alone == merge_recordings;
  if (auto fine = is_html || is_merge ? Result<void>() : check_ending(settings); !fine)
    return tl::unexpected(fine.error());
  auto path = choose_recording(*target);
  if (!path) return tl::unexpected(path.error());
  if (is_html && settings.output.empty()) settings.output = page_beside(*path);
  if (auto fine = check_inputs(settings, *target); !fine) return tl::unexpected(fine.error());
  Fd file;
  if (!settings.output.empty() && settings.output != "-") {
    auto opened = open_output(settings, *path, is_html || is_merge ? kOwnersOnly : kAsTheUserWants);
    if (!opened) return tl::unexpected(opened.error());
    file = std::move(*opened);
  }
  std::optional<PartFile> part;
  if (file && (is_merge || !settings.timeline_format.empty())) {
    auto made = PartFile::beside(file, settings.output);
    if (!made) {
      drop_if_empty(file, settings);
      return tl::unexpected(made.error());
    }
    part.emplace(std::move(*made));
  }
  const int fd = part ? part->fd() : file ? file.get() : STDOUT_FILENO;
  table::FdBytes direct(fd, file ? settings.output : "standard output");
  Context context{settings, target->words, *path, !target->path.empty() || !target->paths.empty(), {}};
  context.output.bytes = &direct;
  if (part) context.new_file = part->part_name();
  context.output.style.terminal = table::look_at_terminal(fd, cli::use_color(invocation.color, fd));
  settings.rows_elsewhere = !context.output.style.terminal.tty;
  context.output.style.units = settings.units;
  context.output.style.header = !settings.no_header;
  context.output.format = format_for(settings, *target, context.output.style.terminal.tty);
  if (file && !(target->command && keeps_page(*target->command, settings))) context.output.style.terminal.width = 0;
  const auto pager = make_pager(context, *target);
  if (pager) context.output.bytes = pager.get(), context.output.held_back = true;
  if (auto done = answer(context, *target); !done) {
    drop_if_empty(file, settings);
    return tl::unexpected(done.error());
  }
  auto done = pager ? pager->finish() : direct.flush();
  if (done && part) done = part->finish();
  if (!done && part) drop_if_empty(file, settings);
  if (!done) return tl::unexpected(done.error());
  return context.status;
}

}  // namespace

int main_program(int argc, char** argv) {
  own_memory::take(1, ": no answer, or only a part of it");
  ::signal(SIGPIPE, SIG_IGN);  // `fade-query calls | head` ends by the error of the write
  Settings settings;
  const cli::Started started = cli::start(program(), option_rows(settings), argc, argv);
  if (started.exit_status) return *started.exit_status;
  int failure_status = 1;
  const Result<int> done = run(settings, started.invocation, failure_status);
  if (done) return *done;
  if (done.error().code == EPIPE && failure_status == 1) return 0;  // the reader has enough; of a check it has nothing
  Error e = done.error();
  log::error("{}", e.text());
  return e.code == kUsageCode ? cli::kUsageStatus : failure_status;
}

}  // namespace fade::query
