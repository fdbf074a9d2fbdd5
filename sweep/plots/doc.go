// Package plots draws what a sweep has measured, as SVG and PNG.
package plots
