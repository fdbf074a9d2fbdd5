// Package plots draws what a sweep has measured, as SVG and PNG: [Curves] with their
// intervals and formulas, a [HeatMap] over two parameters, the Pareto [Front] of settings
// to choose from. [Save] writes a picture; [Of] says which pictures the results of a sweep
// give.
//
// A chart is numbers and words, and knows nothing of sweeps, runs, or their files. The
// same chart is the same bytes every time. Colours are told apart by the colour-blind
// (Okabe and Ito for curves, which differ in marker and dashes too; viridis for maps), and
// nothing that is said of the data stands on top of them.
//
// What cannot be drawn truly is refused: a value that is no number, a zero on a logarithmic
// axis, an interval that does not hold its point, a letter that the font lacks, a legend
// that leaves no room.
package plots
