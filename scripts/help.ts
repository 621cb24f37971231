// `npm run help`: prints what each npm script does, in one line.

import { stdout } from 'node:process'
import { COMMANDS } from './help/commands.ts'

const width = Math.max(...COMMANDS.flatMap(({ scripts }) => scripts.map(({ name }) => name.length)))
for (const { title, scripts } of COMMANDS) {
  stdout.write(`\n${title}\n`)
  for (const { name, what } of scripts) stdout.write(`  npm run ${name.padEnd(width)}  ${what}\n`)
}
