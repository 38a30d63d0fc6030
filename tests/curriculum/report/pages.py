"""Reports read back as a browser would: their elements, and the figures that the page hands to plotly."""

import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np

VOID = {"meta", "link", "img", "br", "input", "hr"}


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    children: list["Element | str"] = field(default_factory=list)

    def all(self, tag: str, **attributes: str) -> list["Element"]:
        """The elements of a tag inside this one, in order."""
        wanted = {name.replace("_", "-"): value for name, value in attributes.items()}
        found = []
        for child in self.children:
            if isinstance(child, Element):
                if child.tag == tag and wanted.items() <= child.attributes.items():
                    found.append(child)
                found += child.all(tag, **attributes)
        return found

    def one(self, tag: str, **attributes: str) -> "Element":
        [found] = self.all(tag, **attributes)
        return found

    @property
    def text(self) -> str:
        """All text inside, white space collapsed."""
        parts = [child if isinstance(child, str) else child.text for child in self.children]
        return " ".join(" ".join(parts).split())

    @property
    def raw(self) -> str:
        return "".join(child for child in self.children if isinstance(child, str))

    def rows(self) -> list[list[str]]:
        """A table's cells, heading line first."""
        return [
            [cell.text for cell in row.children if isinstance(cell, Element) and cell.tag in ("th", "td")]
            for row in self.all("tr")
        ]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Element("root", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def read_page(path: Path) -> Element:
    """The page's elements; fails where one is not closed."""
    reader = _Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    assert reader.open == [reader.root]
    return reader.root


def plots(page: Element) -> dict[str, Any]:
    """What is handed to plotly, by the figures' headings."""
    return {figure.one("h3").text: json.loads(figure.one("script").raw) for figure in page.all("figure")}


def polygon_area(trace: dict[str, Any]) -> float:
    """The area of a filled trace whose outline goes there along its upper edge and back along its lower."""
    half = len(trace["x"]) // 2
    steps, high, low = trace["x"][:half], trace["y"][:half], trace["y"][half:][::-1]
    gaps = [up - down for up, down in zip(high, low, strict=True)]
    return float(np.trapezoid(gaps, steps))
