// The entry point of the single binary, which is the agent, or the fencer if it is called by that name. Only the chosen
// program is evaluated, so that the fencer needs little memory.

import { basename } from 'node:path'
import { argv0 } from 'node:process'

if (basename(argv0).startsWith('holdfast-fencer')) await import('./fencer-main.ts')
else await import('./main.ts')
