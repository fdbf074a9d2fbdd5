package campaign

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// reply is a line of a process that makes shards. A result's bytes follow it.
type reply struct {
	Size  int    `json:"size"`
	Find  string `json:"find,omitempty"`
	Error string `json:"error,omitempty"`
}

// Serve makes shards for the process that has started this one with [StartProcess]: it reads a spec and
// then the numbers of shards, one line each, and writes a line and the result of each. It returns when
// there is nothing more to read, even if a shard is being made.
func Serve(ctx context.Context, in io.Reader, out io.Writer, open func(context.Context, Spec) (Job, error)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	lines := make(chan string)
	ended := make(chan error, 1)
	go func() { ended <- readLines(ctx, in, lines) }()
	var job Job
	for {
		var line string
		select {
		case err := <-ended:
			return err
		case line = <-lines:
		}
		made := make(chan error, 1)
		go func() {
			var r Result
			var err error
			if job == nil {
				job, err = openJob(ctx, line, open)
			} else {
				r, err = runLine(ctx, job, line)
			}
			made <- writeReply(out, r, err)
		}()
		select {
		case err := <-ended: // nobody waits for the shard
			return err
		case err := <-made:
			if err != nil {
				return err
			}
		}
	}
}

// readLines passes on lines until there are no more.
func readLines(ctx context.Context, in io.Reader, lines chan<- string) error {
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, maxSpec+1024)
	for scanner.Scan() {
		select {
		case lines <- scanner.Text():
		case <-ctx.Done():
			return nil
		}
	}
	return scanner.Err()
}

func openJob(ctx context.Context, line string, open func(context.Context, Spec) (Job, error)) (Job, error) {
	var s Spec
	if err := json.Unmarshal([]byte(line), &s); err != nil {
		return nil, err
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	job, err := open(ctx, s)
	if err != nil {
		return nil, err
	}
	if job.Sum() != s.Sum || job.Shards() != s.Shards {
		return nil, errors.New("the same command does something else here than where the campaign was started")
	}
	return job, nil
}

func runLine(ctx context.Context, job Job, line string) (Result, error) {
	shard, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || shard < 0 || shard >= job.Shards() {
		return Result{}, fmt.Errorf("shard %q: want 0 to %d", line, job.Shards()-1)
	}
	return job.Run(ctx, shard)
}

func writeReply(out io.Writer, r Result, err error) error {
	head := reply{Size: len(r.Data), Find: r.Find}
	if err != nil {
		head, r = reply{Error: clip(err.Error(), 1000)}, Result{}
	}
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	_, err = out.Write(append(append(text, '\n'), r.Data...))
	return err
}
