-- On which devices? One row for each group and device, those with the most users first: the byDevice of
-- tracegen group --format json. For API levels, replace device by sdk.
select
  group_key,
  device,
  count(*) as stalls,
  count(distinct affected) as users,
  max(wall_ns) as longest_ns
from reports
where device is not null
group by group_key, device
order by group_key, users desc, stalls desc, device;
