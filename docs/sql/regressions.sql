-- What has become worse from one release to another? For each group, which share of the users of each release it hurt,
-- the change of that share, and an interval that has it with 95 % confidence: Newcombe's, of two intervals of Wilson.
-- Users of a release are those of whom anything of it came, also what does not count: with the detector startup on, all
-- that send. The duration has such an interval if both releases have 30 stalls.
--
-- A change is 'sure' if it stays significant at 5 % after Benjamini and Hochberg's correction for the number of groups,
-- 'likely' if it would be significant alone, else 'noise', as in tracegen compare. p is an upper bound of the p-value of
-- the test of two shares, at most 6 % above it (Abramowitz and Stegun, 7.1.13): SQL has no normal distribution.
with asked as (
  -- Write names of two versions between the quotes. Without them, these are the newest release and the one before it.
  select '' as old_version, '' as new_version
), releases as (
  select version_name, max(version_number) as version_number, count(distinct affected) as users
  from all_reports
  where version_name is not null
  group by version_name
), aged as (
  select version_name, users, row_number() over (order by version_number desc nulls last, version_name desc) as age
  from releases
), sides as (
  select version_name, users, 'old' as side
  from aged cross join asked
  where version_name = old_version or old_version = '' and age = 2
  union all
  select version_name, users, 'new' as side
  from aged cross join asked
  where version_name = new_version or new_version = '' and age = 1
), stalls as (
  select reports.group_key as group_key, sides.side as side, reports.method as method, reports.affected as affected,
    reports.wall_ns as wall_ns,
    cast(floor(sum(reports.wall_ns) over (partition by reports.group_key, sides.side)
      / count(*) over (partition by reports.group_key, sides.side)) as bigint) as mean
  from reports
  join sides on sides.version_name = reports.version_name
), means as (
  select group_key, side, max(method) as method, count(*) as stalls, count(distinct affected) as hurt,
    max(mean) as mean_ns, sum((wall_ns - mean) / 1e9 * ((wall_ns - mean) / 1e9)) as squares
  from stalls
  group by group_key, side
), pairs as (
  select group_key, max(method) as method,
    max(case when side = 'old' then hurt else 0 end) as old_hurt,
    max(case when side = 'new' then hurt else 0 end) as new_hurt,
    max(case when side = 'old' then stalls else 0 end) as old_stalls,
    max(case when side = 'new' then stalls else 0 end) as new_stalls,
    max(case when side = 'old' then mean_ns end) as old_mean_ns,
    max(case when side = 'new' then mean_ns end) as new_mean_ns,
    max(case when side = 'old' then squares else 0e0 end) as old_squares,
    max(case when side = 'new' then squares else 0e0 end) as new_squares
  from means
  group by group_key
), counted as (
  -- One look at the releases: ClickHouse and Spark compute a part of a query each time that it is named.
  select max(case when side = 'old' then users end) as old_users,
    max(case when side = 'new' then users end) as new_users
  from sides
  having count(*) = 2
), shares as (
  select pairs.*, old_users, new_users,
    pairs.old_hurt * 1e0 / old_users as p, pairs.new_hurt * 1e0 / new_users as q,
    3.841459e0 / old_users as a, 3.841459e0 / new_users as b,
    (pairs.old_hurt + pairs.new_hurt) * 1e0 / (old_users + new_users) as pooled,
    1e0 / old_users + 1e0 / new_users as each
  from pairs
  cross join counted
), wilson as (
  select shares.*,
    (p + a / 2 - sqrt(a * p * (1 - p) + a * a / 4)) / (1 + a) as p_low,
    (p + a / 2 + sqrt(a * p * (1 - p) + a * a / 4)) / (1 + a) as p_high,
    (q + b / 2 - sqrt(b * q * (1 - q) + b * b / 4)) / (1 + b) as q_low,
    (q + b / 2 + sqrt(b * q * (1 - q) + b * b / 4)) / (1 + b) as q_high,
    -- With Yates' correction; everybody was hurt in both if nothing varies.
    case when pooled >= 1 or abs(q - p) * 2 <= each then 0e0
      else (abs(q - p) - each / 2) * (abs(q - p) - each / 2) / (pooled * (1 - pooled) * each) end as z_squared
  from shares
), tested as (
  select wilson.*, 1.1283791670955126e0 * exp(-z_squared / 2)
    / (sqrt(z_squared / 2) + sqrt(z_squared / 2 + 1.2732395447351628e0)) as p_value
  from wilson
), ordered as (
  select tested.*, row_number() over (order by z_squared desc, group_key) as place, count(*) over () as tests
  from tested
), enough as (
  select ordered.*,
    coalesce(max(case when p_value <= 5e-2 * place / tests then place end) over (), 0) as last_sure
  from ordered
)
select group_key, method, old_hurt, old_users, new_hurt, new_users,
  q - p as change,
  q - p - sqrt((q - q_low) * (q - q_low) + (p_high - p) * (p_high - p)) as change_low,
  q - p + sqrt((q_high - q) * (q_high - q) + (p - p_low) * (p - p_low)) as change_high,
  p_value,
  case when place <= last_sure then 'sure' when p_value <= 5e-2 then 'likely' else 'noise' end as certainty,
  old_stalls, new_stalls, old_mean_ns, new_mean_ns,
  case when old_stalls >= 30 and new_stalls >= 30 then (new_mean_ns - old_mean_ns) / 1e9 - 1.959964e0 * sqrt(
    old_squares / (old_stalls - 1) / old_stalls + new_squares / (new_stalls - 1) / new_stalls) end as slower_low_s,
  case when old_stalls >= 30 and new_stalls >= 30 then (new_mean_ns - old_mean_ns) / 1e9 + 1.959964e0 * sqrt(
    old_squares / (old_stalls - 1) / old_stalls + new_squares / (new_stalls - 1) / new_stalls) end as slower_high_s
from enough
order by change desc, group_key;
