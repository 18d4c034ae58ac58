package main

import (
	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/build/pipeline"
)

// readLimits holds the options that limit what is read of inputs.
type readLimits struct {
	maxClass, maxNested byteSize
	flat                bool // record opens nested archives by itself
}

func (r *readLimits) rows() []option {
	r.maxClass, r.maxNested = input.DefaultMaxClass, input.DefaultMaxNested
	return []option{
		{name: "max-class-size", flag: custom(&r.maxClass), commands: classWork | byStrip | byVerify,
			withSlice: sliceAgrees,
			help:      "copy entries named .class that are larger, and do not read them"},
		{name: "max-nested-size", flag: custom(&r.maxNested), commands: classWork | byStrip | byVerify,
			withSlice: sliceAgrees,
			help:      "copy archives in archives that are larger, uncompressed, and do not work on the classes in them"},
	}
}

func (r *readLimits) options() pipeline.Reading {
	return pipeline.Reading{MaxClass: int64(r.maxClass), MaxNested: int64(r.maxNested), Flat: r.flat}
}
