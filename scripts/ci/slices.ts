// Prints, as assignments for a shell, what a CI run takes from the kept ledgers: its number, its slice of each rotation, and the
// commit since which changes count (that of the newest ledger without failures, if the clone has it and there is one).

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { chooseSlices, lastRuns } from './choose-slices.ts'
import { readLedgers } from './kept-ledgers.ts'

const ROOT = join(import.meta.dirname, '../..')
/** The last commit that passed CI before ledgers were kept. */
const BEFORE_LEDGERS = 'a066aed2495993b84219359652b8de81f1334f53'

const ledgers = readLedgers(ROOT)
const newest = ledgers.at(-1)
const slices = Object.entries(chooseSlices(lastRuns(newest))).map(([name, slice]) => `${name}=${slice}`)
const green = ledgers.findLast(({ failed }) => failed === 0)?.commit ?? BEFORE_LEDGERS
const isKnown = spawnSync('git', ['merge-base', '--is-ancestor', green, 'HEAD'], { cwd: ROOT }).status === 0

console.log(`CI_RUN=${(newest?.run ?? 0) + 1}`)
console.log(`CI_SLICES='${slices.join(' ')}'`)
console.log(`CI_SINCE=${isKnown ? green : ''}`)
