-- Since which version is a stall there? One row for each group and build, the oldest version of a group first: the
-- byVersion of tracegen group --format json.
select
  group_key,
  version_name,
  version_code,
  build_id,
  count(*) as stalls,
  count(distinct affected) as users,
  min(day) as first_day
from reports
where version_name is not null or version_code is not null or build_id is not null
group by group_key, version_name, version_code, version_number, build_id
order by group_key, version_number nulls last, version_name nulls first, build_id nulls first, version_code nulls first;
