// Loaded into the server process with --import: writes the most CPU time that the main thread used between two turns of its
// event loop, in milliseconds, to the file in BENCH_LOOP_DELAY. CPU time, because on a busy machine other processes
// interrupt the thread. Removing the file starts the measurement again.

import { existsSync, writeFileSync } from 'node:fs'

const path = process.env['BENCH_LOOP_DELAY'] ?? ''
const TICK_MS = 1
const WRITE_MS = 100

let most = 0
/** The value in the file, which is written only if it changes: writing takes longer than the blocks that are measured. */
let written = -1
let before = process.threadCpuUsage()
setInterval(() => {
  const { user, system } = process.threadCpuUsage(before)
  before = process.threadCpuUsage()
  most = Math.max(most, (user + system) / 1000)
}, TICK_MS).unref()
setInterval(() => {
  if (path === '') return
  if (!existsSync(path)) [most, written] = [0, -1]
  if (most !== written) writeFileSync(path, String(most))
  written = most
}, WRITE_MS).unref()
