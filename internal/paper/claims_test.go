package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/testkit"
)

const root = "../.."

func claims(t *testing.T) []Claim {
	t.Helper()
	list, err := loadClaims(root)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Law: what a claim quotes stands on the page literally, with its figure.
func TestPagesSayWhatClaimsQuote(t *testing.T) {
	for _, c := range claims(t) {
		for _, q := range c.Says {
			page, err := os.ReadFile(filepath.Join(root, q.In))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(page), q.Text) {
				t.Errorf("claim %s: %s does not say %q; bring page and %s together", c.Name, q.In, q.Text, claimsFile)
			}
		}
	}
}

// Law: every page of evidence supports a claim, every claim has a page, and what a check compares with
// exists.
func TestClaimsAreComplete(t *testing.T) {
	claimed := []string{"README.md", "paper.md"} // of the claims themselves
	for _, c := range claims(t) {
		claimed = append(claimed, c.Evidence)
		exists(t, c.Name, filepath.Join("docs/evidence", c.Evidence))
		for _, check := range c.Again {
			exists(t, c.Name, check.Reference)
			exists(t, c.Name, check.Sweep)
			if check.Table != nil {
				exists(t, c.Name, check.Table.In)
			}
		}
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs/evidence/*.md"))
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages (%v)", len(pages), err)
	}
	for _, p := range pages {
		if !slices.Contains(claimed, filepath.Base(p)) {
			t.Errorf("no claim in %s has the page %s", claimsFile, filepath.Base(p))
		}
	}
	stored, err := filepath.Glob(filepath.Join(root, "results/reference/*/outcomes.jsonl"))
	if err != nil || len(stored) == 0 {
		t.Fatalf("%d sweeps (%v)", len(stored), err)
	}
	for _, s := range stored {
		dir := "results/reference/" + filepath.Base(filepath.Dir(s))
		if !slices.ContainsFunc(claims(t), func(c Claim) bool {
			return slices.ContainsFunc(c.Again, func(k Check) bool { return k.Sweep == dir })
		}) {
			t.Errorf("no claim recomputes %s", dir)
		}
	}
}

func exists(t *testing.T, claim, name string) {
	t.Helper()
	if name == "" {
		return
	}
	if _, err := os.Stat(filepath.Join(root, name)); err != nil {
		t.Errorf("claim %s: %v", claim, err)
	}
}

// The table of docs/evidence/README.md is made from the claims, and from what paper.md says was run.
func TestEvidenceTableIsCurrent(t *testing.T) {
	const begin, end = "<!-- claims -->\n", "<!-- /claims -->"
	path := filepath.Join(root, "docs/evidence/README.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(page), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s lacks %q or %q", path, begin, end)
	}
	testkit.GoldenFile(t, path, before+begin+evidenceTable(claims(t), committedPage(t))+end+after, "The table does not say what "+claimsFile+" and paper.md say.")
}

func TestInvalidClaims(t *testing.T) {
	valid := "name: a\n  claim: b\n  evidence: debate.md\n  made: by hand\n  says: [{in: README.md, text: '1'}]\n"
	for text, want := range map[string]string{
		"- " + valid + "  unknown: 1\n": "field unknown not found",
		"- " + valid:                    "want a command",
		"- " + valid + "  without: because\n- " + valid + "  without: because\n": "occurs twice",
		"- " + valid + "  again: [{command: x}]\n":                               "check 1: want one of",
		"- " + valid + "  again: [{command: x, passes: true, sweep: y}]\n":       "check 1: want one of",
		"- " + valid + "  again: [{command: x, table: {in: y}}]\n":               "columns to compare",
		"- name: ../a\n": "invalid name",
		"- name: a\n":    "want claim, evidence and made",
	} {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "docs/evidence"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, claimsFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := loadClaims(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
}
