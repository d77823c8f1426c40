"""Completion scripts for bash, zsh and fish, made from the programs' own descriptions (PROGRAM --dump-cli).

usage: completions.py bash|zsh|fish OUTPUT FLEET-REPORTS DESCRIPTION.json...

FLEET-REPORTS is schema/clickhouse/reports: the reports of fade-query --on, a file each. Its first line says what it is.
"""
import json
import pathlib
import shlex
import sys


def spellings(option):
    return option["names"]


def value_options(program):
    return [o for o in program["options"] if o["takes_word"]]


def function(name):
    return "_" + name.replace("-", "_")


def short(program):
    return program["name"].removeprefix("fade").removeprefix("-")


def reads_recordings(program):
    return program["name"] in ("fade-query", "fade-top")


def fleet_words(program):
    """The reports over a server. No other words stand where --on URL is given."""
    return program.get("fleet", [])


def read_fleet(folder):
    titles = {path.stem: path.read_text(encoding="utf-8").splitlines()[0] for path in sorted(folder.glob("*.sql"))}
    return [{"name": name, "help": title.removeprefix("-- ")} for name, title in titles.items()]


# ---------------------------------------------------------------- bash
BASH_HEAD = """# bash completion for fade. Generated from the options of the programs.

# The index of the first word that is neither an option nor an option's value. $1: options that take a value.
_fade_first_word() {
  local i=1 word
  while ((i < COMP_CWORD)); do
    word=${COMP_WORDS[i]}
    if [[ $word == -- ]]; then ((i++)); break; fi
    [[ $word == -* ]] || break
    if [[ ${COMP_WORDS[i + 1]} == = ]]; then ((i += 3))
    elif [[ " $1 " == *" $word "* ]]; then ((i += 2))
    else ((i++)); fi
  done
  echo "$i"
}

# The option whose value is being typed, if any. $1: options that take a value.
_fade_open_option() {
  local before=${COMP_WORDS[COMP_CWORD - 1]}
  [[ ${COMP_WORDS[COMP_CWORD]} == = ]] && { printf '%s\\n' "$before"; return; }
  [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD - 2]}
  [[ " $1 " == *" $before "* ]] && printf '%s\\n' "$before"
}

_fade_files() { compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen "-$1" -- "$2"); }
_fade_pids() { mapfile -t COMPREPLY < <(cd /proc && compgen -G "$1*" -X '*[!0-9]*'); }
_fade_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2"); }

# The last of a list of words with commas between them.
_fade_list() {
  local done=""
  [[ $2 == *,* ]] && done=${2%,*},
  mapfile -t COMPREPLY < <(compgen -P "$done" -W "$1" -- "${2##*,}")
  compopt -o nospace 2>/dev/null
}

_fade_command() {
  if declare -F _command_offset >/dev/null; then _command_offset "$1"
  else _fade_files f "${COMP_WORDS[COMP_CWORD]}"; fi
}
"""


def bash_value_case(option):
    names = "|".join(spellings(option))
    words = shlex.quote(" ".join(option["words"]))
    if option["list"] and option["words"]:
        action = f'_fade_list {words} "$current"'
    elif option["words"]:
        action = f'_fade_words {words} "$current"'
    elif option["completes"] in ("file", "directory"):
        action = f'_fade_files {option["completes"][0]} "$current"'
    elif option["completes"] == "process":
        action = '_fade_pids "$current"'
    else:
        action = ":"
    return f"    {names}) {action}; return ;;"


