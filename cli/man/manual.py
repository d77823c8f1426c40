"""Fills a manual page's @OPTIONS@, @WORDS@, @VIEWS@ and @VERSION@ from the program's description and from the schema.

usage: manual.py PAGE.scd.in OUTPUT.scd VERSION DESCRIPTION.json|- SCHEMA_FOLDER
"""
import json
import pathlib
import sqlite3
import sys


def plain(text):
    """Text in which scdoc sees no markup."""
    for sign in "\\*_`#[]<>|":
        text = text.replace(sign, "\\" + sign)
    return "\\" + text if text.startswith("-") else text  # no list


def option_entry(option):
    value = f" _{plain(option['value'])}_" if option["value"] else ""
    names = ", ".join(f"*{plain(name)}*" for name in option["names"])
    if value and not option["takes_word"] and ", *\\--no-" in names:  # --summary takes the word, --no-summary does not
        names, value = names.replace(", *\\--no-", f"{value}, *\\--no-"), ""
    words = ""
    if option["words"] and not any(w in option["help"] for w in option["words"][:2]):
        words = " For example: " + ", ".join(plain(w) for w in option["words"]) + "."
    return f"{names}{value}\n\t{plain(option['help'])}.{words}\n"


def options(program):
    out, group = [], None
    for option in program["options"]:
        if option["group"] != group:
            group = option["group"]
            out.append(f"## {group}\n")
        out.append(option_entry(option))
    return "\n".join(out)


def words(program):
    return "\n".join(f"*{plain(w['name'])}*\n\t{plain(w['help'])}\n" for w in program["words"])


def views(folder):
    """One entry for each public view, as the database itself describes it."""
    database = sqlite3.connect(":memory:")
    subjects = (folder / "subjects.txt").read_text(encoding="utf-8").split()
    parts = [folder / "tables.sql"]
    parts += [path for kind in ("tables", "views", "docs") for subject in subjects
              if (path := folder / kind / f"{subject}.sql").exists()]
    for path in parts:
        of_findings = path.parent.name == "views" and path.stem.endswith("findings")
        selects = sorted((folder / path.stem).glob("*.sql")) if of_findings else []
        database.executescript("UNION ALL\n".join(part.read_text(encoding="utf-8") for part in [path, *selects]))
    documented = dict(database.execute("SELECT view, text FROM doc_ WHERE \"column\" = ''"))
    out = []
    for (view,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY rowid").fetchall():
        if view not in documented:
            continue
        out.append(f"*{plain(view)}*\n\t{plain(documented[view])}\n")
    return "\n".join(out)


def main():
    page, output, version, description, schema = sys.argv[1:]
    text = pathlib.Path(page).read_text(encoding="utf-8")
    text = text.replace("@VERSION@", version)
    if description != "-":
        program = json.loads(pathlib.Path(description).read_text(encoding="utf-8"))
        text = text.replace("@OPTIONS@", options(program)).replace("@WORDS@", words(program))
    if "@VIEWS@" in text:
        text = text.replace("@VIEWS@", views(pathlib.Path(schema)))
    pathlib.Path(output).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
