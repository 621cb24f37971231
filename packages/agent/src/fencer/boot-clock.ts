// The clock of leases: CLOCK_BOOTTIME, which also counts while the machine is suspended. Node's own clocks do not. The
// kernel shows it in /proc/uptime, cut off to 10 ms.

import { readFileSync } from 'node:fs'
import type { BootTime } from '@holdfast/core/promotion/fencer-groups'

const BOOT_ID = '/proc/sys/kernel/random/boot_id'
const UPTIME = '/proc/uptime'
/** The clock is at most this much ahead of what the kernel shows. */
const CUT_OFF_MS = 10

export const readBootId = (): string => readFileSync(BOOT_ID, 'utf8').trim()

/** Never later than the true time, so a lease that counts from it ends early. */
export const bootClockMs = (): number => Math.round(Number.parseFloat(readFileSync(UPTIME, 'utf8')) * 1000)

/** Never earlier than the true time, so a fence that depends on it is never late. */
export const latestBootClockMs = (): number => bootClockMs() + CUT_OFF_MS

export const bootTime = (): BootTime => ({ boot: readBootId(), ms: latestBootClockMs() })
