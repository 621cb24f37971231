// The switch between a CI run and the long run (`npm run long`), which has higher counts and durations.

import { env } from 'node:process'

export const LONG = env['HOLDFAST_LONG'] === '1'

/** Chooses the count or duration for the current kind of run: CI or long. */
export const inRun = (short: number, long: number): number => (LONG ? long : short)
