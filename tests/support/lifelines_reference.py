"""What lifelines makes of the data sets, for a test: it needs pandas 2, the tests run with 3.

    python -m venv /tmp/lifelines
    /tmp/lifelines/bin/pip install lifelines==0.30.3 scikit-survival==0.28.0
    /tmp/lifelines/bin/python tests/support/lifelines_reference.py > tests/estimator/lifelines.json

Its penalty is penalizer / 2 times the squared length, for the mean of the log-likelihood over the
rows, and for columns that it brings to standard deviation 1: ours divided by the number of rows.
Ties are Efron's, the only ones that it has.
"""

from __future__ import annotations

import json

from survival_data import DATA_SETS, load_survival

RIDGES = (1e-4, 1.0)


def main() -> None:
    from lifelines import CoxPHFitter

    found: dict[str, dict[str, object]] = {}
    for name in DATA_SETS:
        X, y = load_survival(name)
        event, time = y.dtype.names
        table = X.assign(_time=y[time], _event=y[event])
        for ridge in RIDGES:
            model = CoxPHFitter(penalizer=ridge / len(X))
            model.fit(table, "_time", "_event", fit_options={"precision": 1e-14})
            found.setdefault(name, {})[str(ridge)] = {
                "penalised_log_likelihood": model.log_likelihood_,
                "coef": model.params_.tolist(),
            }
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
