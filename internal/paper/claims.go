package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// claimsFile lists the claims, relative to the root of the project.
const claimsFile = "docs/evidence/claims.yaml"

// Claim is something that README.md or a page of docs says, and what supports it.
type Claim struct {
	Name     string `yaml:"name"`     // of its directory
	Claim    string `yaml:"claim"`    // in words
	Evidence string `yaml:"evidence"` // a page of docs/evidence
	Made     string `yaml:"made"`     // how the page is made: a command, or words

	// Says lists figures that the pages show. Each text stands there literally, so that page and
	// claim cannot drift apart.
	Says []Quote `yaml:"says"`

	// Again lists what is recomputed.
	Again []Check `yaml:"again,omitempty"`

	// Without says why something of it is not recomputed; empty: all of it is.
	Without string `yaml:"without,omitempty"`
}

// Quote is a text on a page, relative to the root of the project.
type Quote struct {
	In   string `yaml:"in"`
	Text string `yaml:"text"`
}

// Check is a command and what its result is compared with. Exactly one of the fields below the
// command is set.
type Check struct {
	// Command is a line of the shell, run in the root of the project. DIR in it is a directory
	// of its own, and FILE a file in that directory.
	Command string `yaml:"command"`

	Reference string   `yaml:"reference,omitempty"` // a stored debate or comparison, with the same in DIR
	Sweep     string   `yaml:"sweep,omitempty"`     // the directory of a stored sweep, with the sweep in DIR
	Table     *Table   `yaml:"table,omitempty"`     // a table of a page, with the one in FILE or on standard output
	Prints    []string `yaml:"prints,omitempty"`    // texts that the command prints
	Passes    bool     `yaml:"passes,omitempty"`    // it exits with 0
}

// Table says how two tables with the same head are compared. A row is found by the first cell and
// the cells of Key. A row that only the committed table has is not compared.
type Table struct {
	In  string   `yaml:"in"` // the page
	Key []string `yaml:"key"`

	// Equal lists columns that are the same in both. Share is a column with "K of N", or with K
	// if Of is the column with N.
	Equal []string `yaml:"equal,omitempty"`
	Share string   `yaml:"share,omitempty"`
	Of    string   `yaml:"of,omitempty"`
}

// loadClaims reads and validates the claims of a project.
func loadClaims(root string) ([]Claim, error) {
	text, err := os.ReadFile(filepath.Join(root, claimsFile))
	if err != nil {
		return nil, err
	}
	var claims []Claim
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&claims); err != nil {
		return nil, fmt.Errorf("%s: %w", claimsFile, err)
	}
	seen := map[string]bool{}
	for _, c := range claims {
		err := c.validate()
		if err == nil && seen[c.Name] {
			err = fmt.Errorf("the name occurs twice")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: claim %q: %w", claimsFile, c.Name, err)
		}
		seen[c.Name] = true
	}
	return claims, nil
}

func (c Claim) validate() error {
	switch {
	case c.Name == "" || c.Name != filepath.Base(c.Name) || strings.HasPrefix(c.Name, "."):
		return fmt.Errorf("invalid name")
	case c.Claim == "" || c.Evidence == "" || c.Made == "":
		return fmt.Errorf("want claim, evidence and made")
	case len(c.Says) == 0:
		return fmt.Errorf("want a figure that a page shows")
	case len(c.Again) == 0 && c.Without == "":
		return fmt.Errorf("want a command that recomputes it, or the reason why there is none")
	}
	for i, check := range c.Again {
		if err := check.validate(); err != nil {
			return fmt.Errorf("check %d: %w", i+1, err)
		}
	}
	return nil
}

func (c Check) validate() error {
	n := 0
	for _, set := range []bool{c.Reference != "", c.Sweep != "", c.Table != nil, len(c.Prints) > 0, c.Passes} {
		if set {
			n++
		}
	}
	switch t := c.Table; {
	case c.Command == "":
		return fmt.Errorf("want a command")
	case n != 1:
		return fmt.Errorf("want one of reference, sweep, table, prints and passes")
	case t != nil && len(t.Equal) == 0 && t.Share == "":
		return fmt.Errorf("want columns to compare")
	}
	return nil
}
