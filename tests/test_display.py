"""What notebooks show: the status in words, what was bought, and no markup from names."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pandas as pd
import pytest
from hostile_names import HOSTILE, LEVELS

import shortlist as sl
from shortlist.display import panel


class Page(HTMLParser):
    """The text of a page, and the tags it has besides its style."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert all(name == "class" for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


TAGS = {"style", "div", "p", "table", "thead", "tbody", "tr", "th", "td"}


@pytest.fixture(scope="module")
def problem() -> sl.SubsetProblem:
    data = sl.datasets.make_prognostic(n_samples=82, random_state=0)
    columns = [f"{name} {i}" for i, name in enumerate([*HOSTILE.values()] * 4)][: data.X.shape[1]]
    X = data.X.set_axis(columns, axis=1)
    return sl.SubsetProblem(X, data.y, ridge=0.1, budget=8, costs=list(data.costs))


def test_a_solution_says_that_it_is_proven_and_what_it_buys(problem: sl.SubsetProblem) -> None:
    solution = sl.solve(problem)
    assert solution.names == tuple(problem.name_of(g) for g in solution.support)
    page = Page(solution._repr_html_())
    assert set(page.tags) <= TAGS
    assert f"Proven optimal (relative gap {solution.gap:.2g})" in page.text
    assert f"cost {solution.cost:g}" in page.text
    for name in solution.names:
        assert " ".join(name.split()) in page.text


@pytest.mark.parametrize("status", sl.Status)
def test_only_an_optimum_is_called_one(problem: sl.SubsetProblem, status: sl.Status) -> None:
    solution = replace(sl.solve(problem), status=status)
    html = solution._repr_html_()
    assert ("Proven" in html) == ('class="proven"' in html) == (status is sl.Status.OPTIMAL)


@pytest.mark.parametrize("backend", ["native", "enumeration", "univariable"])
def test_every_kind_of_backend_names_what_it_buys(backend: str) -> None:
    X = pd.DataFrame({"a": [0.0, 1, 2, 3], "b": [1.0, 0, 1, 0]})
    problem = sl.SubsetProblem(X, [0, 0, 1, 1], ridge=0.1, max_features=1)
    assert sl.solve(problem, backend).names == ("a",)


def test_a_path_shows_every_step(problem: sl.SubsetProblem) -> None:
    path = sl.solve_path(problem)
    page = Page(path._repr_html_())
    assert set(page.tags) <= TAGS
    assert ": all steps proven" in page.text
    assert page.tags.count("tr") == 1 + len(path)
    assert all(step.solution.names for step in path[1:])
    open_path = replace(path, is_certified=False)
    assert "not all steps proven" in Page(open_path._repr_html_()).text


def test_a_list_says_whether_it_is_complete(problem: sl.SubsetProblem) -> None:
    near = sl.near_optimal(problem, tolerance=0.2)
    page = Page(near._repr_html_())
    assert set(page.tags) <= TAGS
    assert f"All selections within 20 % of the best: {len(near)}" in page.text
    cut = Page(sl.near_optimal(problem, tolerance=0.2, limit=2)._repr_html_())
    assert "2, perhaps more" in cut.text
    assert cut.tags.count("tr") == 3


def test_rows_that_are_left_out_are_counted() -> None:
    html = panel("Many", is_proven=True, header=["n"], rows=[(i,) for i in range(100)])
    shown = Page(html).tags.count("tr") - 1
    assert f"{100 - shown} more rows are not shown." in html


def test_a_fitted_model_shows_its_odds_ratios_and_an_unfitted_one_its_parameters() -> None:
    patients = pd.DataFrame(
        {
            HOSTILE["age"]: [41, 50, 55, 63, 68, 75, 80, 44],
            HOSTILE["stage"]: [*LEVELS.values()] * 4,
        }
    )
    outcome = pd.Series([0, 0, 0, 1, 0, 1, 1, 0], name="<i>ill</i>")
    model = sl.PrognosticModel(budget=2, ridge=0.1)
    assert "budget" in model._repr_mimebundle_()["text/html"]
    model.fit(patients, outcome)
    html = model._repr_mimebundle_()["text/html"]
    assert html == model.card_._repr_html_()
    page = Page(html)
    assert set(page.tags) <= TAGS
    assert "Proven optimal" in page.text
    assert "2 of 2 predictors for 2 of 2" in page.text
    assert "8 rows, 3 with <i>ill</i> = 1" in page.text
    assert HOSTILE["age"] in page.text
    assert f"{model.coefficients_['odds_ratio'][0]:.4g}" in page.text


def test_colours_are_those_of_the_notebook() -> None:
    """Text and background are inherited, so that a dark notebook stays dark."""
    style = re.search(r"<style>(.*?)</style>", panel("A", is_proven=True, rows=[]), re.S)
    assert style is not None
    assert set(re.findall(r"[^-]color: ([^;]+);", style[1])) == {"inherit", "#2c9c69", "#d98a00"}
    assert set(re.findall(r"background: ([^;]+);", style[1])) == {"none"}
