-- What causes ANRs? Messages beyond the system's limit, by their cause, those with the most users first. Also those
-- that a slow message covers: its group has the calls. confirmed_by says how the system has confirmed them; without it,
-- these are messages beyond the limit only.
select
  group_key,
  kind,
  method,
  limit_of,
  confirmed_by,
  count(*) as anrs,
  count(distinct affected) as users,
  max(wall_ns) as longest_ns,
  min(day) as first_day
from all_reports
where report_kind = 'anr' and (not_counted is null or not_counted = 'covered')
group by group_key, kind, method, limit_of, confirmed_by
order by users desc, anrs desc, group_key, kind, method, limit_of nulls first, confirmed_by nulls first;
