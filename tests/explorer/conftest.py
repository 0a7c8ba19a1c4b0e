"""An explorer without a network."""

import pytest
from explorer_page import Page
from starlette.testclient import TestClient

from shortlist.explorer import example_patients
from shortlist.explorer.app import make_app


@pytest.fixture(scope="session")
def prepared():
    return example_patients()


@pytest.fixture
def client(prepared):
    with TestClient(make_app(prepared), base_url="http://127.0.0.1") as client:
        yield client


@pytest.fixture
def page(client):
    return Page(client)
