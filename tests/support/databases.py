"""Databases to run a query in: SQLite and DuckDB in memory, MariaDB and PostgreSQL thrown away.

A database `runs` a query over a table `patients` as its users do, through its own client where it
has one, and returns the result in the order of the column "id". `tables` names what is there. The
two servers listen on a socket in a temporary folder and end with the test.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd
import pytest


class Sqlite:
    """The sqlite of Python."""

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:")
        try:
            self.connection.execute("SELECT EXP(1.0), POWER(2.0, 3)")
        except sqlite3.OperationalError:
            pytest.skip("this sqlite has no EXP: the SQL is not run")

    def load(self, table: pd.DataFrame) -> None:
        table.to_sql("patients", self.connection, index=False, if_exists="replace")

    def run(self, query: str) -> pd.DataFrame:
        return pd.read_sql(query, self.connection).sort_values("id")

    def tables(self) -> list[str]:
        rows = self.connection.execute("SELECT name FROM sqlite_master ORDER BY name")
        return [name for (name,) in rows]


class Duck:
    """DuckDB."""

    def __init__(self) -> None:
        duckdb = pytest.importorskip("duckdb", reason="no duckdb: the SQL is not run in it")
        self.connection = duckdb.connect()

    def load(self, table: pd.DataFrame) -> None:
        self.connection.register("given", table)
        self.connection.execute("CREATE OR REPLACE TABLE patients AS SELECT * FROM given")

    def run(self, query: str) -> pd.DataFrame:
        found: pd.DataFrame = self.connection.execute(query).df()
        return found.sort_values("id")

    def tables(self) -> list[str]:
        return sorted(
            name
            for (name, *_) in self.connection.execute("SHOW TABLES").fetchall()
            if name != "given"
        )


class Server:
    """A database whose client takes a script; texts are loaded as hexadecimal digits."""

    quote, text = '"', ""

    def __init__(self, client: list[str]) -> None:
        self.client = client

    def script(self, text: str) -> str:
        done = subprocess.run(self.client, input=text.encode(), capture_output=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr.decode())
        return done.stdout.decode()

    def load(self, table: pd.DataFrame) -> None:
        quoted = [
            self.quote + name.replace(self.quote, 2 * self.quote) + self.quote
            for name in table.columns
        ]
        kinds = ["DOUBLE PRECISION" if kind.kind in "if" else "TEXT" for kind in table.dtypes]
        columns = ", ".join(f"{name} {kind}" for name, kind in zip(quoted, kinds, strict=True))
        rows = ",\n".join(
            f"({', '.join(map(self.literal, row))})" for row in table.itertuples(index=False)
        )
        self.script(
            f"DROP TABLE IF EXISTS patients; CREATE TABLE patients ({columns});\n"
            f"INSERT INTO patients VALUES {rows};"
        )

    def literal(self, value: Any) -> str:
        if isinstance(value, str):
            return self.text.format(value.encode().hex())
        return "NULL" if pd.isna(value) else repr(float(value))


class MariaDB(Server):
    """MariaDB, with the settings that the query asks for."""

    quote, text = "`", "CONVERT(X'{}' USING utf8mb4)"

    def run(self, query: str) -> pd.DataFrame:
        settings = "SET sql_mode = 'ANSI_QUOTES'; SET NAMES utf8mb4 COLLATE utf8mb4_bin;\n"
        lines = self.script(settings + query).rstrip("\n").split("\n")
        header, *rows = (line.split("\t") for line in lines)
        return pd.DataFrame(rows, columns=header).sort_values("id", key=pd.to_numeric)

    def tables(self) -> list[str]:
        return sorted(self.script("SHOW TABLES;").split()[1:])


class PostgreSQL(Server):
    """PostgreSQL."""

    text = "convert_from('\\x{}', 'UTF8')"

    def run(self, query: str) -> pd.DataFrame:
        found = pd.read_csv(StringIO(self.script(query)))
        return found.sort_values("id")

    def tables(self) -> list[str]:
        names = "SELECT tablename FROM pg_tables WHERE schemaname = 'public';"
        return sorted(self.script(names).split()[1:])


@contextmanager
def mariadb(folder: Path) -> Iterator[MariaDB]:
    """Start MariaDB in a folder, and end it."""
    if shutil.which("mariadbd") is None or shutil.which("mariadb-install-db") is None:
        pytest.skip("no mariadbd: the SQL is not run in MariaDB")
    own = ["--no-defaults", f"--datadir={folder}/data"]
    user = ["--user=root"] if os.geteuid() == 0 else []
    subprocess.run(
        ["mariadb-install-db", *own, *user, "--auth-root-authentication-method=normal"],
        capture_output=True,
        check=True,
    )
    place = [f"--socket={folder}/socket", "--skip-networking"]
    server = subprocess.Popen(
        ["mariadbd", *own, *user, *place, f"--pid-file={folder}/pid"], stderr=subprocess.DEVNULL
    )
    client = ["mariadb", "--no-defaults", "--batch", f"--socket={folder}/socket", "--user=root"]
    with _ending(server):
        _wait(
            lambda: Server(client).script(
                "CREATE DATABASE IF NOT EXISTS fuzz CHARACTER SET utf8mb4;"
            )
        )
        yield MariaDB([*client, "--default-character-set=utf8mb4", "fuzz"])


@contextmanager
def postgresql(folder: Path) -> Iterator[PostgreSQL]:
    """Start PostgreSQL in a folder, and end it; root lends it the account postgres."""
    programs = [shutil.which("initdb"), *sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))]
    found = next((Path(program) for program in programs if program), None)
    if found is None:
        pytest.skip("no initdb: the SQL is not run in PostgreSQL")
    lent: list[str] = []
    if os.geteuid() == 0:
        lent = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        shutil.chown(folder, "postgres")
        for parent in (folder, *folder.parents[:3]):
            parent.chmod(parent.stat().st_mode | 0o755)
    data = f"{folder}/data"
    subprocess.run(
        [*lent, found, "--auth=trust", "--encoding=UTF8", "--locale=C", "--username=test", data],
        capture_output=True,
        check=True,
    )
    server = subprocess.Popen(
        [*lent, found.with_name("postgres"), "-D", data, "-k", folder, "-c", "listen_addresses="],
        stderr=subprocess.DEVNULL,
    )
    stop = "ON_ERROR_STOP=1"
    client = ["psql", "--no-psqlrc", "--quiet", "--csv", "--set", stop, "--host", str(folder)]
    database = PostgreSQL([*client, "--username=test", "postgres"])
    with _ending(server):
        _wait(lambda: database.script("SELECT 1;"))
        yield database


@contextmanager
def _ending(server: subprocess.Popen[bytes]) -> Iterator[None]:
    try:
        yield
    finally:
        server.terminate()
        server.wait(timeout=60)


def _wait(ask: Any) -> None:
    """Wait until a server answers."""
    for _ in range(150):
        try:
            ask()
        except RuntimeError:
            time.sleep(0.2)
        else:
            return
    raise RuntimeError("a database did not start within 30 s")
