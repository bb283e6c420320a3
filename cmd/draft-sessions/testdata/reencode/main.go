// Command reencode is the baseline of "draft-sessions list --json": it strictly
// parses a draft file and encodes it again.
package main

import (
	"fmt"
	"os"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	doc, err := shared.DecodeDocument(data)
	if err != nil {
		return err
	}
	if data, err = shared.EncodeDocument(doc); err != nil {
		return err
	}
	_, err = os.Stdout.Write(data)
	return err
}
