package lake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

const (
	// nearDays is how many days may lie between two days with data, and between the last one and today, so that the later
	// one is believed at once.
	nearDays = 7
	// believedDays is how many days near each other a later group of days must have.
	believedDays = 3

	secondsOfDay = 24 * 3600
)

// ErrClock begins an error that says that the clock is far from the days with data.
var ErrClock = errors.New("the clock")

// Expire removes what was received more than a number of days ago.
//
// The clock of the machine alone does not decide: one start with a clock that is months ahead would remove all. Days
// with data are believed if they follow each other, see [today]; if the clock is far from them, Expire removes nothing
// and says so, unless trust is set.
func (l *Lake) Expire(ctx context.Context, days int, trust bool) (files int, err error) {
	clock := dayOf(l.Now())
	oldest := clock - uint16(min(int(clock), days))
	limit := time.Unix(int64(oldest)*secondsOfDay, 0).UTC()
	var old []string
	found, err := l.days(ctx, func(name string, received time.Time) {
		if received.Before(limit) {
			old = append(old, name)
		}
	})
	if err != nil {
		return 0, err
	}
	if err := checkClock(clock, found, "expire"); err != nil && !trust {
		if len(old) > 0 {
			l.Warn(err)
		}
		return 0, nil
	}
	for _, name := range old {
		if err := l.Remove(ctx, name); err != nil {
			return files, err
		}
		files++
	}
	return files, nil
}

// days returns the days with data. It calls each with the name of every object, and with when it was received.
func (l *Lake) days(ctx context.Context, each func(name string, received time.Time)) (map[uint16]bool, error) {
	found := map[uint16]bool{}
	for f, err := range l.Files(ctx, Reports) {
		if err != nil {
			return nil, err
		}
		if day, err := time.Parse(time.DateOnly, f.Date); err == nil { // else it is another program's
			found[dayOf(day)] = true
			each(f.Name, day)
		}
	}
	for _, prefix := range []string{Recordings, tombstones} {
		for o, err := range l.List(ctx, prefix) {
			if err != nil {
				return nil, err
			}
			if prefix == Recordings {
				found[dayOf(o.Modified)] = true
			}
			each(o.Name, o.Modified)
		}
	}
	return found, nil
}

// checkClock returns an error if the clock is far from the days with data; command is what --trust-clock is for.
func checkClock(clock uint16, found map[uint16]bool, command string) error {
	day := today(clock, found)
	if day == clock {
		return nil
	}
	return fmt.Errorf("%w says %s, and the last days with reports are about %s: nothing is removed; if the clock is "+
		"right, run tracegen collect %s --trust-clock", ErrClock, textOf(clock), textOf(day), command)
}

// today returns the day by which is decided what is too old: that of the clock if the last days with data are near it,
// else the last of these. A group of days with data that is far behind the group before counts when it has several
// days: until then a wrong clock may have made it.
func today(clock uint16, found map[uint16]bool) uint16 {
	var days []uint16
	for d := range found {
		days = append(days, d)
	}
	slices.Sort(days)
	last, size := 0, 0 // the believed day, and how many days its group or a later one has
	for k, d := range days {
		near := k > 0 && d-days[k-1] <= nearDays
		if size++; !near {
			size = 1
		}
		if last == 0 || near && int(days[k-1]) == last || size >= believedDays {
			last = int(d)
		}
	}
	if last > 0 && (int(clock) > last+nearDays || int(clock) < last-nearDays) {
		return uint16(last)
	}
	return clock
}

// dayOf returns the number of days since 1970.
func dayOf(t time.Time) uint16 { return uint16(t.Unix() / secondsOfDay) }

// textOf returns a day as the directories have it.
func textOf(day uint16) string {
	return time.Unix(int64(day)*secondsOfDay, 0).UTC().Format(time.DateOnly)
}
