"""Prints how long files, lines, functions and classes are; CONTRIBUTING.md has the limits.

usage: sizes.py [SOURCE_FOLDER] [--list]    --list: the longest files and functions, the lines that are too wide, and
the classes above the limits. Functions and classes need universal-ctags.
"""
import collections
import pathlib
import re
import subprocess
import sys

CODE = (".cpp", ".hpp", ".h", ".c", ".S", ".py", ".sql", ".sh", ".cmake", "CMakeLists.txt")
WIDEST = 120  # columns
FUNCTIONS, MEMBERS = 40, 15  # of a class; more need a comment that says why

Function = collections.namedtuple("Function", "lines path name")
Class = collections.namedtuple("Class", "functions members path name comment")


def code(source):
    """Path -> lines of each file of code under version control."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=source, check=True, capture_output=True, text=True).stdout
    paths = [source / name for name in names.split("\0") if name.endswith(CODE)]
    return {path: path.read_text(encoding="utf-8").splitlines() for path in paths}


def wide_lines(files):
    return [(path, number) for path, lines in files.items() for number, line in enumerate(lines, 1)
            if len(line) > WIDEST]


def percentile(numbers, share):
    return sorted(numbers)[int(len(numbers) * share)]


def tags(files):
    """What universal-ctags finds in the product's C++: a dictionary for each, with name, path, kind and its fields."""
    paths = [path for path in files if path.suffix in (".cpp", ".hpp", ".h") and "tests" not in path.parts]
    command = ["ctags-universal", "--fields=+neKSs", "--c++-kinds=+pf", "--sort=no", "-f", "-", "-L", "-"]
    found = subprocess.run(command, input="\n".join(map(str, paths)), check=True, capture_output=True, text=True)
    for line in found.stdout.splitlines():
        head, _, fields = line.partition(';"\t')
        name, path, pattern = head.split("\t", 2)
        kind, *rest = fields.split("\t")
        yield {**dict(field.split(":", 1) for field in rest if ":" in field),
               "name": name, "path": pathlib.Path(path), "kind": kind, "pattern": pattern}


def functions(found):
    return [Function(int(tag["end"]) - int(tag["line"]) + 1, tag["path"], tag["name"])
            for tag in found if tag["kind"] == "function" and "end" in tag]


def comment_of(lines, number):
    """The comment on the line of a class, or in front of it."""
    if "//" in lines[number - 1]:
        return lines[number - 1].split("//", 1)[1].strip()
    above = number - 2
    while above >= 0 and lines[above].lstrip().startswith(("//", "template")):
        above -= 1
    return " ".join(re.sub(r"^\s*//\s?", "", line) for line in lines[above + 1:number - 1] if "//" in line)


def classes(found, files):
    """A function counts where the class declares it; static members do not count."""
    places, declared, members = {}, collections.Counter(), collections.Counter()
    for tag in found:
        owner = tag.get("class") or tag.get("struct")
        if tag["kind"] in ("class", "struct"):
            places["::".join(filter(None, (owner or tag.get("namespace"), tag["name"])))] = tag
        elif owner and tag["kind"] == "member" and not re.search(r"\bstatic\b", tag["pattern"]):
            members[owner] += 1
    for tag in found:
        owner = tag.get("class") or tag.get("struct")
        if owner in places and tag["kind"] in ("prototype", "function"):
            first, last = (int(places[owner].get(field, places[owner]["line"])) for field in ("line", "end"))
            declared[owner] += tag["path"] == places[owner]["path"] and first <= int(tag["line"]) <= last
    return [Class(declared[name], members[name], tag["path"], name, comment_of(files[tag["path"]], int(tag["line"])))
            for name, tag in places.items()]


def large(all_classes):
    return [c for c in all_classes if c.functions > FUNCTIONS or c.members > MEMBERS]


def main():
    words = sys.argv[1:]
    source = pathlib.Path(next((w for w in words if not w.startswith("-")), ".")).resolve()
    files = code(source)
    wide, lengths = wide_lines(files), {path: len(lines) for path, lines in files.items()}
    print(f"files: {len(files)}, nine of ten have at most {percentile(lengths.values(), 0.9)} lines, the longest "
          f"{max(lengths.values())}; {len(wide)} lines above {WIDEST} columns")
    found = list(tags(files))
    all_functions, all_classes = functions(found), classes(found, files)
    print(f"functions: {len(all_functions)}, nine of ten have at most "
          f"{percentile([f.lines for f in all_functions], 0.9)} lines")
    above = large(all_classes)
    print(f"classes: {len(all_classes)}, {len(above)} above {FUNCTIONS} functions or {MEMBERS} members, "
          f"{sum(not c.comment for c in above)} of them without a comment")
    if "--list" in words:
        show(source, lengths, wide, all_functions, above)


def show(source, lengths, wide, all_functions, above):
    for path, length in sorted(lengths.items(), key=lambda item: -item[1])[:20]:
        print(f"{length:5} lines  {path.relative_to(source)}")
    for path, number in wide:
        print(f"wide         {path.relative_to(source)}:{number}")
    for function in sorted(all_functions, reverse=True)[:20]:
        print(f"{function.lines:5} lines  {function.name}  {function.path.relative_to(source)}")
    for c in sorted(above):
        print(f"{c.functions:3} functions, {c.members:2} members  {c.name}  {c.path.relative_to(source)}  {c.comment}")


if __name__ == "__main__":
    main()
