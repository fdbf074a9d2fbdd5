// Package ci reports a run of continuous integration: suites of checks, the outcome of each, and
// the command that repeats it. A [Report] is written as JUnit XML, as the Markdown summary of a
// GitHub step, and as GitHub annotations.
//
// JUnit has no word for an undecided check. It is written as an error, so that it is never shown
// as a pass. A check that was not run, or had nothing to judge, is skipped with the reason. GitHub
// silently drops what exceeds its limits; here the limits are kept, and what is left out is
// counted.
package ci
