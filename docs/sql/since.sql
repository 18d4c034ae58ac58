-- Since which version is a stall there? One row for each group and version, the oldest version of a group first: the
-- byVersion of tracegen group --format json.
--
-- BigQuery: safe_cast for try_cast, and int64 for bigint.
select
  group_key,
  version_name,
  version_code,
  count(*) as stalls,
  count(distinct coalesce(user_id, recording)) as users,
  min(began) as since
from reports
where version_name is not null or version_code is not null
group by group_key, version_name, version_code
order by group_key, try_cast(version_code as bigint), version_name;
