"""Counts sentences of user-visible texts that are too long, and words that the project avoids there and in comments.

usage: words.py [SOURCE_FOLDER] [--list]    prints a line for each kind of text; --list: each finding, and the worst
files
"""
import pathlib
import re
import sys

LONGEST = 25  # words in a sentence; the aim is 20
AVOIDED = {  # what is avoided -> what to write
    r"\bwhere (?:a|an|the|it|that|this|there|none|no|not|all|HIP|fade|his|its) ": "if",
    r"\b(?:is|are|was) none\b": "no X, is not a X",
    r"\bcomes? to\b": "attaches to, is",
    r"\bends? with \d": "exit with",
    r"\bstands? (?:there|in|behind|before|for|on|between)\b": "is",
    r"\b(?:somebody|nobody|whoever)\b": "name the subject",
    r"\b(?:tells|told) (?:of|apart|that|how|which|what|by|whether)\b": "shows, reports",
    r"\bwhen the most was in use\b": "at the peak",
    r"\b(?:before|when|since) fade came\b": "fade attached",
    r"\bany more\b": "no longer",
    r"\bcannot be told\b": "unknown",
    r"\bunharmed\b": "undisturbed",
}
PERSONS = r"\b(?:who|whoever|whose|nobody|somebody|anybody)\b"  # in comments: name the thread, function or program
WHAT = r"\bwhat\b(?! if\b)"  # in comments: name the value, text or rule
MARKUP = re.compile(r"```.*?```|<!--.*?-->|^\|.*$|[*_`\\\[]|\]\([^)]*\)", re.M | re.S)


def read(paths):
    return [(path, path.read_text(encoding="utf-8")) for path in sorted(paths)]


def strings_of_cpp(text):
    """Literals that are sentences: adjacent ones are one text, and comments are none."""
    text = re.sub(r"^\s*//.*$|\s//.*$", "", text, flags=re.M)
    for found in re.finditer(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*', text):
        words = "".join(part[1:-1] for part in re.findall(r'"(?:[^"\\\n]|\\.)*"', found[0]))
        if words.count(" ") > 3 and not re.search(r"\b(SELECT|FROM|WHERE|CREATE|UPDATE|INSERT)\b", words):
            yield words.replace("\\n", "\n").replace('\\"', '"')


def strings_of_sql(text):
    whole = re.sub(r"'\s*\n\s*\|\| '", "", re.sub(r"--(?: .*)?$", "", text, flags=re.M))  # one text on several lines
    for found in re.finditer(r"'((?:[^'\n]|'')*)'", whole):
        if found[1].count(" ") > 3 and not re.search(r"\b(SELECT|JOIN)\b", found[1]):
            yield found[1].replace("''", "'")


def heads_of_sql(text):
    text = re.sub(r"\n--   ", " ", text)  # a line that goes on
    return re.findall(r"^-- (?!\w+:)(.*)$", text, re.M)[:1] + re.findall(r"^-- about: (.*)$", text, re.M)


def prose(text):
    text = re.sub(r"^[.;#].*$", "", re.sub(r"(?m)^[-*] ", "\n\n", text), flags=re.M)
    return re.split(r"\n\s*\n", MARKUP.sub(" ", text))


def kinds(source):
    """Kind of text -> (path, one text) of each."""
    def each(paths, reader):
        return [(path, words) for path, text in read(paths) for words in reader(text)]

    schema = source / "schema"
    documents = [source / "README.md", *(source / "docs").rglob("*.md")]
    return {
        "documents": each(documents, prose),
        "manuals": each((source / "cli" / "man").glob("*.scd.in"), prose),
        "programs": each([*(source / "cli").rglob("*.cpp"), *(source / "daemon" / "supervisor").glob("*.cpp")],
                         strings_of_cpp),
        "reports": each((source / "schema" / "reports").glob("*.sql"), heads_of_sql),
        "findings": each([*schema.glob("*findings/*.sql"), *(schema / "views").glob("*.sql")], strings_of_sql),
    }


def sentences(text):
    return re.split(r"(?<=[.:;?!])\s+", " ".join(text.split()))


def findings_in(text):
    """(what is wrong, where) of each."""
    for sentence in sentences(text):
        if len(re.findall(r"[A-Za-z][\w'-]*", sentence)) > LONGEST:
            yield "long", sentence
    for pattern, better in AVOIDED.items():
        for found in re.finditer(pattern, " ".join(text.split())):
            yield f"'{found[0].strip()}': {better}", text[max(0, found.start() - 40):found.end() + 40]


def count(source):
    """Kind -> (number of long sentences, number of avoided words, the findings)."""
    out = {}
    for kind, texts in kinds(source).items():
        found = [(path, *finding) for path, text in texts for finding in findings_in(text)]
        long = sum(what == "long" for _, what, _ in found)
        out[kind] = (long, len(found) - long, found)
    return out


def comments_of_cpp(text):
    return " ".join(found[1] for found in re.finditer(r"(?:^|\s)//+ (.*)$", text, re.M))


def count_comments(source):
    """C++ file -> (words of its comments, PERSONS among them, WHAT among them)."""
    folders = ("cli", "daemon", "probes", "schema")
    paths = [path for folder in folders for path in (source / folder).rglob("*.[ch]pp")]
    return {path: (len(re.findall(r"[A-Za-z][\w'-]*", words)),
                   *(len(re.findall(p, words, re.I)) for p in (PERSONS, WHAT)))
            for path, text in read(paths) for words in [comments_of_cpp(text)]}


def per_thousand(counts):
    """(PERSONS, WHAT) per 1,000 words of comments."""
    words, *avoided = (sum(column) for column in zip(*counts))
    return tuple(round(1000 * number / words, 2) for number in avoided)


def print_comments(source, lists):
    files = count_comments(source)
    persons, what = per_thousand(files.values())
    print(f"comments: {persons} of who, whose, nobody ... and {what} of what per 1,000 words")
    for path, (_, persons, what) in sorted(files.items(), key=lambda item: -sum(item[1][1:]))[:20 if lists else 0]:
        print(f"  {path.relative_to(source)}: {persons} who, {what} what")


def main():
    folders = [word for word in sys.argv[1:] if not word.startswith("-")]
    source = pathlib.Path(folders[0]) if folders else pathlib.Path(__file__).resolve().parents[1]
    for kind, (long, avoided, found) in count(source).items():
        print(f"{kind}: {long} sentences of more than {LONGEST} words, {avoided} words to avoid")
        if "--list" in sys.argv:
            for path, what, place in found:
                print(f"  {path.relative_to(source)}: {what}\n    {' '.join(place.split())}")
    print_comments(source, "--list" in sys.argv)


if __name__ == "__main__":
    main()
