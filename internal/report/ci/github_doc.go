// Package github tells a report to whoever reads a run of GitHub Actions: as the summary of
// the step, in Markdown, and as annotations, which are lines of a step's output. GitHub
// leaves out in silence what is beyond its limits; here they are kept to, and what was left
// out is counted.
package ci
