-- The rows of the files, for DuckDB 2. Run it in the directory that has the store, or replace 'collected' by
-- its path or by s3://BUCKET/PATH. A column that old files lack is null, and a store without files has no rows.
create temporary view rows_of_files as
with files as (
  select null::varchar as id, null::varchar as report_kind, null::varchar as detector, null::varchar as group_key,
    null::boolean as named, null::varchar as kind, null::varchar as verdict, null::varchar as title,
    null::varchar as method, null::varchar[] as hot_path, null::varchar as scene, null::boolean as foreground,
    null::varchar as thread, null::varchar as recording, null::varchar as user_id, null::varchar as session,
    null::varchar as app, null::varchar as version_name, null::varchar as version_code, null::varchar as build_id,
    null::varchar as mapping_digest, null::varchar as manufacturer, null::varchar as device, null::varchar as abi,
    null::bigint as sdk, null::timestamp as began, null::timestamp as received, null::bigint as duration_ns,
    null::bigint as suspended_ns, null::bigint as wall_ns, null::bigint as cpu_ns, null::bigint as gc_ns,
    null::boolean as ended, null::varchar as not_counted, null::varchar as report,
    null::varchar as recording_sha256, null::int as number, null::varchar as file, null::varchar as limit_of,
    null::varchar as confirmed_by, null::varchar as package, null::varchar as mapping, null::varchar as date
  where false
  union all by name
  select * from read_parquet('collected/reports/*/*/*/*.parquet', allow_empty = true, union_by_name = true,
    hive_partitioning = true, hive_types_autocast = false)
)
select *, try_cast(version_code as bigint) as version_number, epoch_ms(began) as began_ms,
  epoch_ms(received) as received_ms,
  case when epoch_ms(began) between 1 and 4102444799999 then strftime(began, '%Y-%m-%d') end as day
from files;

-- The states of the detectors of each report; twice of one that is in the files twice.
create temporary view states_of_files as
select id, state.key as detector, state.value as state
from (
  select id, unnest(map_entries(cast(report -> '$.detectors' as map(varchar, varchar)))) as state
  from rows_of_files
  where report <> ''
);
