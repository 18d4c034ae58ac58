"""Runs SQL with an engine: query.py ENGINE. Standard input has a JSON object with statements, which are run in their
order, and queries. It prints two lists, of the rows of each query and of the seconds that it took; values are texts as
the engine writes them, null is None."""
import atexit
import json
import sys
import time

NONE = "None"


def split(sql):
    """Each statement ends with a semicolon at the end of its line."""
    return [s for s in (part.strip().rstrip(";") for part in sql.split(";\n")) if s]


def duckdb():
    import duckdb
    c = duckdb.connect()
    # Else it prints how far a question is that takes longer than two seconds, between the answers.
    c.execute("set enable_progress_bar = false")
    # As text: Python lacks a module for times with a zone.
    rows = lambda sql: c.execute("select cast(columns(*) as varchar) from (" + sql + "\n)").fetchall()
    return c.execute, lambda sql: [[NONE if v is None else v for v in row] for row in rows(sql)]


def clickhouse():
    from chdb.session import Session
    s = Session()

    def rows(sql):
        table = json.loads(str(s.query(sql, "JSONCompactStrings")))
        return [[NONE if v == "ᴺᵁᴸᴸ" else v for v in row] for row in table["data"]]
    return s.query, rows


def spark():
    from pyspark.sql import SparkSession
    # A cluster of its own with two workers, which are processes.
    s = (SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
         .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
         .config("spark.sql.shuffle.partitions", "8").config("spark.ui.showConsoleProgress", "false")
         .config("spark.sql.session.timeZone", "UTC").getOrCreate())
    atexit.register(s.stop)
    text = lambda v: NONE if v is None else str(v).lower() if isinstance(v, bool) else str(v)
    return s.sql, lambda sql: [[text(v) for v in row] for row in s.sql(sql).collect()]


asked = json.load(sys.stdin)
execute, rows = {"duckdb": duckdb, "clickhouse": clickhouse, "spark": spark}[sys.argv[1]]()
for statement in split(asked["statements"]):
    execute(statement)
answers, seconds = [], []
for query in asked["queries"]:
    began = time.monotonic()
    answers.append(rows(split(query + "\n")[0]))
    seconds.append(time.monotonic() - began)
print(json.dumps([answers, seconds]))
