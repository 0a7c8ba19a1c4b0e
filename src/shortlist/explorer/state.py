"""The settings of a page, which are part of every request, of links and of files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, ValidationError, model_validator

from ..errors import InvalidProblemError
from ..patients.record import Count, SharedFee
from ..patients.term import Name, StrictModel, describe_error

MOST_AMOUNT = 1e9  # above it, sums of prices lose their cents
MOST_FEES = 1000
_MOST_PREDICTORS = 1_000_000
Amount = Annotated[float, Field(ge=0, le=MOST_AMOUNT, allow_inf_nan=False)]


class State(StrictModel):
    """The settings of a session.

    Attributes
    ----------
    data : str
        Digest of the data that the settings are for.
    limit : {"budget", "count"}
        Which of `budget` and `count`, the number of predictors, limits the purchase.
    ridge : float
        Strength of the L2 penalty.
    must, never : tuple of str
        Predictors that must be bought, and those that cannot be measured.
    costs, fees
        The prices.
    adopted : tuple of str or None
        A selection that is shown instead of the best one.
    """

    version: Literal[1]
    data: str
    limit: Literal["budget", "count"]
    budget: Amount
    count: Annotated[int, Field(ge=0, le=_MOST_PREDICTORS)]
    ridge: Annotated[float, Field(ge=1e-4, le=1e4)]
    must: tuple[Name, ...]
    never: tuple[Name, ...]
    costs: dict[Name, Amount]
    fees: Annotated[tuple[SharedFee, ...], Field(max_length=MOST_FEES)]
    adopted: tuple[Name, ...] | None

    @model_validator(mode="after")
    def _check(self) -> State:
        check_amounts("fees", (fee.amount for fee in self.fees))
        both = set(self.must).intersection(self.never)
        if both:
            raise ValueError(f"{min(both)} is both required and unavailable")
        return self

    def without_adoption(self) -> State:
        """Return the settings under which the best selection is shown."""
        return self.model_copy(update={"adopted": None})

    def with_prices_of_limit(self) -> State:
        """Return the settings with the prices that the limit counts: 1 each if it is a number."""
        if self.limit == "budget":
            return self
        return self.model_copy(update={"costs": dict.fromkeys(self.costs, 1.0), "fees": ()})

    def limits(self) -> dict[str, Any]:
        """Return prices and limits as the parameters of a problem or a model."""
        return {
            "budget": self.budget if self.limit == "budget" else None,
            "costs": self.costs,
            "max_features": self.count if self.limit == "count" else None,
            "fees": [(fee.amount, fee.members) for fee in self.fees],
            "include": self.must,
            "exclude": self.never,
        }


class PageRequest(StrictModel):
    """A request of the page: its number, the settings, and further arguments.

    Attributes
    ----------
    number : int
        Counts the requests of a page; a higher one supersedes a lower one on the same topic.
    state : State
        The settings.
    tolerance : float
        How much worse alternatives may be, relatively.
    values : dict
        One patient, by column.
    """

    number: Count
    state: State
    tolerance: Annotated[float, Field(ge=0, le=0.5)] = 0.02
    values: dict[str, str | float | bool | None] = Field(default_factory=dict)


Form = TypeVar("Form", bound=StrictModel)


def parse(kind: type[Form], text: str | bytes) -> Form:
    """Parse JSON from a page or a file; raise with one sentence if it is wrong."""
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        raise InvalidProblemError(
            f"The settings cannot be used ({describe_error(error)})."
        ) from None


def check_amounts(place: str, amounts: Iterable[float]) -> None:
    """Raise if one of the prices is so large that sums are no longer exact enough."""
    if any(amount > MOST_AMOUNT for amount in amounts):
        raise InvalidProblemError(
            f"{place}: no price may be above {MOST_AMOUNT:.0f}; write them in a larger unit."
        )


def check_names(state: State, predictors: Sequence[str]) -> None:
    """Raise unless the settings are about these predictors, and all of them."""
    known = set(predictors)
    named = {*state.must, *state.never, *(state.adopted or ())}
    named.update(member for fee in state.fees for member in fee.members)
    if not named <= known or set(state.costs) != known:
        raise InvalidProblemError("These settings belong to data with other predictors.")
