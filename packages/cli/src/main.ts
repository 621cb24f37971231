#!/usr/bin/env node
// The entry point of the `holdfast` command.

import { argv, env } from 'node:process'
import { run } from './run.ts'
import { createRealTerminal } from './terminal/real-terminal.ts'

const words = argv.slice(2)
const terminal = createRealTerminal({ env, color: !words.includes('--no-color') })
// `process.exit` would cut off output that is still being written to a pipe.
process.exitCode = await run(words, env, terminal)
