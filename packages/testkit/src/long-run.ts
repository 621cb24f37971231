// The switch between CI and `npm run long`, which raises counts and durations.

import { env } from 'node:process'

export const LONG = env['HOLDFAST_LONG'] === '1'

/** The count or duration of this run. */
export const inRun = (short: number, long: number): number => (LONG ? long : short)
