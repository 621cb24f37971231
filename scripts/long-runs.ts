// npm run long: runs parts of the long run, in the background if wanted, and prints them. docs/long-runs.md explains it.

import { spawn } from 'node:child_process'
import { mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { argv, execPath, exit } from 'node:process'
import { PARTS } from './long-runs/parts.ts'
import { isRunning, logOf, readProgress } from './long-runs/progress.ts'
import { readRows, writePage } from './long-runs/rows.ts'
import { runPart } from './long-runs/run-part.ts'
import { partOf, ROOT, stepsOf } from './long-runs/steps.ts'

const USAGE = `npm run long -- list | status | start PART | run PART | page`

function list(): void {
  for (const part of PARTS) {
    console.log(`${part.name}: ${part.about}`)
    for (const { name } of stepsOf(part)) console.log(`  ${name}`)
  }
}

function status(): void {
  const rows = readRows(ROOT)
  for (const part of PARTS) {
    const progress = readProgress(part.name)
    const row = rows.find((each) => each.part === part.name)
    const last = row === undefined ? 'never run' : `last run on ${row.date} at ${row.commit}: ${row.verdict}`
    console.log(`${part.name.padEnd(16)} ${last}`)
    if (progress === undefined) continue
    const state = isRunning(part.name, progress) ? `runs as ${progress.pid}` : 'was interrupted'
    const { done, commit } = progress
    const bad = done.filter(({ isOk }) => !isOk).length
    const total = stepsOf(part).length
    console.log(
      `  ${state} at ${commit.slice(0, 8)}: ${done.length} of ${total} steps, ${bad} failed; ${logOf(part.name)}`,
    )
  }
}

/** Starts a part in a session of its own, so that it survives the terminal. */
function start(name: string): void {
  partOf(name)
  refuseSecond(name)
  const log = logOf(name)
  mkdirSync(dirname(log), { recursive: true })
  const output = openSync(log, 'a')
  const words = [import.meta.filename, 'run', name]
  const child = spawn(execPath, words, { cwd: ROOT, detached: true, stdio: ['ignore', output, output] })
  child.unref()
  console.log(`${name} runs as process ${child.pid}; its output is in ${log}`)
}

function refuseSecond(name: string): void {
  const progress = readProgress(name)
  if (progress?.pid !== process.pid && isRunning(name, progress))
    throw new Error(`${name} already runs as process ${progress?.pid}`)
}

const [verb = '', name = ''] = argv.slice(2)
if (verb === 'list') list()
else if (verb === 'status') status()
else if (verb === 'start') start(name)
else if (verb === 'page') writePage(ROOT)
else if (verb === 'run') {
  const part = partOf(name)
  refuseSecond(name)
  exit(runPart(part) ? 0 : 1)
} else {
  console.error(`usage: ${USAGE}`)
  exit(2)
}
