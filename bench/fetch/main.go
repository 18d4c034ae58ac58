// Fetch downloads the corpora of bench/corpora.tsv and prints, for each, its name, the file, and the files it depends
// on, tab-separated.
//
//	go run ./bench/fetch            the small set
//	go run ./bench/fetch -full      the full one
//	go run ./bench/fetch NAME...    some rows
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/tracegen/tracegen/internal/oracle/corpus"
)

func main() {
	full := flag.Bool("full", false, "fetch the full corpus")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := fetch(ctx, *full, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "fetch:", err)
		os.Exit(1)
	}
}

func fetch(ctx context.Context, full bool, names []string) error {
	c, err := corpus.Load()
	if err != nil {
		return err
	}
	if len(names) == 0 {
		names = c.Names(full)
	}
	jars, err := c.Fetch(ctx, names...)
	if err != nil {
		return err
	}
	for _, j := range jars {
		fmt.Println(strings.Join(append([]string{j.Name, j.Path}, j.DepPaths...), "\t"))
	}
	return nil
}