def bash_program(program):
    takers = shlex.quote(" ".join(n for o in value_options(program) for n in spellings(o)))
    every = shlex.quote(" ".join(n for o in program["options"] for n in spellings(o) if n.startswith("--")
                                 or len(o["names"]) == 1))
    cases = "\n".join(bash_value_case(o) for o in value_options(program))
    if program["takes_command"]:
        words = 'if ((first < COMP_CWORD)); then _fade_command "$first"; return; fi'
        rest = 'mapfile -t COMPREPLY < <(compgen -c -f -- "$current")'
    elif program["words_complete"] == "process":
        words, rest = ":", '_fade_pids "$current"'
    else:
        words = ":"
        names = shlex.quote(" ".join(w["name"] for w in program["words"]))
        files = '; compgen -f -X "!*.db" -- "$current"' if reads_recordings(program) else ""
        rest = f'mapfile -t COMPREPLY < <(compgen -W {names} -- "$current"{files})'
        if fleet_words(program):
            fleet = shlex.quote(" ".join(w["name"] for w in fleet_words(program)))
            has_server = '[[ " ${COMP_WORDS[*]} " == *" --on "* ]]'
            rest = f'if {has_server}; then _fade_words {fleet} "$current"; return; fi\n  {rest}'
    return f"""
{function(program["name"])}() {{
  local takers={takers} current=${{COMP_WORDS[COMP_CWORD]}} first open
  first=$(_fade_first_word "$takers")
  {words}
  open=$(_fade_open_option "$takers")
  [[ $current == = ]] && current=""
  case $open in
{cases}
  esac
  if [[ $current == -* ]]; then _fade_words {every} "$current"; return; fi
  {rest}
}}
complete -F {function(program["name"])} {program["name"]}
"""


def bash_dispatcher(programs):
    names = " ".join(short(p) for p in programs)
    cases = "\n".join(f"    {short(p)}) {function(p['name'])} ;;" for p in programs)
    return f"""
_fade() {{
  if ((COMP_CWORD == 1)); then _fade_words "{names} help" "${{COMP_WORDS[1]}}"; return; fi
  local command=${{COMP_WORDS[1]}}
  COMP_WORDS=("fade-$command" "${{COMP_WORDS[@]:2}}")
  ((COMP_CWORD--))
  case $command in
    help) _fade_words "{names}" "${{COMP_WORDS[COMP_CWORD]}}" ;;
{cases}
  esac
}}
complete -F _fade fade
"""


def bash(programs):
    return BASH_HEAD + "".join(map(bash_program, programs)) + bash_dispatcher(programs)


# ---------------------------------------------------------------- zsh
def zsh_text(text):
    for sign in "\\[]:'":
        text = text.replace(sign, "'\\''" if sign == "'" else "\\" + sign)
    return text


def zsh_action(option):
    words = " ".join(w.replace("*", "\\*").replace(":", "\\:") for w in option["words"])
    label = zsh_text(option["value"] or "value")
    if option["list"] and words:
        return f":{label}:_values -s , {label} {words}"
    if words:
        return f":{label}:({words})"
    kinds = {"file": "_files", "directory": "_files -/", "command": "_command_names -e",
             "process": "_pids", "nothing": " "}
    return f":{label}:{kinds[option['completes']]}"


def zsh_option(option):
    names = spellings(option)
    lines = []
    for name in names:
        again = "*" if option["repeats"] else "(" + " ".join(n for n in names) + ")"
        sign = "" if not option["takes_word"] else "=" if name.startswith("--") else "+"
        value = zsh_action(option) if option["takes_word"] else ""
        lines.append(f"    '{again}{name}{sign}[{zsh_text(option['help'])}]{value}'")
    return " \\\n".join(lines)


def zsh_words(program):
    words = " ".join(f"'{w['name']}:{zsh_text(w['help'])}'" for w in program["words"])
    files = "_files -g '*.db'" if reads_recordings(program) else "_default"
    fleet = " ".join(f"'{w['name']}:{zsh_text(w['help'])}'" for w in fleet_words(program))
    on_server = (
        f"""
  if (( ${{words[(I)--on*]}} )); then
    known=({fleet})
    _describe report known
    return
  fi"""
        if fleet
        else ""
    )
    return f"""
{function(program["name"])}_words() {{
  local -a known{on_server}
  known=({words})
  _describe word known
  {files}
}}
"""


def zsh_program(program):
    options = " \\\n".join(map(zsh_option, program["options"]))
    if program["takes_command"]:
        rest = "'(-)1:command:_command_names -e' \\\n    '*::arguments:_normal'"
    elif program["words_complete"] == "process":
        rest = "'*:process:_pids'"
    else:
        rest = f"'*:word:{function(program['name'])}_words'"
    return f"""{zsh_words(program) if program["words"] else ""}
{function(program["name"])}() {{
  _arguments -s -S \\
{options} \\
    {rest}
}}
"""


