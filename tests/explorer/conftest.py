"""An explorer without a network."""

import pytest
from explorer_page import Page
from starlette.testclient import TestClient

from shortlist.explorer import embedded_cohort
from shortlist.explorer.app import make_app


@pytest.fixture(scope="session")
def cohort():
    return embedded_cohort()


@pytest.fixture
def client(cohort):
    with TestClient(make_app(cohort), base_url="http://127.0.0.1") as client:
        yield client


@pytest.fixture
def page(client):
    return Page(client)
