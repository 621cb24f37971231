#!/usr/bin/env node
// holdfast-simulate FILE [--seed NUMBER]: runs a script of changes through the real controllers in virtual time.

import { readArguments, USAGE } from './command-line.ts'
import { simulate } from './script/simulate-command.ts'

async function main(words: readonly string[]): Promise<number> {
  const line = readArguments(words)
  if (line === 'help') {
    process.stdout.write(USAGE)
    return 0
  }
  if (typeof line === 'string') {
    process.stderr.write(`${line} Usage: holdfast-simulate --help\n`)
    return 2
  }
  const { exitCode, text } = await simulate(line)
  const stream = exitCode === 2 ? process.stderr : process.stdout
  stream.write(text)
  return exitCode
}

process.exitCode = await main(process.argv.slice(2))
