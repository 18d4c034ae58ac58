-- In which scenes? One row for each group and scene, those with the most users first: the byScene of
-- tracegen group --format json.
select
  group_key,
  scene,
  count(*) as stalls,
  count(distinct affected) as users,
  max(wall_ns) as longest_ns
from reports
where scene is not null
group by group_key, scene
order by group_key, users desc, stalls desc, scene;
