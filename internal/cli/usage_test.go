package cli

import (
	"errors"
	"strings"
	"testing"
)

// Law: an error of the command line says what is wanted, in words that do not come from a library.
func TestUsageErrors(t *testing.T) {
	elsewhere(t)
	for line, said := range map[string]string{
		"replay":                               "too few arguments: want lockstorm replay STRING|DIR|FILE|LINK",
		"replay a b":                           `unexpected argument "b": want lockstorm replay STRING|DIR|FILE|LINK`,
		"run calm fast":                        `unexpected argument "fast": want lockstorm run SCENARIO`,
		"list calm 2":                          `unexpected argument "2": want lockstorm list [SECTION | SCENARIO]`,
		"check":                                "too few arguments: want lockstorm check ",
		"run calm --seed x":                    `--seed "x": want a whole number from 0 to 2⁶⁴−1`,
		"run calm --seed -1":                   `--seed "-1": want a whole number from 0 to 2⁶⁴−1`,
		"run calm --runs 1.5":                  `--runs "1.5": want a whole number`,
		"run calm --runs 99999999999999999999": `--runs "99999999999999999999": want a whole number up to 2⁶³−1`,
		"run calm --json=maybe":                `--json "maybe": want true or false`,
		"hunt --budget 5":                      `--budget "5": want a duration, such as 1.5s`,
		"explore calm --tick 10":               `--tick "10": want a duration, such as 1.5s`,
		"tune ttl=5":                           `ttl: "5": want a duration, such as 1.5s`,
		"sweep drift --shard x":                `--shard: `,
		"sweep drift --points 0":               `--points: "0": want numbers from 1`,
		"debate --rows calm":                   "unknown flag: --rows: it is an argument: lockstorm debate [ROW…]",
		"run --scenario calm":                  "unknown flag: --scenario: it is an argument: lockstorm run SCENARIO",
		"compare --rnus 3":                     "unknown flag: --rnus: did you mean --runs?",
	} {
		code, out, problems := command(t, strings.Fields(line)...)
		if code != exitBadInput || out != "" || !strings.HasPrefix(problems, "lockstorm: "+said) || strings.Count(problems, "\n") != 1 {
			t.Errorf("%s: exit code %d, printed %q and %q, want %q", line, code, out, problems, said)
		}
		for _, library := range []string{"strconv", "time: ", "arg(s)", "invalid argument"} {
			if strings.Contains(problems, library) {
				t.Errorf("%s: printed %q", line, problems)
			}
		}
	}
}

// Law: no error prints the password of an address, wherever that was given.
func TestErrorsHidePasswords(t *testing.T) {
	elsewhere(t)
	for _, args := range [][]string{
		{"tune", "redis://user:SECRET@h:6379"},
		{"run", "redis://user:SECRET@h:6379"},
		{"check", "redis://user:SECRET@h:6379"},
		{"debate", "redis://user:SECRET@h:6379"},
		{"list", "redis://user:SECRET@h:6379"},
		{"redis://user:SECRET@h:6379"},
	} {
		code, out, problems := command(t, args...)
		if code != exitBadInput || strings.Contains(out+problems, "SECRET") || !strings.Contains(problems, "…@h:6379") {
			t.Errorf("%v: exit code %d, printed %q and %q", args, code, out, problems)
		}
	}
}

// Law: what a terminal obeys is printed as escapes, such as the end of a program's standard error.
func TestErrorsAreShownAndNotObeyed(t *testing.T) {
	var out strings.Builder
	complain(&out, errors.New("a:\n\x1b[2J\x1b]0;title\x07b\r\u202ec\xff…"))
	if want := `lockstorm: a: \x1b[2J\x1b]0;title\ab\r\u202ec\xff…` + "\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
}
