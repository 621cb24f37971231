// Members that are stopped half of the time, each in its own rhythm, and once all of them for long: a reachable but slow engine, as
// on an overloaded machine.

import { setTimeout as pass } from 'node:timers/promises'
import type { EtcdCluster } from '@holdfast/testkit'

export interface DutyPlan {
  readonly cycles: number
  /** In each cycle, a member is stopped for this long and then runs for as long. */
  readonly halfMs: number
  /** A stop of all members, after the first half of the cycles. */
  readonly allAtOnceMs: number
}

/** Resolves when the plan is completed and every member runs. */
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