def zsh(programs):
    names = " ".join(p["name"] for p in programs)
    commands = " ".join(f"'{short(p)}:{zsh_text(p['about'].splitlines()[0])}'" for p in programs)
    cases = "\n".join(f"    {p['name']}) {function(p['name'])} \"$@\" ;;" for p in programs)
    dispatch = "\n".join(f"    {short(p)}) {function(p['name'])} ;;" for p in programs)
    return f"""#compdef fade {names}
# zsh completion for fade. Generated from the options of the programs.
{"".join(map(zsh_program, programs))}
_fade_commands() {{
  local -a commands
  commands=({commands} 'help:show a manual')
  if ((CURRENT == 2)); then _describe command commands; return; fi
  shift words
  ((CURRENT--))
  case $words[1] in
{dispatch}
  esac
}}

_fade() {{
  case $service in
{cases}
    *) _fade_commands ;;
  esac
}}

_fade "$@"
"""


# ---------------------------------------------------------------- fish
def fish_quote(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_option(command, condition, option):
    parts = [f"complete -c {command}"] + ([f"-n {fish_quote(condition)}"] if condition else [])
    for name in spellings(option):
        parts.append(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}")
    if option["takes_word"]:
        if option["words"]:
            parts.append("-x -a " + fish_quote(" ".join(option["words"])))
        else:
            parts.append({"file": "-r -F", "directory": "-x -a '(__fish_complete_directories)'",
                          "process": "-x -a '(__fish_complete_pids)'"}.get(option["completes"], "-x"))
    parts.append("-d " + fish_quote(option["help"]))
    return " ".join(parts)


def fish_words(command, condition, program):
    lines = []
    if fleet_words(program):
        before = condition + ("; and " if condition else "")
        on_server, condition = f"{before}__fish_contains_opt on", f"{before}not __fish_contains_opt on"
        for w in fleet_words(program):
            name, text = fish_quote(w["name"]), fish_quote(w["help"])
            lines.append(f"complete -c {command} -n {fish_quote(on_server)} -f -a {name} -d {text}")
    where = f"complete -c {command}" + (f" -n {fish_quote(condition)}" if condition else "")
    if program["takes_command"]:
        return [f"{where} -x -a '(__fish_complete_subcommand)'"]
    if program["words_complete"] == "process":
        return [f"{where} -x -a '(__fish_complete_pids)'"]
    lines += [f"{where} -f -a {fish_quote(w['name'])} -d {fish_quote(w['help'])}" for w in program["words"]]
    return lines + ([f"{where} -x -a '(__fish_complete_suffix .db)'"] if reads_recordings(program) else [])


def fish(programs):
    lines = ["# fish completion for fade. Generated from the options of the programs."]
    for program in programs:
        lines.append(
            f"complete -c fade -n __fish_use_subcommand -f -a {short(program)} -d "
            f"{fish_quote(program['about'].splitlines()[0])}")
    lines.append("complete -c fade -n __fish_use_subcommand -f -a help -d 'show a manual'")
    for program in programs:
        for command, condition in ((program["name"], ""), ("fade", f"__fish_seen_subcommand_from {short(program)}")):
            lines += [fish_option(command, condition, o) for o in program["options"]]
            lines += fish_words(command, condition, program)
    return "\n".join(lines) + "\n"


def main():
    shell, output, fleet, *descriptions = sys.argv[1:]
    programs = []
    for path in descriptions:
        with open(path, encoding="utf-8") as file:
            programs.append(json.load(file))
        if programs[-1]["name"] == "fade-query":
            programs[-1]["fleet"] = read_fleet(pathlib.Path(fleet))
    with open(output, "w", encoding="utf-8") as file:
        file.write({"bash": bash, "zsh": zsh, "fish": fish}[shell](programs))


if __name__ == "__main__":
    main()
