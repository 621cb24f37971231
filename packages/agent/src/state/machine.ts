// The facts about the node's machine that the agent reports: boot id, capacity and engine.

import { readFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { type Capacity, defined, VERSION } from '@holdfast/contract'
import type { EngineVersion } from '../ports/engine.ts'
import type { MachineFacts } from '../ports/session.ts'

const BOOT_ID = '/proc/sys/kernel/random/boot_id'
export const wholeMachine = (): Capacity => ({ cpuMillis: cpus().length * 1000, memoryBytes: totalmem() })

interface ConfiguredFacts {
  readonly labels: { readonly [key: string]: string }
  /** The part of the machine's capacity that the operator offers; absent: all of it. */
  readonly capacity?: Capacity
  readonly peerAddress?: string
}

export function machineFacts(configured: ConfiguredFacts, engine: EngineVersion): MachineFacts {
  const { labels, capacity, peerAddress } = configured
  return {
    bootId: readFileSync(BOOT_ID, 'utf8').trim(),
    version: VERSION,
    labels,
    engine,
    capacity: capacity ?? wholeMachine(),
    ...defined({ peerAddress }),
  }
}
