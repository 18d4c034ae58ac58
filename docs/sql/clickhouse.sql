-- The rows of the files, for ClickHouse 25.9 or newer, also as chdb. Replace file('collected/...') by the path of the
-- store, or by s3('https://BUCKET.s3.amazonaws.com/PATH/...'). A column that old files lack is null.
create temporary view files as
select *
from file('collected/reports/*/*/*/*.parquet', Parquet, '
  id String, report_kind String, detector Nullable(String), group_key String, named Bool, kind String, verdict String,
  title String, method Nullable(String), hot_path Array(String), scene Nullable(String), foreground Nullable(Bool),
  thread Nullable(String), recording String, user_id Nullable(String), session Nullable(String), app Nullable(String),
  version_name Nullable(String), version_code Nullable(String), build_id Nullable(String),
  mapping_digest Nullable(String), manufacturer Nullable(String), device Nullable(String), abi Nullable(String),
  sdk Nullable(Int64), began Nullable(DateTime64(3, \'UTC\')), received DateTime64(3, \'UTC\'),
  duration_ns Nullable(Int64), suspended_ns Nullable(Int64), wall_ns Int64, cpu_ns Nullable(Int64),
  gc_ns Nullable(Int64), ended Nullable(Bool), not_counted Nullable(String), report String,
  recording_sha256 Nullable(String), number Nullable(Int32), file Nullable(String), limit_of Nullable(String),
  confirmed_by Nullable(String), package String, mapping String, date String');

create temporary view rows_of_files as
select *, toInt64OrNull(version_code) as version_number, toUnixTimestamp64Milli(began) as began_ms,
  toUnixTimestamp64Milli(received) as received_ms,
  case when began_ms between 1 and 4102444799999 then toString(toDate32(began)) end as day
from files;

-- The states of the detectors of each report; twice of one that is in the files twice.
create temporary view states_of_files as
select id, tupleElement(pair, 1) as detector, tupleElement(pair, 2) as state
from (select id, arrayJoin(JSONExtractKeysAndValues(report, 'detectors', 'String')) as pair from files);
