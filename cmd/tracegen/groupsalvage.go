package main

import (
	"fmt"

	"github.com/tracegen/tracegen/internal/fleet/group"
)

// checkSalvage checks that --salvage names another store than --store.
func (g *grouping) checkSalvage() error {
	if g.salvage == "" {
		return nil
	}
	if g.store == "" {
		return misuse("--salvage needs a new store for what it can read: name it by --store")
	}
	return checkDistinct([]target{{"--salvage", g.salvage}, {"--store", g.store}})
}

// save adds what can be read of the damaged store to the other one. lost says what was lost; it is nil if nothing was.
func (g *grouping) save(store *group.Store) (lost, err error) {
	if g.salvage == "" {
		return nil, nil
	}
	saved, err := store.Salvage(g.salvage)
	if err != nil {
		return nil, err
	}
	for _, d := range saved.Damage {
		g.con.warn("%s: at offset %d: %s", d.File, d.Offset, d.What)
	}
	switch {
	case saved.Places == 0:
		g.con.warn("%s is not damaged; all of it was added", g.salvage)
		return nil, nil
	case saved.Unknown:
		lost = fmt.Errorf("%s is damaged in %d places; %d recordings and %d stalls were saved, and it is not known how many "+
			"were lost", g.salvage, saved.Places, saved.Recordings, saved.Stalls)
	case saved.LostRecordings+saved.LostStalls > 0:
		lost = fmt.Errorf("%s is damaged in %d places; %d recordings and %d stalls were saved, %d recordings and %d stalls "+
			"were lost", g.salvage, saved.Places, saved.Recordings, saved.Stalls, saved.LostRecordings, saved.LostStalls)
	default:
		g.con.warn("%s is damaged in %d places; all recordings and stalls were saved", g.salvage, saved.Places)
		return nil, nil
	}
	return lost, nil
}
