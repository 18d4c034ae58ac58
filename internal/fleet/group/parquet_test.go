package group

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
)

// TestWarehouseRanksTheSame exports a fleet and has a database engine rank it, as a team with a data warehouse
// would.
func TestWarehouseRanksTheSame(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stalls.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	table, s := NewTable(f), NewStalls()
	s.Each = table.Add
	for _, e := range made(rand.New(rand.NewPCG(7, 7)), 400) {
		if err := s.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Groups()
	if err := errors.Join(err, table.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	rows, err := oracle.QueryDuckDB(context.Background(), filepath.Dir(path),
		"create view t as select * from read_parquet('"+filepath.Base(path)+"')",
		`select group_key, count(*), count(distinct coalesce(user_id, recording_sha256)) users,
		sum(wall_ns)::bigint, max(wall_ns), count(cpu_ns), epoch_ms(min(began)), count(distinct version_name), any_value(hot_path[1])
		from t group by group_key order by users * floor(avg(wall_ns)) desc, group_key`)
	oracle.Require(t, err)
	if len(rows) != len(got.Groups) || len(rows) < 5 {
		t.Fatalf("%d groups, DuckDB has %d", len(got.Groups), len(rows))
	}
	for i, g := range got.Groups {
		want := fmt.Sprint(g.Key, " ", g.Stalls, " ", g.Users, " ", g.Total.Nanoseconds(), " ", g.Longest.Nanoseconds(),
			" 0 ", g.Since.UnixMilli(), " ", g.Versions, " a.B.c")
		if row := strings.Join(rows[i], " "); row != want {
			t.Errorf("group %d is\n%s, DuckDB says\n%s", i+1, want, row)
		}
	}
}
