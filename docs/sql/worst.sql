-- Which stall hurts most, and since when? Groups by the number of users times the average duration, as tracegen group
-- ranks them. A report without a user counts as one user for each recording.
with placed as (
  select group_key, report_kind, method, recording, affected, wall_ns, version_name, day,
    count(*) over (partition by group_key) as size,
    row_number() over (partition by group_key order by wall_ns) as place,
    row_number() over (partition by group_key order by wall_ns desc, recording_sha256, recording, id) as worst,
    row_number() over (partition by group_key order by version_number nulls last, version_name nulls last) as oldest,
    row_number() over (partition by group_key order by version_number desc nulls last, version_name desc nulls last)
      as newest
  from reports
), sums as (
  select
    group_key,
    max(case when worst = 1 then report_kind end) as report_kind,
    max(case when worst = 1 then method end) as method,
    count(*) as stalls,
    count(distinct recording) as recordings,
    count(distinct affected) as users,
    cast(sum(wall_ns) as bigint) as total_ns,
    cast(floor(sum(wall_ns) / count(*)) as bigint) as mean_ns,
    min(case when place * 2 >= size then wall_ns end) as median_ns,
    min(case when place * 10 >= size * 9 then wall_ns end) as p90_ns,
    max(wall_ns) as longest_ns,
    max(case when oldest = 1 then version_name end) as first_version,
    max(case when newest = 1 then version_name end) as last_version,
    min(day) as first_day,
    max(day) as last_day
  from placed
  group by group_key
)
select *, users * mean_ns / 1e9 as score
from sums
order by users * mean_ns desc, group_key;
