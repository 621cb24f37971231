// The color and the dash of each line of a chart, so that color is never the only difference.

const DASHES: readonly (readonly number[])[] = [[], [6, 4], [2, 3], [8, 3, 2, 3]]

export const colorOf = (at: number): string => `var(--chart-${(at % DASHES.length) + 1})`
export const dashOf = (at: number): readonly number[] => DASHES[at % DASHES.length] ?? []
