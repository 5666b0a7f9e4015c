"""Shapes and what can be said about them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Iterator


@dataclass(frozen=True, slots=True)
class Point:
    x: float = 0.0
    y: float = 0.0

    def __add__(self, other: Point) -> Point:
        return Point(self.x + other.x, self.y + other.y)

    def distance(self, other: "Point", /, *, power: int = 2) -> float:
        return (abs(self.x - other.x) ** power + abs(self.y - other.y) ** power) ** (1 / power)


class Polygon[T: (int, float)]:
    def __init__(self, *corners: Point, name: str | None = None, **options: T) -> None:
        if len(corners) < 3:
            raise ValueError(f"{name or 'a polygon'} needs three corners, not {len(corners)!r:>4}")
        self.corners = list(corners)
        self.options = {key: value for key, value in options.items() if value is not None}

    def edges(self) -> Iterator[tuple[Point, Point]]:
        for index, corner in enumerate(self.corners):
            yield corner, self.corners[(index + 1) % len(self.corners)]

    @property
    def area(self) -> float:
        total = 0
        for a, b in self.edges():
            total += a.x * b.y - b.x * a.y
        return abs(total) / 2

    def __repr__(self):
        return f"Polygon({', '.join(map(repr, self.corners))})"


def describe(shape: object) -> str:
    match shape:
        case Point(x=0, y=0):
            return "the origin"
        case Point(x, y) if x == y:
            return f"on the diagonal at {x:.{2}f}"
        case Polygon(corners=[first, *rest]) | (first, *rest):
            return f"begins at {first}, {len(rest)} more"
        case {"kind": "circle", "radius": (int() | float()) as radius, **others}:
            return f"circle of area {math.pi * radius ** 2:,.3f}" + (" and more" if others else "")
        case None | True | False:
            return "nothing"
        case _:
            return type(shape).__name__


async def fetch_all(sources, limit=10):
    results = []
    async with Session() as session, Limit(limit):
        async for source in sources:
            try:
                results.append(await session.get(source.url, timeout=2.5e-1))
            except* (TimeoutError, OSError) as group:
                print(*group.exceptions, sep="\n", end="")
            finally:
                source.close()
    return [line.strip() for result in results for line in result if not line.startswith("#")]


if __name__ == "__main__":
    numbers = [0xff, 0b1010, 0o17, 1_000_000, 3.14j, .5, 10 ** -3]
    squares = (n * n for n in numbers)
    key = lambda value, *rest: (-value.real, rest)
    while (line := input("> ")) != "quit":
        if not line: continue
        elif line[0] in "+-" and line[1:].isdigit(): numbers[-1:] = [int(line), *squares]
        else:
            del numbers[::2]
            assert numbers, r"\d+ is no" "number"; print(describe(line), file=None)
    global_count = sum(1 for _ in numbers) if numbers else None
