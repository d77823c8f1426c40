"""The texts that users see: sentences that are too long and words that the project avoids do not become more
(cmake/words.py)."""
import importlib.util
import pathlib

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# Kind of text: long sentences, words to avoid. Lower a number when there are fewer; never raise one.
LIMITS = {"documents": (1, 0), "manuals": (23, 2), "programs": (0, 2), "reports": (0, 1), "findings": (4, 5)}
# Per 1,000 words of C++ comments: who, whose, nobody ...; what. The aim is 2 and 3; lower these, never raise them.
COMMENTS = (1.0, 2.9)


def load():
    spec = importlib.util.spec_from_file_location("words", SOURCE / "cmake" / "words.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


words = load()


@pytest.fixture(scope="module")
def counted():
    return words.count(SOURCE)


@pytest.mark.parametrize("kind", LIMITS)
def test_texts_do_not_get_worse(counted, kind):
    long, avoided, found = counted[kind]
    places = "\n".join(f"{path.relative_to(SOURCE)}: {what}: {' '.join(place.split())}" for path, what, place in found)
    assert long <= LIMITS[kind][0] and avoided <= LIMITS[kind][1], places


def test_comments_do_not_get_worse():
    persons, what = words.per_thousand(words.count_comments(SOURCE).values())
    assert persons <= COMMENTS[0] and what <= COMMENTS[1], "python3 cmake/words.py --list names the worst files"


def test_every_kind_has_texts():
    assert {kind for kind, texts in words.kinds(SOURCE).items() if len(texts) > 20} == set(LIMITS)


@pytest.mark.parametrize("text, expected", [
    ("It exits with 1 if a condition is met.", []),
    ("It ends with 1 where that condition is met.", ["'where that': if", "'ends with 1': exit with"]),
    ("Memory that nobody freed.", ["'nobody': name the subject"]),
    ("one " * 25 + "two.", ["long"]),
    ("one " * 25, []),
])
def test_what_is_found(text, expected):
    assert [what for what, _ in words.findings_in(text)] == expected


def test_comments_and_sql_are_not_read():
    assert list(words.strings_of_cpp(
        'f("a text of five words");  // "not this text of five"\nq("SELECT a FROM b WHERE c");')) == [
            "a text of five words"]
    assert list(words.strings_of_sql("-- not this: 'a b c d e'\nSELECT 'it isn''t a short text'")) == [
        "it isn't a short text"]


def test_only_comments_of_cpp_are_counted():
    assert words.comments_of_cpp('f("// what");\n// Whose thread\nint n;  // of what\n') == "Whose thread of what"


def test_manuals_have_examples():
    for page in (SOURCE / "cli" / "man").glob("*.scd.in"):
        examples = page.read_text(encoding="utf-8").split("# EXAMPLES")[1].split("\n# ")[0]
        blocks = examples.split("```")
        assert len(blocks) // 2 >= 5 and all(text.strip()[-1] in ".?" for text in blocks[2::2]), page.name
