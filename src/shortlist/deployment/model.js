@{about}
@{predict}
const model = @{model};

// A test row: a copy that was damaged does not load.
const testRow = @{test};
const testRisk = predict(model, Object.fromEntries(testRow.patient)).risk;
if (!(Math.abs(testRisk - testRow.risk) <= 1e-9)) {
  throw new Error("the model does not give the risk of its test row");
}
if (typeof module !== "undefined") module.exports = { model, predict };
