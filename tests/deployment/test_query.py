"""The query runs in four databases, gives the risks of `predict`, and does nothing else."""

import numpy as np
import pandas as pd
import pytest
from databases import Duck, MariaDB, Sqlite, mariadb, postgresql
from hostile_models import hostile_model

import shortlist as sl
from shortlist.deployment.query import sql_code

pytestmark = pytest.mark.filterwarnings("ignore::shortlist.ShortlistWarning")


@pytest.fixture(scope="module", params=["SQLite", "DuckDB", "MariaDB", "PostgreSQL"])
def database(request, tmp_path_factory):
    memory = {"SQLite": Sqlite, "DuckDB": Duck}
    if request.param in memory:
        yield memory[request.param]()
        return
    server = {"MariaDB": mariadb, "PostgreSQL": postgresql}[request.param]
    with server(tmp_path_factory.mktemp("db")) as started:
        yield started


def check(database, hostile):
    database.load(hostile.patients)
    found = database.run(sql_code(hostile.card))
    assert np.abs(found.iloc[:, 0].astype(float) - hostile.risk).max() <= 1e-9
    assert database.tables() == ["patients"]


@pytest.mark.parametrize("seeds", [range(10), pytest.param(range(10, 200), marks=pytest.mark.slow)])
def test_hostile_names_and_levels(database, seeds):
    for seed in seeds:
        check(database, hostile_model(seed))


def test_without_its_settings_mariadb_refuses_the_query(database):
    if not isinstance(database, MariaDB):
        pytest.skip("only MariaDB reads names in quotes as texts")
    forced = MariaDB([*database.client, "--force"])  # goes on after an error
    for seed in range(20):
        hostile = hostile_model(seed)
        database.load(hostile.patients)
        with pytest.raises(RuntimeError, match="error in your SQL syntax"):
            database.script(sql_code(hostile.card))
        forced.script(sql_code(hostile.card))
        assert database.tables() == ["patients"]


@pytest.mark.parametrize("seed", range(10))
def test_what_databases_read_differently_is_refused(seed):
    with pytest.raises(sl.InvalidProblemError, match="has a backslash or a control character"):
        sql_code(hostile_model(seed, refused=True).card)


STEPS = [f"{step}{i}" for step in "tmx" for i in range(1, 5)]
TAKEN = ["X1", "t2", "m1", "Risk", "log_odds", "n_imputed", "N_OUTSIDE", "patients", "source"]


@pytest.mark.parametrize("first", range(0, len(TAKEN), 3))
def test_columns_named_like_what_is_computed(database, first):
    """In the model, or beside it in the table, as in a table that such a query has made."""
    rng = np.random.default_rng(first)
    names = [*TAKEN[first : first + 3], ["shortlist_t1", "SHORTLIST_x1", "plain"][first // 3]]
    table = pd.DataFrame({name: rng.normal(size=60) for name in names})
    y = table.sum(axis=1) + rng.logistic(size=60) > 0
    card = sl.PrognosticModel(ridge=0.5, include=names).fit(table, y).card_
    others = [
        n for n in (*STEPS, *TAKEN, "texts", "summed") if n.lower() not in map(str.lower, names)
    ]
    same_name = ["id", *dict.fromkeys(map(str.lower, others))]
    wide = table.assign(**{name: np.arange(60) for name in same_name})
    database.load(wide)
    found = database.run(sql_code(card))
    assert np.abs(found.iloc[:, 0].astype(float) - card.probability(table)).max() <= 1e-9


def test_the_result_of_a_query_is_a_table_of_patients(database):
    """Where two columns have one name the query's own comes first, or the database refuses it."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.normal(size=60), "sex": rng.choice(["f", "m"], 60)})
    y = table["age"] + (table["sex"] == "f") + rng.logistic(size=60) > 0
    card = sl.PrognosticModel(ridge=0.5, include=["age", "sex"]).fit(table, y).card_
    steps = [f"shortlist_{step}" for step in (*STEPS, "log_odds", "texts", "summed", "source")]
    database.load(table.assign(**dict.fromkeys(steps, 7.25), id=np.arange(60), risk=0.5))
    if isinstance(database, Sqlite | Duck):
        found = database.run(sql_code(card))
        assert np.abs(found.iloc[:, 0] - card.probability(table)).max() <= 1e-9
    else:
        with pytest.raises(RuntimeError, match=r"ambiguous|Duplicate column"):
            database.run(sql_code(card))


def test_names_that_differ_in_case_are_refused():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"Age": rng.normal(size=60), "age": rng.normal(size=60)})
    y = table["age"] + table["Age"] + rng.logistic(size=60) > 0
    card = sl.PrognosticModel(ridge=0.5, include=["age", "Age"]).fit(table, y).card_
    with pytest.raises(sl.InvalidProblemError, match="differ in case or accents only"):
        sql_code(card)
