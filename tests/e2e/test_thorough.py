"""The list of tests that only FADE_TESTS=all runs names tests that there are."""
import re
import types

import pytest

import thorough


@pytest.mark.parametrize("pattern", thorough.patterns())
def test_each_pattern_is_of_a_test(pattern):
    file, test = pattern.split("::")
    source = (thorough.FOLDER / file).read_text()
    name = re.match(r"\w*", test)[0]
    assert re.search(rf"^def {name}", source, re.M) if name else test.startswith("*")


def test_a_name_is_left_out_with_its_parameters():
    def item(name):
        return types.SimpleNamespace(nodeid=f"x.py::{name}", fspath=thorough.FOLDER / "e2e" / "test_attach_states.py")

    assert thorough.is_thorough(item("test_while_others_are_made[children-v5]"))
    assert not thorough.is_thorough(item("test_while_others_are_made[children-v6]"))
