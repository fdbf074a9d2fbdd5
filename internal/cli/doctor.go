package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/internal/doctor"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

func newDoctor() *cobra.Command {
	var format string
	var budget time.Duration
	var o doctor.Options
	cmd := &cobra.Command{
		Use:   "doctor ADDRESS…",
		Short: "Say which of Redlock's assumptions your Redis servers break",
		Long: `Read what Redis servers are, and say which assumptions of Redlock they break: eviction,
persistence, replicas and automatic failover, one server behind two addresses, servers on
one host, wall clocks that are apart, round-trip times, uptime, the commands of a lock and
the user's rights.
Each finding names the setting that was read, a scenario that shows what can happen, and
what helps.

An ADDRESS is HOST:PORT, redis://USER:PASSWORD@HOST:PORT/DB or rediss://… for TLS. The
password of an address without one is that in the variable ` + doctor.PasswordEnv + `. With TLS,
?ca=FILE names the certificate authorities (PEM; default: the system's, or those of
SSL_CERT_FILE), ?cert=FILE&key=FILE a client's certificate and key.

Only commands that change nothing are sent. What a server does not let its user read is
listed as not read. --write also tries SET NX PX, GET and a release on a key with a random
name, which lives for 10 s at most. "lockstorm tune" reads the output of --format json.

A broken assumption is a contradiction (exit code 1). If something could not be read, the
rest is undecided.`,
		Example: `  lockstorm doctor r1:6379 r2:6379 r3:6379
  lockstorm doctor 'rediss://admin:secret@r1:6379?ca=ca.pem' r2:6379 --write
  lockstorm doctor r1:6379 r2:6379 r3:6379 --format json >servers.json
  lockstorm tune servers.json service.yaml`,
		Args: takes(1, anyNumber),
	}
	formatFlag(cmd, &format, []string{asText, asJSON, asMarkdown}, "")
	cmd.Flags().BoolVar(&o.Write, "write", false, "also try a lock's commands on a key of its own, with a TTL")
	cmd.Flags().DurationVar(&budget, "budget", 10*time.Second, "time limit; servers that have not replied by then are not read")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx, cancel := context.WithTimeout(cmd.Context(), budget)
		defer cancel()
		r, err := doctor.Examine(ctx, args, o)
		switch {
		case cmd.Context().Err() != nil:
			return cmd.Context().Err()
		case err != nil:
			return err
		}
		out := cmd.OutOrStdout()
		if format == asJSON {
			if err := writeJSON(out, r); err != nil {
				return err
			}
		} else {
			printDoctor(out, r, format == asMarkdown)
		}
		switch r.Verdict {
		case doctor.Broken:
			return verdictError(exitContradiction)
		case doctor.Unread:
			return verdictError(exitUndecided)
		}
		return nil
	}
	return cmd
}

// severityTitles are the titles of the sections.
var severityTitles = map[doctor.Severity]string{
	doctor.Broken: "Breaks an assumption", doctor.Unread: "Not read", doctor.Note: "Worth knowing", doctor.Fine: "Fine",
}

// doctorVerdict is the first line.
func doctorVerdict(r doctor.Report) string {
	count := map[doctor.Severity]int{}
	for _, f := range r.Findings {
		count[f.Severity]++
	}
	text := "No assumption of Redlock is broken"
	switch n := count[doctor.Broken]; {
	case n == 1:
		text = "1 finding breaks an assumption of Redlock"
	case n > 1:
		text = fmt.Sprintf("%d findings break assumptions of Redlock", n)
	}
	if n := count[doctor.Unread]; n > 0 {
		text += fmt.Sprintf("; %d not read", n)
	}
	return text + "."
}

// printDoctor prints a report for a person.
func printDoctor(out io.Writer, r doctor.Report, markdown bool) {
	terminal.Fit(out)
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format, args...) }
	heading, bullet, indent := "%s\n\n", "  %s: %s\n", "    "
	if markdown {
		heading, bullet, indent = "## %s\n\n", "- **%s**: %s\n", "  - "
	}
	p("%s\n\n", doctorVerdict(r))
	t := serverTable(r)
	if markdown {
		t.Markdown(out)
	} else {
		printTable(out, t)
	}
	for _, severity := range doctor.Severities {
		title := severityTitles[severity]
		for _, f := range r.Findings {
			if f.Severity != severity {
				continue
			}
			if title != "" {
				p("\n"+heading, title)
				title = ""
			}
			p(bullet, f.Check, strings.Join(f.Servers, ", "))
			if f.Severity == doctor.Fine {
				p("%s%s\n", indent, cmp.Or(f.Setting, f.Text))
				continue
			}
			lines := []string{f.Setting, f.Text}
			if f.Assumption != "" {
				lines = append(lines, "Assumption: "+f.Assumption.Text(), "Shown by: lockstorm run "+f.Row)
			}
			if f.Help != "" {
				lines = append(lines, "What helps: "+f.Help)
			}
			for _, line := range lines {
				if line != "" {
					p("%s%s\n", indent, strings.Join(textfmt.Lines(line, terminal.On(out).Prose()-len(indent)), "\n    "))
				}
			}
		}
	}
}

// serverTable has a line for each server.
func serverTable(r doctor.Report) *textfmt.Table {
	t := &textfmt.Table{Head: []string{"SERVER", "VERSION", "ROLE", "UPTIME", "RTT P50", "P99", "CLOCK"}}
	for _, s := range r.Servers {
		p50, p99, clock, uptime := "", "", "", ""
		if s.RoundTrip != nil {
			p50, p99 = textfmt.Duration(time.Duration(s.RoundTrip.Median)), textfmt.Duration(time.Duration(s.RoundTrip.P99))
		}
		if s.Clock != nil {
			clock = fmt.Sprintf("%+.1f ± %.1f ms", float64(s.Clock.Ahead)/1e6, float64(s.Clock.Error)/1e6)
		}
		if s.Version != "" {
			uptime = time.Duration(s.Uptime).String()
		}
		t.Add(s.Address, textfmt.Dash(s.Version), textfmt.Dash(s.Role), textfmt.Dash(uptime), textfmt.Dash(p50), textfmt.Dash(p99), textfmt.Dash(clock))
	}
	return t
}
