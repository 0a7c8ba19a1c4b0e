@{about}#
# risk(patients) returns a data frame with a row per patient: the risk, the predictors whose value
# was missing or unknown and had to be replaced, and those outside the range of the development
# data.

risk <- local({
  model <- @{model}

  field <- function(items, place) unlist(lapply(items, `[[`, place))
  mark <- function(marks, where, name)
    ifelse(where, paste0(marks, ifelse(marks == "", "", "; "), name), marks)
  text_of <- function(x) {
    text <- if (is.logical(x)) ifelse(x, "True", "False")
      else if (is.numeric(x)) sprintf("%.15g", x) else trimws(x)
    text[is.na(x) | text %in% ""] <- NA
    text
  }
  folded <- function(text) {
    low <- tolower(text)
    ifelse(grepl("[[:alpha:]]", low), gsub("[[:space:]_.-]+", "", low), low)
  }
  # What was measured: a number, or the number of a level; NA is missing or unknown.
  read <- function(patients, term) {
    if (!term$name %in% names(patients))
      stop("the model needs the column ", term$name, "; read.csv(check.names = FALSE) keeps names")
    x <- patients[[term$name]]
    if (is.factor(x)) x <- as.character(x)
    text <- text_of(x)
    text[text %in% unlist(term$codes)] <- NA
    alias <- as.numeric(field(term$aliases, 2))[match(text, field(term$aliases, 1))]
    if (term$kind == "categorical") {
      levels <- field(term$levels, 1)
      exact <- match(text, levels, incomparables = NA)
      alike <- length(levels) + 1 - match(folded(text), rev(folded(levels)), incomparables = NA)
      return(ifelse(!is.na(alias), alias + 1, ifelse(is.na(exact), alike, exact)))
    }
    if (is.character(x)) {
      x <- tolower(text)
      if (term$kind == "boolean") x <- ifelse(x == "true", "1", ifelse(x == "false", "0", x))
    }
    x <- ifelse(is.na(alias), suppressWarnings(as.numeric(x)), alias)
    measured <- !is.na(text)
    if (any(measured & !(abs(x) <= 1e100 & !is.na(x))))
      stop(term$name, " has a value that is no number")
    if (term$kind == "boolean" && any(measured & !x %in% c(0, 1)))
      stop(term$name, " has a value other than 0 and 1")
    ifelse(measured, x, NA)
  }
  # What is expected of a predictor that was not measured, from the others.
  stand_in <- function(term, measured) {
    equation <- term$imputation
    if (is.null(equation)) return(term$fill)
    total <- equation$intercept
    for (part in equation$weights) {
      place <- match(part$predictor, field(model$terms, "name"))
      other <- model$terms[[place]]
      value <- measured[[place]]
      if (other$kind == "categorical") {
        levels <- field(other$levels, 1)
        value <- ifelse(is.na(value), match(other$reference, levels), value)
        total <- total + part$weight * (value == match(part$level, levels))
      } else {
        total <- total + part$weight * ifelse(is.na(value), other$fill, value)
      }
    }
    pmin(pmax(total, equation$range[[1]]), equation$range[[2]])
  }
  # Curve j of a natural cubic spline; a straight line beyond the last knot.
  curve <- function(x, knots, j) {
    k <- length(knots)
    last <- knots[k]; before <- knots[k - 1]; knot <- knots[j]
    inside <- pmin(x, last); beyond <- pmax(x - last, 0)
    cubic <- pmax(inside - knot, 0)^3 - (last - knot) * pmax(inside - before, 0)^3 / (last - before)
    (cubic + 3 * (last - knot) * (before - knot) * beyond) / (last - knots[1])^2
  }

  function(patients) {
    log_odds <- rep(model$intercept, nrow(patients))
    imputed <- outside <- rep("", nrow(patients))
    measured <- lapply(model$terms, function(term) read(patients, term))
    for (i in seq_along(measured)) {
      term <- model$terms[[i]]
      own <- measured[[i]]
      missing <- is.na(own)
      if (term$kind == "categorical") {
        log_odds <- log_odds + ifelse(missing, 0, field(term$levels, 2)[own])
      } else {
        x <- ifelse(missing, stand_in(term, measured), own)
        knots <- as.numeric(unlist(term$knots))
        log_odds <- log_odds + term$coefficients[[1]] * x
        for (j in seq_along(term$coefficients)[-1])
          log_odds <- log_odds + term$coefficients[[j]] * curve(x, knots, j - 1)
        if (term$kind == "numeric")
          outside <- mark(outside, !missing & (x < term$range[[1]] | x > term$range[[2]]), term$name)
      }
      log_odds <- log_odds + term$missing * missing
      imputed <- mark(imputed, missing, term$name)
    }
    data.frame(risk = plogis(log_odds), imputed = imputed, outside = outside)
  }
})

# A test row: a copy that was damaged does not load.
local({
  patient <- data.frame(@{values})
  names(patient) <- c(@{names})
  stopifnot(abs(risk(patient)$risk - @{risk}) <= 1e-9)
})
