-- 1 if views take no conditions (ClickHouse 18.16) and the user may change that.
SELECT countIf(name = 'enable_optimize_predicate_expression' AND value = '0') > 0
  AND countIf(name = 'readonly' AND value = '1') = 0
FROM system.settings
