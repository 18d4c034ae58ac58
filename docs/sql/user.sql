-- What has one user met? Everything that came of the user, the oldest first, also what does not count.
with asked as (
  -- Write a user_id between the quotes. Without it, this is the user who waited longest.
  select '' as user_id
), waits as (
  select affected, sum(wall_ns) as waited from reports group by affected
), chosen as (
  select affected, row_number() over (order by waited desc, affected) as place from waits
)
select r.began_ms as began_ms, r.day as day, r.version_name as version_name, r.device as device, r.scene as scene,
  r.report_kind as report_kind, r.wall_ns as wall_ns, r.verdict as verdict, r.method as method,
  r.group_key as group_key, r.not_counted as not_counted, r.session as session, r.id as id
from all_reports as r
cross join asked
cross join (select affected from chosen where place = 1) as most
where r.affected = case when asked.user_id = '' then most.affected else asked.user_id end
order by r.began_ms nulls last, r.id;
