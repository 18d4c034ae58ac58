-- The view that the other queries read: each report once, of builds whose mapping the collector had.
-- For DuckDB; run it in the directory that has the store, or replace 'collected' by its path or by s3://BUCKET/PATH.
--
-- A report is twice in the files only in the moment in which the collector merges files. "named" is false while the
-- mapping of the build is missing: tracegen group skips these reports, too.
--
-- Spark:    replace read_parquet(...) by parquet.`collected/reports`, and set
--           spark.sql.sources.partitionColumnTypeInference.enabled to false.
-- BigQuery: make an external table with hive partitioning, prefix gs://BUCKET/PATH/reports and the keys
--           {package:STRING}/{mapping:STRING}/{date:DATE}, and replace read_parquet(...) by its name.
create or replace view reports as
select *
from (
  select *, row_number() over (partition by id order by named desc, received) as copy
  from read_parquet('collected/reports/*/*/*/*.parquet', hive_partitioning = true,
    hive_types = {'package': varchar, 'mapping': varchar, 'date': date})
) as files
where copy = 1 and named;
