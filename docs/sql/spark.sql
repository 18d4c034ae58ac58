-- The rows of the files, for Spark 4. Replace 'collected' by the path of the store, or by s3a://BUCKET/PATH. A column
-- that old files lack is null. The session needs spark.sql.session.timeZone = UTC.
create temporary view files (
  id string, report_kind string, detector string, group_key string, named boolean, kind string, verdict string,
  title string, method string, hot_path array<string>, scene string, foreground boolean, thread string,
  recording string, user_id string, session string, app string, version_name string, version_code string,
  build_id string, mapping_digest string, manufacturer string, device string, abi string, sdk bigint,
  began timestamp, received timestamp, duration_ns bigint, suspended_ns bigint, wall_ns bigint, cpu_ns bigint,
  gc_ns bigint, ended boolean, not_counted string, report string, recording_sha256 string, number int,
  file string, limit_of string, confirmed_by string, package string, mapping string, date string
) using parquet options (path 'collected/reports');

create temporary view rows_of_files as
select *, try_cast(version_code as bigint) as version_number, unix_millis(began) as began_ms,
  unix_millis(received) as received_ms,
  case when unix_millis(began) between 1 and 4102444799999 then date_format(began, 'yyyy-MM-dd') end as day
from files;

-- The states of the detectors of each report; twice of one that is in the files twice.
create temporary view states_of_files as
select id,
  explode(from_json(get_json_object(report, '$.detectors'), 'map<string, string>')) as (detector, state)
from files;
