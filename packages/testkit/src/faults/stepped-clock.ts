// Loaded into an agent or a fencer of a lab before its program: adds the number of milliseconds in a file to the wall clock.
// All machines of a lab share the kernel's clock, so a step of one machine's clock is made inside its processes.

import { readFileSync } from 'node:fs'
import { env } from 'node:process'

const READ_MS = 20
const file = env.STEPPED_CLOCK_FILE ?? ''
const System = Date
const systemNow = System.now

function readOffset(): number {
  try {
    return Number(readFileSync(file, 'utf8'))
  } catch {
    return 0
  }
}

let offset = readOffset()
setInterval(() => {
  offset = readOffset()
}, READ_MS).unref()

const now = (): number => systemNow() + offset
System.now = now
globalThis.Date = new Proxy(System, {
  construct: (target, args) => (args.length === 0 ? new target(now()) : Reflect.construct(target, args)),
})
