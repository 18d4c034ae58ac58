-- Which detectors work, and where not? The states that reports tell, by Android's API level: on, off, or why a detector
-- is not available.
select
  states.detector as detector,
  states.state as state,
  r.sdk as sdk,
  count(distinct r.id) as reports,
  count(distinct r.affected) as users
from all_reports as r
join states_of_files as states on states.id = r.id
group by states.detector, states.state, r.sdk
order by detector, users desc, state, sdk nulls first;
