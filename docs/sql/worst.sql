-- Which stall hurts most? Groups by the number of users times the average duration, as tracegen group ranks them.
-- A report without a user counts as one user for each recording.
--
-- Spark:    try_cast is the same; percentile_disc(0.5) within group (order by wall_ns) for quantile_disc(wall_ns, 0.5).
-- BigQuery: safe_cast for try_cast, int64 for bigint, approx_quantiles(wall_ns, 100)[offset(50)] for quantile_disc.
select
  group_key,
  max_by(report_kind, wall_ns) as report_kind,
  max_by(method, wall_ns) as method,
  count(*) as stalls,
  count(distinct recording) as recordings,
  count(distinct coalesce(user_id, recording)) as users,
  cast(sum(wall_ns) as bigint) as total_ns,
  cast(floor(sum(wall_ns) / count(*)) as bigint) as mean_ns,
  quantile_disc(wall_ns, 0.5) as median_ns,
  quantile_disc(wall_ns, 0.9) as p90_ns,
  max(wall_ns) as longest_ns,
  count(distinct coalesce(user_id, recording)) * floor(sum(wall_ns) / count(*)) / 1e9 as score,
  min_by(version_name, try_cast(version_code as bigint)) as first_version,
  max_by(version_name, try_cast(version_code as bigint)) as last_version,
  min(began) as since,
  max(began) as until
from reports
group by group_key
order by score desc, group_key;
