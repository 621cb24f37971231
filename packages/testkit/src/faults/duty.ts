// Members that stand still half of the time, each in its own rhythm, and once all of them for long: an engine that is there
// and slow, as on a machine that is choked.

import { setTimeout as pass } from 'node:timers/promises'
import type { EtcdCluster } from '@holdfast/testkit'

export interface DutyPlan {
  readonly cycles: number
  /** So long it stands still, and then runs, in each cycle. */
  readonly halfMs: number
  /** Between the first half of the cycles and the second. */
  readonly allAtOnceMs: number
}

/** Resolves when the plan is through; every member runs then. */
export async function slowDown({ members }: EtcdCluster, plan: DutyPlan): Promise<void> {
  const { cycles, halfMs, allAtOnceMs } = plan
  const half = () =>
    Promise.all(
      members.map(async (member, index) => {
        await pass((index * halfMs) / members.length)
        for (let cycle = 0; cycle < cycles / 2; cycle += 1) {
          member.pause()
          await pass(halfMs)
          member.resume()
          await pass(halfMs)
        }
      }),
    )
  try {
    await half()
    for (const member of members) member.pause()
    await pass(allAtOnceMs)
    for (const member of members) member.resume()
    await half()
  } finally {
    for (const member of members) member.resume()
  }
}
