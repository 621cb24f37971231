// What the agent says of its machine: its boot, its capacity, its engine.

import { readFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import type { Capacity } from '@holdfast/contract'
import type { EngineVersion } from '../ports/engine.ts'
import type { MachineFacts } from '../ports/session.ts'

const BOOT_ID = '/proc/sys/kernel/random/boot_id'
const VERSION = '0.1.0'

export const wholeMachine = (): Capacity => ({ cpuMillis: cpus().length * 1000, memoryBytes: totalmem() })

interface Told {
  readonly labels: { readonly [key: string]: string }
  readonly capacity?: Capacity
  readonly peerAddress?: string
}

/** `capacity`: what the operator offers of the machine, where that is not all of it. */
export function machineFacts(told: Told, engine: EngineVersion): MachineFacts {
  const { labels, capacity, peerAddress } = told
  return {
    bootId: readFileSync(BOOT_ID, 'utf8').trim(),
    version: VERSION,
    labels,
    engine,
    capacity: capacity ?? wholeMachine(),
    ...(peerAddress === undefined ? {} : { peerAddress }),
  }
}
