"""
Breast cancer: how many of thirty measurements are needed?
==========================================================

Thirty measurements of cell nuclei, 569 tumours (the Wisconsin data of scikit-learn). Which few of
them tell malignant from benign tumours, and what does each further one gain?
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shortlist as sl

cells, benign = load_breast_cancer(return_X_y=True, as_frame=True)
malignant = benign == 0

# %%
# The best five measurements
# --------------------------
# ``BestSubsetClassifier`` is a scikit-learn classifier. The ridge penalty acts on the coefficients
# as they are, so the columns are brought to one scale first, inside a pipeline, so that
# cross-validation scales each fold by its own training rows.

model = make_pipeline(
    StandardScaler().set_output(transform="pandas"),
    sl.BestSubsetClassifier(max_features=5, ridge=1.0),
).fit(cells, malignant)
classifier = model[-1]
pd.Series(classifier.coef_[0], index=cells.columns, name="coefficient")[
    classifier.selected_features_
].to_frame().round(2)

# %%
# The solution says what is proven: no other five columns have a lower penalised loss.

classifier.solution_

# %%
# What each further measurement gains
# -----------------------------------
# The area under the ROC curve on rows that had no part in the fit, in five folds, beside that of a
# logistic regression on all thirty columns. ``C`` is one over the ridge.

folds = StratifiedKFold(5, shuffle=True, random_state=0)


def cross_validated_auc(classifier):
    """Return the mean area under the curve over the folds."""
    scaled = make_pipeline(StandardScaler(), classifier)
    return cross_val_score(scaled, cells, malignant, cv=folds, scoring="roc_auc").mean()


numbers = [1, 2, 3, 4, 5, 6]
best = [cross_validated_auc(sl.BestSubsetClassifier(max_features=n, ridge=1.0)) for n in numbers]
everything = cross_validated_auc(LogisticRegression(C=1.0, max_iter=1000))

figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.plot(numbers, best, marker="o", label="best subset")
ax.axhline(everything, color="grey", linestyle="--", label="all 30 measurements")
ax.set(xlabel="number of measurements", ylabel="cross-validated AUC")
ax.legend()
plt.show()
