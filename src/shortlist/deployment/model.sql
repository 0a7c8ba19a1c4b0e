@{about}--
-- Replace "patients" in the line that begins with WITH by your table. Columns of numbers must have a
-- type of numbers. The result has the risk (@{risk}); how many predictors were missing or unknown
-- and had to be replaced (@{imputed}); how many lie outside the range of the development data
-- (@{outside}); steps of the computation, whose names begin with @{p}; and all columns of the
-- table. A binary value other than 0, 1, true and false has the risk NULL. MySQL and MariaDB need
-- SET sql_mode = 'ANSI_QUOTES'; and SET NAMES utf8mb4 COLLATE utf8mb4_bin; which tells levels apart
-- by case and accents.
-- Test row: @{values} has the risk @{chance}.
WITH @{p}source AS (SELECT * FROM patients),
@{p}texts AS (
  SELECT@{texts}
    source.*
  FROM @{p}source source
),
@{p}measured AS (  -- numbers, or the number of a level; NULL is missing, -1 a wrong binary value
  SELECT@{measured}
    texts.*
  FROM @{p}texts texts
),
@{p}filled AS (
  SELECT@{filled}
    measured.*
  FROM @{p}measured measured
),
@{p}summed AS (
  SELECT
    @{log_odds} AS @{p}log_odds,
    filled.*
  FROM @{p}filled filled
)
SELECT
  CASE WHEN @{p}log_odds < -700 THEN 0 WHEN @{p}log_odds > 700 THEN 1
    ELSE 1 / (1 + EXP(-@{p}log_odds)) END AS @{risk},
  0@{n_imputed} AS @{imputed},
  0@{n_outside} AS @{outside},
  summed.*
FROM @{p}summed summed;
