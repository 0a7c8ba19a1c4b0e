"""What the explorer's tests share: a page as the server sees it, and patients to upload."""

import json

import numpy as np
import pandas as pd


class Page:
    """What a browser's page is to the server: a session, settings and numbered questions."""

    def __init__(self, client, earlier=None):
        self.client = client
        opened = self.post("session", {"earlier": earlier}, session="").json()
        self.session, self.prepared, self.state = (
            opened[key] for key in ("session", "patients", "state")
        )
        self.number = 0

    def post(self, path, body, session=None, **headers):
        content = body if isinstance(body, bytes) else json.dumps(body)
        headers["x-session"] = self.session if session is None else session
        return self.client.post(f"/api/{path}", content=content, headers=headers)

    def ask(self, topic, *, status=200, number=None, values=None, tolerance=0.02, **changes):
        """Ask with some settings changed for good, and return the answer."""
        self.state |= changes
        self.number = self.number + 1 if number is None else number
        question = {"number": self.number, "state": self.state, "tolerance": tolerance}
        response = self.post(topic, question | {"values": values or {}})
        assert response.status_code == status, response.text
        return response.json()

    def load(self, text, outcome, event, **choice):
        """Upload a table, choose the outcome and go on with it."""
        content = text if isinstance(text, bytes) else text.encode()
        assert self.post("upload", content, **{"x-file-name": "patients.csv"}).status_code == 200
        answer = self.post("patients", {"outcome": outcome, "event": event} | choice)
        assert answer.status_code == 200, answer.text
        self.prepared, self.state = answer.json()["patients"], answer.json()["state"]


def table_of(n_rows, seed=0):
    """Patients with a number, codes, a factor and a binary column, some of them missing."""
    rng = np.random.default_rng(seed)
    age = rng.normal(60, 12, n_rows).round()
    grade = rng.integers(1, 4, n_rows)
    risk = 0.08 * (age - 60) + (grade == 3) + rng.logistic(size=n_rows)
    frame = pd.DataFrame(
        {
            "age": age,
            "sex": rng.choice(["f", "m"], n_rows),
            "grade": grade,
            "smoker": rng.integers(0, 2, n_rows),
            "fate": np.where(risk > 0, "dead", "alive"),
        }
    )
    frame.loc[3, "age"] = np.nan
    return frame
