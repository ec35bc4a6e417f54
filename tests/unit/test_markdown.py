"""What is written for people: how long the README is, and whether the links of all pages lead anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.places import CHECKOUT

_LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
_MOST_README_LINES = 250


def pages() -> list[Path]:
    places = ("*.md", ".changes/**/*.md", "boards/**/*.md", "firmware/**/*.md", "harness/**/*.md", "tests/**/*.md")
    return sorted(path for place in places for path in CHECKOUT.glob(place) if "_data" not in path.parts)


def text_of(page: Path) -> str:
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """As hosts of repositories make them of headings."""
    headings = re.findall(r"^#+ (.+)$", text_of(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path, root: Path = CHECKOUT) -> Iterator[str]:
    for link in _LINK.findall(text_of(page)):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        place = (page.parent / name).resolve() if name else page
        if not place.exists() or not place.is_relative_to(root):
            yield f"{link}: there is no such file"
        elif anchor and (place.suffix != ".md" or anchor not in anchors(place)):
            yield f"{link}: there is no such heading"


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert not list(broken_links(page))


def test_broken_links_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A heading: `this`\n[1](#a-heading-this) [2](#other) [3](gone.md)\n```\n[4](code)\n```\n")
    assert [link.partition(":")[0] for link in broken_links(page, tmp_path)] == ["#other", "gone.md"]


def test_the_readme_is_short() -> None:
    assert len((CHECKOUT / "README.md").read_text(encoding="utf-8").splitlines()) <= _MOST_README_LINES
