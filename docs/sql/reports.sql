-- Two views. all_reports has each report once, of builds whose mapping the collector had; its column not_counted is
-- null if the report counts. reports has those that count: the other queries read it.
-- For DuckDB; run it in the directory that has the store, or replace 'collected' by its path or by s3://BUCKET/PATH.
--
-- A report is twice in the files only in the moment in which the collector merges files. "named" is false while the
-- mapping of the build is missing: tracegen group skips these reports, too.
--
-- The files say why a report does not count by itself: 'figures', 'normal', 'suspended', 'run' or 'idle'. An incident
-- is 'covered' if half of it or more lies in a stall of the same thread that counts: the stall is the same trouble, and
-- has the calls. Both reports must be there to see that; they may come on different days.
--
-- Spark:    replace read_parquet(...) by parquet.`collected/reports`, and set
--           spark.sql.sources.partitionColumnTypeInference.enabled to false; unix_millis for epoch_ms.
-- BigQuery: make an external table with hive partitioning, prefix gs://BUCKET/PATH/reports and the keys
--           {package:STRING}/{mapping:STRING}/{date:DATE}, and replace read_parquet(...) by its name; except for exclude,
--           and unix_millis for epoch_ms.
create or replace view all_reports as
with files as (
  select *, row_number() over (partition by id order by named desc, received) as copy
  from read_parquet('collected/reports/*/*/*/*.parquet', hive_partitioning = true, union_by_name = true,
    hive_types = {'package': varchar, 'mapping': varchar, 'date': date})
), once as (
  select * from files where copy = 1 and named
), timed as (
  select id, recording, thread, not_counted, coalesce(duration_ns, 0) as duration_ns,
    report_kind in ('message', 'idle-handler', 'input') as stall,
    -- Null for a clock that is so wrong that nanoseconds do not fit into 64 bits.
    case when epoch_ms(began) between 1 and 4611686018427 then epoch_ms(began) * 1000000 end as begin_ns
  from once
), spans as (
  select *, begin_ns + duration_ns as end_ns from timed where begin_ns is not null
), covered as (
  select distinct incident.id
  from spans as incident
  join spans as stall on stall.recording = incident.recording and stall.thread = incident.thread
    and least(stall.end_ns, incident.end_ns) >= greatest(stall.begin_ns, incident.begin_ns)
    and (least(stall.end_ns, incident.end_ns) - greatest(stall.begin_ns, incident.begin_ns)) * 2
      >= incident.end_ns - incident.begin_ns
  where not incident.stall and stall.stall and stall.not_counted is null
)
select once.* exclude (copy, not_counted),
  case when once.not_counted is null and covered.id is not null then 'covered' else once.not_counted end as not_counted
from once
left join covered on covered.id = once.id;

create or replace view reports as
select *
from all_reports
where not_counted is null;
