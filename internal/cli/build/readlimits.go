package build

import (
	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/cli"
)

// readLimits holds the options that limit what is read of inputs.
type readLimits struct {
	maxClass, maxNested cli.ByteSize
	flat                bool // record opens nested archives by itself
}

func (r *readLimits) rows() []cli.Option {
	r.maxClass, r.maxNested = input.DefaultMaxClass, input.DefaultMaxNested
	return []cli.Option{
		{Name: "max-class-size", Flag: cli.Custom(&r.maxClass), Commands: classWork | byStrip | byVerify,
			WithSlice: cli.SliceAgrees,
			Help:      "copy entries named .class that are larger, and do not read them"},
		{Name: "max-nested-size", Flag: cli.Custom(&r.maxNested), Commands: classWork | byStrip | byVerify,
			WithSlice: cli.SliceAgrees,
			Help:      "copy archives in archives that are larger, uncompressed, and do not work on the classes in them"},
	}
}

func (r *readLimits) options() pipeline.Reading {
	return pipeline.Reading{MaxClass: int64(r.maxClass), MaxNested: int64(r.maxNested), Flat: r.flat}
}
