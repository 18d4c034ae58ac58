-- Two views, over those of duckdb.sql, spark.sql or clickhouse.sql. all_reports has each report and each stall of a
-- recording once, of builds whose mapping was there; its column not_counted is null if it counts. reports has those
-- that count.
--
-- A report may be in the files twice: two collectors may have taken it, and files are merged. The recording that has
-- its stall shows more of it, also whether it counts. "named" is false while the mapping of the build is missing:
-- tracegen group skips these reports, too.
--
-- The hints are for Spark, which sorts all rows by their IDs without them: the reports that are there twice, and those
-- that are covered, are few. If they are millions, set spark.sql.optimizer.disableHints = true.
--
-- The files say why a report does not count by itself: 'figures', 'normal', 'suspended', 'run' or 'idle'. An incident
-- is 'covered' if half of it or more lies in a stall of the same thread that counts: the stall is the same trouble, and
-- has the calls. Both reports must be there to see that; they may come on different days.
create temporary view all_reports as
with twice as (
  select id, 1 as found from rows_of_files group by id having count(*) > 1
), copies as (
  select /*+ broadcast(twice) */ rows_of_files.*,
    row_number() over (partition by rows_of_files.id order by case when recording_sha256 is null then 1 else 0 end,
      named desc, received_ms, wall_ns, group_key) as copy
  from rows_of_files
  join twice on twice.id = rows_of_files.id
), once as (
  select /*+ broadcast(twice) */ rows_of_files.*, 1 as copy
  from rows_of_files
  left join twice on twice.id = rows_of_files.id
  where named and coalesce(twice.found, 0) = 0
  union all
  select * from copies where copy = 1 and named
), timed as (
  select id, recording, recording_sha256, thread, not_counted, coalesce(duration_ns, 0) as lasted_ns,
    report_kind in ('message', 'idle-handler', 'input') as stall, began_ms * 1000000 as begin_ns
  from once
  -- Nanoseconds of a clock that is very wrong do not fit into 64 bits.
  where began_ms between 1 and 4611686018427
), spans as (
  select *, begin_ns + lasted_ns as end_ns from timed
), covered as (
  select distinct incident.id as id, 1 as found
  from spans as stall
  join spans as incident on incident.recording = stall.recording and incident.thread = stall.thread
  -- An incident of a recording was compared with its stalls when it was read.
  where not incident.stall and incident.recording_sha256 is null and stall.stall and stall.not_counted is null
    and least(stall.end_ns, incident.end_ns) >= greatest(stall.begin_ns, incident.begin_ns)
    and (least(stall.end_ns, incident.end_ns) - greatest(stall.begin_ns, incident.begin_ns)) * 2
      >= incident.end_ns - incident.begin_ns
)
select /*+ broadcast(covered) */
  once.id as id, once.report_kind as report_kind, once.detector as detector, once.group_key as group_key,
  once.kind as kind, once.verdict as verdict, once.title as title, once.method as method, once.hot_path as hot_path,
  once.scene as scene, once.foreground as foreground, once.thread as thread, once.recording as recording,
  once.user_id as user_id, once.session as session, once.app as app, once.version_name as version_name,
  once.version_code as version_code, once.version_number as version_number, once.build_id as build_id,
  once.mapping_digest as mapping_digest, once.manufacturer as manufacturer, once.device as device, once.abi as abi,
  once.sdk as sdk, once.began as began, once.began_ms as began_ms, once.day as day, once.received as received,
  once.received_ms as received_ms, once.duration_ns as duration_ns, once.suspended_ns as suspended_ns,
  once.wall_ns as wall_ns, once.cpu_ns as cpu_ns, once.gc_ns as gc_ns, once.ended as ended, once.report as report,
  once.recording_sha256 as recording_sha256, once.number as number, once.file as file,
  once.limit_of as limit_of, once.confirmed_by as confirmed_by,
  once.package as package, once.mapping as mapping, once.date as date,
  coalesce(once.user_id, once.recording) as affected,
  case when once.not_counted is null and coalesce(covered.found, 0) = 1 then 'covered' else once.not_counted end
    as not_counted
from once
left join covered on covered.id = once.id;

create temporary view reports as
select *
from all_reports
where not_counted is null;
